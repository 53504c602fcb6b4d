"""DescribeLogDirs and AlterReplicaLogDirs over logs in memory, as observed on real releases."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.log.memory_logs import DEFAULT_PATH, MemoryLogs
from touchstone.reference_impl.tests.broker.one_broker import OneBroker
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import build

VERSIONS = {"1.0": (0, 0), "2.2": (1, 1), "2.8": (2, 2), "3.9": (4, 2), "4.3": (4, 2)}


def describe(one: OneBroker, release: str, topics: list | None) -> dict:
    answer = one.ask("DescribeLogDirs", VERSIONS[release][0], {"topics": topics})
    assert answer.get("error_code", 0) == 0
    (row,) = answer["results"]
    assert (row["error_code"], row["log_dir"]) == (0, DEFAULT_PATH)
    return {t["name"]: [p["partition_index"] for p in t["partitions"]] for t in row["topics"]}


def alter(one: OneBroker, release: str, path: str, topic: str, *partitions: int) -> list[int]:
    body = {"dirs": [{"path": path, "topics": [{"name": topic, "partitions": list(partitions)}]}]}
    answer = one.ask("AlterReplicaLogDirs", VERSIONS[release][1], body)
    (row,) = answer["results"]
    assert [p["partition_index"] for p in row["partitions"]] == list(partitions)
    return [p["error_code"] for p in row["partitions"]]


@pytest.fixture(params=VERSIONS)
def release(request):
    return request.param


@pytest.fixture
def one(release):
    made = OneBroker(release)
    made.topic("t", 2)
    made.topic("other")
    made.log("t")
    return made


def test_all_of_it_or_what_was_asked_for(one, release):
    assert describe(one, release, None) == {"t": [0, 1], "other": [0]}
    rest = {"other": []} if release == "2.8" else {}
    wanted = [{"topic": "t", "partitions": [1, 7]}, {"topic": "nope", "partitions": [0]}]
    assert describe(one, release, wanted) == {"t": [1]} | rest
    named = {"t": [], "other": []} if release == "2.8" else {}
    assert describe(one, release, []) == named


def test_sizes_are_those_of_the_log(one, release):
    batch = build(2, [b"value"], timestamp=one.now)
    one.store(batch)
    version = VERSIONS[release][0]
    answer = one.ask("DescribeLogDirs", version, {"topics": [{"topic": "t", "partitions": [0]}]})
    (topic,) = [t for t in answer["results"][0]["topics"] if t["partitions"]]
    assert topic["partitions"] == [
        {"partition_index": 0, "partition_size": len(batch), "offset_lag": 0,
         "is_future_key": False}
    ]  # fmt: skip


def test_only_directories_and_replicas_that_are_here(one, release):
    elsewhere = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if release == "1.0":
        elsewhere = ErrorCode.REPLICA_NOT_AVAILABLE
    assert alter(one, release, DEFAULT_PATH, "t", 0, 9) == [0, elsewhere]
    assert alter(one, release, DEFAULT_PATH, "nope", 0) == [elsewhere]
    for path in ("/nope", ""):
        assert alter(one, release, path, "t", 0, 9) == [ErrorCode.LOG_DIR_NOT_FOUND] * 2


@pytest.mark.parametrize(
    ("length", "partition"), [(214, 9), (213, 10), (213, -1), (205, 2**31 - 1)]
)
def test_a_name_too_long_for_a_future_replica_is_refused_from_2_8_on(
    one, release, length, partition
):
    first = ErrorCode.LOG_DIR_NOT_FOUND
    assert alter(one, release, "/no", "x" * (length - 1), partition) == [first]
    later = release not in ("1.0", "2.2")
    told = ErrorCode.INVALID_TOPIC_EXCEPTION if later else first
    assert alter(one, release, "/no", "x" * length, partition) == [told]


def test_a_replica_moves_and_is_found_there(one, release):
    logs = MemoryLogs(one.cluster.config_of, paths=("/a", "/b"))
    for replica in one.brokers[0].replicas:
        replica.log = logs.open(one.cluster.state_of(one.cluster.partition("t", 0)), one.now)
    one.brokers[0].replicas.logs = logs
    assert alter(one, release, "/b", "t", 0) == [0]
    assert [list(each.logs) for each in logs.directories()] == [[], [("t", 0)]]


def test_an_offline_replica_is_no_leader_and_no_mover(one, release):
    one.brokers[0].replicas.directory_failed([("t", 0)])
    assert alter(one, release, DEFAULT_PATH, "t", 0) == [ErrorCode.KAFKA_STORAGE_ERROR]
    one.brokers[0].tick(one.now)
    metadata = one.brokers[0].metadata
    assert metadata.offline(metadata.partition("t", 0)) == [0]
    assert metadata.offline(metadata.partition("t", 1)) == []
