"""A step that only prepares is asked in a version that is served and means the same."""

from __future__ import annotations

import pytest

from touchstone.harness.model.scenario import Scenario
from touchstone.harness.model.served_versions import MEANS_THE_SAME, asking, nearest
from touchstone.harness.model.steps import create_topic, metadata, topic_ready
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import by_name

BODIES = {
    "CreateTopics": {
        "topics": [
            {
                "name": "t", "num_partitions": 2, "replication_factor": 1,
                "assignments": [{"partition_index": 0, "broker_ids": [1]}],
                "configs": [{"name": "retention.ms", "value": "1"}],
            }
        ],
        "timeout_ms": 1, "validate_only": True,
    },
    "DeleteRecords": {
        "topics": [{"name": "t", "partitions": [{"partition_index": 0, "offset": 1}]}],
        "timeout_ms": 1,
    },
    "DeleteTopics": {"topic_names": ["t"], "timeout_ms": 1},
    "DescribeGroups": {"groups": ["g"]},
    "Fetch": {
        "replica_id": -1, "max_wait_ms": 1, "min_bytes": 1, "max_bytes": 9, "isolation_level": 1,
        "topics": [
            {
                "topic": "t",
                "partitions": [{"partition": 0, "fetch_offset": 1, "partition_max_bytes": 9}],
            }
        ],
    },
    "FindCoordinator": {"key": "g", "key_type": 1},
    "Heartbeat": {"group_id": "g", "generation_id": 1, "member_id": "m"},
    "InitProducerId": {"transactional_id": "x", "transaction_timeout_ms": 1},
    "ListOffsets": {
        "replica_id": -1,
        "topics": [{"name": "t", "partitions": [{"partition_index": 0, "timestamp": -1}]}],
    },
    "Metadata": {"topics": [{"name": "t"}], "allow_auto_topic_creation": False},
    "OffsetFetch": {"group_id": "g", "topics": [{"name": "t", "partition_indexes": [0]}]},
    "Produce": {
        "transactional_id": None, "acks": -1, "timeout_ms": 1,
        "topic_data": [{"name": "t", "partition_data": [{"index": 0, "records": b"abc"}]}],
    },
    "SyncGroup": {
        "group_id": "g", "generation_id": 1, "member_id": "m",
        "assignments": [{"member_id": "m", "assignment": b"x"}],
    },
}  # fmt: skip


def holds(part, whole):
    """Whether everything of `part` stands in `whole`."""
    if isinstance(part, dict):
        return all(name in whole and holds(value, whole[name]) for name, value in part.items())
    if isinstance(part, list):
        return len(part) == len(whole) and all(map(holds, part, whole))
    return bytes(part) == bytes(whole) if isinstance(part, bytes) else part == whole


@pytest.mark.parametrize("api", MEANS_THE_SAME)
def test_a_body_can_be_sent_in_each_of_its_versions(api):
    first, last = MEANS_THE_SAME[api]
    key = by_name(api).key
    for version in range(first, last + 1):
        sent = headers.encode_request(key, version, 1, "c", BODIES[api])
        assert holds(BODIES[api], headers.decode_request(sent).body), version


@pytest.mark.parametrize(
    ("api", "version", "served", "found"),
    [
        ("ListOffsets", 1, (5, 11), 5),
        ("ListOffsets", 1, (11, 11), None),  # beyond those that mean the same
        ("ListOffsets", 1, (0, 0), None),  # only older ones
        ("ListOffsets", 0, (5, 11), None),  # asks with another body
        ("DeleteTopics", 1, (6, 6), None),
        ("JoinGroup", 2, (5, 5), None),  # from 4 on it wants a member id first
    ],
)
def test_the_nearest_version_that_means_the_same(api, version, served, found):
    assert nearest(api, version, served) == found


def test_steps_are_asked_in_the_versions_that_are_named_and_no_others():
    scenario = Scenario((create_topic("t", name="make"), topic_ready("t"), metadata(name="look")))
    wait = scenario.labels[1]
    other = asking(scenario, {"make": 5, wait: 9})
    steps = dict(zip(other.labels, other.steps, strict=True))
    assert [steps["make"].version, steps[wait].ask.version, steps["look"].version] == [5, 9, 4]
    assert other.labels == scenario.labels
    assert asking(scenario, {}) is scenario
