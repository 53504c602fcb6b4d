"""OffsetForLeaderEpoch: where an epoch ended (KIP-101), for followers and consumers.

v1 tells the epoch the offset belongs to, v2 fences by the asker's epoch (KIP-320), v3 names the
asker: a consumer since KIP-320, or a replica, v4 is flexible.

Source: KafkaApis.handleOffsetForLeaderEpochRequest, Partition.lastOffsetForLeaderEpoch at 1.0.2,
2.2.1, 2.8.2, 3.9; observed on all five releases.
"""

from __future__ import annotations

from typing import Any

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.wire.errors import ErrorCode

UNDEFINED = -1


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    return _rows(request, lambda topic, row: _answer(broker, topic, row))


def fail(request: Request, code: int) -> dict[str, Any]:
    return _rows(request, lambda topic, row: _error(row, code))


def _rows(request: Request, answer: Any) -> dict[str, Any]:
    return {
        "topics": [
            {
                "topic": topic["topic"],
                "partitions": [answer(topic["topic"], row) for row in topic["partitions"]],
            }
            for topic in request.body["topics"]
        ]
    }


def _answer(broker: Broker, topic: str, row: dict[str, Any]) -> dict[str, Any]:
    located = broker.replicas.locate(topic, row["partition"], epoch=row["current_leader_epoch"])
    if located.replica is None:
        return _error(row, located.error)
    log = located.replica.log
    epoch, end = log.end_of_epoch(row["leader_epoch"])
    if "epochs-below-the-start-unknown" in broker.switches and end <= log.log_start_offset:
        epoch = end = UNDEFINED
    return {
        "error_code": ErrorCode.NONE,
        "partition": row["partition"],
        "leader_epoch": epoch,
        "end_offset": end,
    }


def _error(row: dict[str, Any], code: int) -> dict[str, Any]:
    return {
        "error_code": code,
        "partition": row["partition"],
        "leader_epoch": UNDEFINED,
        "end_offset": UNDEFINED,
    }
