"""Partitions of internal topics are counted as 4.3.1 counts them, or a status says why not."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.group.streams.configured import configure
from touchstone.reference_impl.group.streams.topology import (
    CopartitionGroup,
    InternalTopic,
    Subtopology,
    Topology,
)
from touchstone.reference_impl.tests.group.streams.world import topology
from touchstone.reference_impl.wire.errors import ErrorCode as E

MIDDLE = InternalTopic("re", configs=(("cleanup.policy", "delete"),))


def missing(told: Topology, **existing: int) -> dict[str, int]:
    return {topic.name: topic.partitions for topic in configure(told, existing).missing}


def status(told: Topology, **existing: int) -> tuple[int, str] | None:
    return configure(told, existing).status


def test_a_repartition_topic_is_as_wide_as_what_is_written_into_it():
    told = topology(
        Subtopology("0", ("a", "b"), repartition_sinks=("re",)),
        Subtopology("1", changelogs=(InternalTopic("log"),), repartition_sources=(MIDDLE,)),
    )
    assert missing(told, a=2, b=5) == {"re": 5, "log": 5}
    assert status(told, a=2, b=5) == (3, "Internal topics are missing: re, log")
    assert status(told, a=2, b=5, re=5, log=5) is None
    assert [one.tasks for one in configure(told, {"a": 2, "b": 5}).subtopologies.values()] == [5, 5]


def test_a_number_that_the_application_says_counts():
    told = topology(
        Subtopology("0", ("a",), repartition_sinks=("re",)),
        Subtopology("1", repartition_sources=(MIDDLE._replace(partitions=3),)),
    )
    assert missing(told, a=8) == {"re": 3}
    joined = CopartitionGroup((0,), (), (0,))
    fixed = MIDDLE._replace(partitions=3)
    told = topology(
        Subtopology("0", ("a",), repartition_sinks=("re",)),
        Subtopology("1", ("b",), repartition_sources=(fixed,), copartition_groups=(joined,)),
    )
    words = "Number of partitions [3] of repartition topic [re] doesn't match number of partitions"
    assert status(told, a=8, b=4) == (2, f"{words} [4] of the source topic.")


def test_joined_topics_have_equally_many():
    both = CopartitionGroup((0, 1), (), ())
    told = topology(Subtopology("0", ("a", "b"), copartition_groups=(both,)))
    assert status(told, a=2, b=2) is None
    words = "Following topics do not have the same number of partitions: [{a=2, b=3}]"
    assert status(told, a=2, b=3) == (2, words)
    joined = CopartitionGroup((0,), (), (0,))
    told = topology(
        Subtopology("0", ("a",), repartition_sinks=("re",)),
        Subtopology("1", ("b",), repartition_sources=(MIDDLE,), copartition_groups=(joined,)),
    )
    assert missing(told, a=8, b=3) == {"re": 3}, "what is outside decides"


def test_many_missing_topics_are_counted():
    told = topology(Subtopology("0", ("a", "b", "c", "d", "e")))
    assert status(told, b=1) == (1, "Source topics a, c, d and 1 additional topics are missing.")


@pytest.mark.parametrize(
    ("told", "code"),
    [
        (topology(Subtopology("0", repartition_sources=(MIDDLE,))), E.STREAMS_INVALID_TOPOLOGY),
        (
            topology(
                Subtopology("0", repartition_sources=(MIDDLE,), repartition_sinks=("re",)),
            ),
            E.STREAMS_INVALID_TOPOLOGY,
        ),
        (topology(Subtopology("0")), E.STREAMS_INVALID_TOPOLOGY),
        (
            topology(
                Subtopology("0", ("a",), copartition_groups=(CopartitionGroup((1,), (), ()),))
            ),
            E.UNKNOWN_SERVER_ERROR,
        ),
    ],
    ids=["no sink", "a loop", "no source", "an index that points at nothing"],
)
def test_what_can_never_work_is_refused(told, code):
    with pytest.raises(ApiError) as caught:
        configure(told, {"a": 1})
    assert caught.value.code == code


def test_a_topology_comes_back_from_its_record():
    told = topology(
        Subtopology(
            "1",
            ("a",),
            (),
            (InternalTopic("log", 0, 3, (("k", "v"),)),),
            ("re",),
            (MIDDLE,),
            (CopartitionGroup((0,), (), (0,)),),
        ),
        Subtopology("0", ("b",)),
        epoch=4,
    )
    assert Topology.of(told.row()) == told
    twice = told.row() | {"subtopologies": told.row()["subtopologies"][:1] * 2}
    with pytest.raises(ApiError):
        Topology.of(twice)
