"""The requests that several machines say, in the fields of all their versions."""

from __future__ import annotations

from typing import Any

from touchstone.fuzz.generator import TOPICS
from touchstone.fuzz.machines.machine import Act, Batch, Var
from touchstone.reference_impl.wire.embedded.consumer_protocol import encode_subscription
from touchstone.reference_impl.wire.errors import ErrorCode as E

TOPIC = TOPICS[0]
"""Of machines whose scripts do not disturb each other on one partition."""
NO_TOPIC_ID = bytes(16)
PRODUCED = "responses[0].partition_responses[0].base_offset"
LATEST, READ_UNCOMMITTED, READ_COMMITTED = -1, 0, 1
UNKNOWN_MEMBER = "touchstone-unknown"
LONG_MS = 60_000
"""Of sessions and rebalances: longer than any script, so that no member is silent for too long."""
TOPIC_NOT_READY = (
    E.UNKNOWN_TOPIC_OR_PARTITION, E.LEADER_NOT_AVAILABLE, E.NOT_LEADER_OR_FOLLOWER,
    E.UNKNOWN_TOPIC_ID,
)  # fmt: skip
"""What is answered about a topic that is being made."""
NOT_READY = (
    E.COORDINATOR_NOT_AVAILABLE,
    E.NOT_COORDINATOR,
    E.COORDINATOR_LOAD_IN_PROGRESS,
)
"""What is answered before the coordinator has its log."""
SUBSCRIPTION = encode_subscription(0, {"topics": [TOPIC], "user_data": None})


def create(topic: Any) -> Act:
    row = {
        "name": topic, "num_partitions": 1, "replication_factor": 1, "assignments": [],
        "configs": [],
    }  # fmt: skip
    body = {"topics": [row], "timeout_ms": 1000, "validate_only": False}
    return Act(19, (0, 7), body, again=(E.REQUEST_TIMED_OUT,))


def look_up(topic: Any) -> Act:
    """Metadata of a topic, which has its id where the version has one."""
    rows = [{"topic_id": NO_TOPIC_ID, "name": topic}]
    body = {"topics": rows, "allow_auto_topic_creation": False}
    brings = {"topic id": "topics[0].topic_id"}
    return Act(3, (4, 13), body, brings=brings, again=TOPIC_NOT_READY)


def look_up_end(topic: Any) -> Act:
    """ListOffsets of the end of the log, bound as `end`."""
    return list_offsets(topic, READ_UNCOMMITTED, brings={"end": "topics[0].partitions[0].offset"})


def list_offsets(topic: Any, isolation: int, **how: Any) -> Act:
    row = {"partition_index": 0, "current_leader_epoch": -1, "timestamp": LATEST}
    body = {
        "replica_id": -1,
        "isolation_level": isolation,
        "topics": [{"name": topic, "partitions": [row]}],
        "timeout_ms": 1000,
    }
    return Act(2, (2, 11), body, again=TOPIC_NOT_READY, **how)


def produce(
    topic: Any, batch: Batch, versions: tuple[int, int] = (3, 13), *, transaction: Any = None,
    **how: Any,
) -> Act:  # fmt: skip
    rows = [{"index": 0, "records": batch}]
    data = [{"topic_id": Var("topic id"), "name": topic, "partition_data": rows}]
    body = {
        "transactional_id": transaction,
        "acks": -1,
        "timeout_ms": 1000,
        "topic_data": data,
    }
    return Act(0, versions, body, **how)


def init_producer_id(
    transaction: Any = None, versions: tuple[int, int] = (0, 5), **how: Any
) -> Act:
    body = {
        "transactional_id": transaction,
        "transaction_timeout_ms": LONG_MS,
        "producer_id": -1,
        "producer_epoch": -1,
    }
    brings = {"producer": "producer_id", "epoch": "producer_epoch"}
    again = (*NOT_READY, E.CONCURRENT_TRANSACTIONS)
    return Act(22, versions, body, **{"brings": brings, "again": again} | how)


def find_coordinator(name: Any, kind: int) -> Act:
    return Act(10, (1, 3), {"key": name, "key_type": kind}, again=NOT_READY)
