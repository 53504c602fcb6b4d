"""Clients above controller_mutation_rate: who is refused, who is told to wait, who counts.

What is expected was seen on Kafka 2.8.2 and 4.3.1, asked the same in the same order.
"""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.effects import Connection
from touchstone.reference_impl.cluster.client_settings import entity
from touchstone.reference_impl.tests.broker.one_broker import WAITING, OneBroker
from touchstone.reference_impl.wire.errors import ErrorCode

RATE = 1.0  # in a second, so 11 permits in a full bucket
EXCEEDED = ErrorCode.THROTTLING_QUOTA_EXCEEDED
RELEASES = ("2.8", "3.9", "4.3")


def limited(release, *, brokers=1):
    one = OneBroker(release, brokers=brokers)
    who = entity({"client-id": None})
    one.cluster.client_settings.set_quotas(who, {"controller_mutation_rate": RATE})
    return one


def rows_of(answer, key):
    return answer["throttle_time_ms"], [row["error_code"] for row in answer[key]]


def create(one, *sizes, names="abc", version=6, validate_only=False, **how):
    """Topics of so many partitions: (ms to wait, codes)."""
    topics = [
        {"name": name, "num_partitions": size, "replication_factor": 1, "assignments": [],
         "configs": []}
        for name, size in zip(names, sizes, strict=False)
    ]  # fmt: skip
    body = {"topics": topics, "timeout_ms": 1000, "validate_only": validate_only}
    return rows_of(one.ask("CreateTopics", version, body, **how), "topics")


@pytest.mark.parametrize("release", RELEASES)
def test_who_owes_is_refused_and_told_how_long(release):
    one = limited(release)
    assert create(one, 14) == (0, [0])  # the topic that empties the bucket is made
    assert create(one, 1, names="b") == (3000, [EXCEEDED])
    one.now += 2000
    assert create(one, 1, names="b", connection=Connection(2)) == (1000, [EXCEEDED])
    one.now += 1000
    assert create(one, 1, names="b") == (0, [0])


@pytest.mark.parametrize("release", RELEASES)
def test_topics_of_one_request_are_refused_one_by_one(release):
    assert create(limited(release), 12, 1, 1) == (1000, [0, EXCEEDED, EXCEEDED])


@pytest.mark.parametrize("release", RELEASES)
def test_a_version_that_does_not_know_the_error_is_told_to_wait(release):
    one = limited(release)
    assert create(one, 14, version=5) == (3000, [0])
    assert create(one, 1, names="b", version=5, connection=Connection(2)) == (4000, [0])


@pytest.mark.parametrize("release", RELEASES)
def test_who_is_told_to_wait_is_not_read(release):
    one = limited(release)
    create(one, 14, version=5)
    body = {"topics": [], "timeout_ms": 1000, "validate_only": False}
    assert one.ask("CreateTopics", 6, body) == WAITING
    assert one.brokers[0].deadline() == one.now + 3000
    assert one.brokers[0].tick(one.now + 3000)


def test_who_only_asks_takes_permits_from_a_quorum_alone():
    for release, wait in (("2.8", 0), ("3.9", 9000), ("4.3", 9000)):
        one = limited(release)
        assert create(one, 20, validate_only=True) == (0, [0])
        assert create(one, 1, names="b")[0] == wait, release


@pytest.mark.parametrize("release", RELEASES)
def test_growth_takes_what_is_added(release):
    one = limited(release)
    one.topic("t", 5)
    assert grow(one, 19) == (0, [0])
    assert grow(one, 20) == (3000, [EXCEEDED])
    assert len(one.cluster.topics["t"].partitions) == 19
    assert grow(one, 20, version=2, connection=Connection(2)) == (4000, [0])


def grow(one, count, version=3, **how):
    rows = [{"name": "t", "count": count, "assignments": None}]
    body = {"topics": rows, "timeout_ms": 1000, "validate_only": False}
    return rows_of(one.ask("CreatePartitions", version, body, **how), "results")


@pytest.mark.parametrize("release", RELEASES)
def test_deletion_takes_what_goes(release):
    one = limited(release)
    for name, size in (("t", 14), ("u", 1)):
        one.topic(name, size)
    one.brokers[0].tick(one.now)
    assert delete(one, "t") == (0, [0])
    assert delete(one, "u") == (3000, [EXCEEDED])
    assert "u" in one.cluster.topics
    assert delete(one, "u", version=4, connection=Connection(2)) == (4000, [0])


def delete(one, name, version=5, **how):
    body = {"topic_names": [name], "timeout_ms": 1000}
    return rows_of(one.ask("DeleteTopics", version, body, **how), "responses")


def test_metadata_makes_no_topic_of_who_owes_at_a_quorum():
    for release, made in (("2.8", True), ("4.3", False)):
        one = limited(release)
        assert create(one, 12)[1] == [0]
        one.ask("Metadata", 4, {"topics": [{"name": "x"}], "allow_auto_topic_creation": True})
        assert ("x" in one.cluster.topics) is made, release


def test_a_coordinators_topic_is_its_clients_before_kraft():
    for release, wait in (("2.8", 39_000), ("4.3", 0)):
        one = limited(release)
        one.ask("FindCoordinator", 1, {"key": "g", "key_type": 0})
        assert create(one, 1)[0] == wait, release


def test_a_quorums_controller_counts_for_all_brokers():
    one = limited("4.3", brokers=2)
    create(one, 14)
    assert create(one, 1, names="b", broker=1, connection=Connection(2)) == (3000, [EXCEEDED])


def test_before_2_8_nobody_counts():
    one = limited("2.2")
    assert create(one, 14, version=3) == (0, [0])
    assert create(one, 1, names="b", version=3) == (0, [0])
