"""StreamsGroupHeartbeat: checks that come before any look at the group.

What KIP-1071 describes and 4.3.1 does not support yet is refused.

Sources: KIP-1071; GroupCoordinatorService, KafkaApis.handleStreamsGroupHeartbeat@4.3.1; observed
there.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.suites.kit.groups import coordinated
from touchstone.suites.kit.streams_groups import (
    CODE,
    HEARTBEATS,
    WORDS,
    beat,
    internal,
    is_,
    join,
    owning,
    reading,
    subtopology,
    topology,
)


@claim("rebalance.streams-heartbeats-are-checked-first", **HEARTBEATS)
def test_streams_heartbeats_are_checked_first(case):
    """StreamsGroupHeartbeat with an empty id, an unknown epoch, an incomplete join, or only some
    kinds of tasks answers INVALID_REQUEST.
    """
    only_active = owning() | {"standby_tasks": None, "warmup_tasks": None}
    wrong = {
        "no group": {"group_id": ""},
        "no member": {"member_id": ""},
        "no rack": {"rack_id": ""},
        "no timeout": {"rebalance_timeout_ms": -1},
        "no topology": {"topology": None},
        "owns a task already": owning({"0": [0]}),
        "one kind of tasks": only_active,
    }
    joins = [
        join(case.group(), "m1", reading("t"), name=name, version=case.version, **changes)
        for name, changes in wrong.items()
    ]
    beats = [
        beat(case.group(), "m1", -3, name="odd epoch", version=case.version),
        beat(
            case.group(), "m1", 1, name="late topology", version=case.version, topology=reading("t")
        ),
    ]
    names = [*wrong, "odd epoch", "late topology"]
    return case.scenario(
        *joins, *beats, expect=all_of(*[is_(name, E.INVALID_REQUEST) for name in names])
    )


@claim("rebalance.streams-groups-refuse-what-is-not-supported-yet", **HEARTBEATS)
def test_streams_groups_refuse_what_is_not_supported_yet(case):
    """StreamsGroupHeartbeat with an instance id, offsets of tasks, warm-up tasks, or a pattern of
    source topics answers INVALID_REQUEST, and its message names what is not supported yet.
    """
    offsets = [{"subtopology_id": "0", "partition": 0, "offset": 1}]
    warmup = owning() | {"warmup_tasks": [{"subtopology_id": "0", "partitions": [0]}]}
    pattern = subtopology("0", "t") | {"source_topic_regex": ["t.*"]}
    wrong = {
        "instance": ({"instance_id": "i"}, "Static membership is not yet supported."),
        "offsets": ({"task_offsets": offsets}, "TaskOffsets are not supported yet."),
        "ends": ({"task_end_offsets": offsets}, "TaskEndOffsets are not supported yet."),
        "warm-up": (warmup, "WarmupTasks are not supported yet."),
        "pattern": (
            {"topology": topology(pattern)},
            "Regular expressions for source topics are not supported yet.",
        ),
    }
    return case.scenario(
        *[
            join(case.group(), "m1", reading("t"), name=name, version=case.version, **changes)
            for name, (changes, _) in wrong.items()
        ],
        expect=all_of(
            *[is_(name, E.INVALID_REQUEST) for name in wrong],
            *[answer(name, WORDS).is_(words) for name, (_, words) in wrong.items()],
        ),
    )


@claim("rebalance.topologies-of-impossible-topics-are-refused", **HEARTBEATS)
def test_topologies_of_impossible_topics_are_refused(case):
    """A topology that names an internal topic of the brokers, an invalid topic, or a changelog
    topic with a number of partitions answers STREAMS_INVALID_TOPOLOGY.
    """
    wrong = {
        "internal": subtopology("0", "__consumer_offsets"),
        "invalid": subtopology("0", "t", changelogs=[internal("a b")]),
        "counted": subtopology("0", "t", changelogs=[internal("log", 3)]),
    }
    return case.scenario(
        *[
            join(case.group(), "m1", topology(one), name=name, version=case.version)
            for name, one in wrong.items()
        ],
        expect=all_of(*[is_(name, E.STREAMS_INVALID_TOPOLOGY) for name in wrong]),
    )


@claim("rebalance.streams-groups-need-a-join-first", **HEARTBEATS)
def test_streams_groups_need_a_join_first(case):
    """StreamsGroupHeartbeat of an epoch above 0, or one that leaves, answers GROUP_ID_NOT_FOUND
    where the group does not exist.
    """
    group = case.group()
    return case.scenario(
        *coordinated(group),
        beat(group, "m1", 1, name="goes on", version=case.version),
        beat(group, "m1", -1, name="leaves", version=case.version),
        expect=all_of(
            answer("goes on", CODE).is_(E.GROUP_ID_NOT_FOUND),
            answer("leaves", CODE).is_(E.GROUP_ID_NOT_FOUND),
        ),
    )
