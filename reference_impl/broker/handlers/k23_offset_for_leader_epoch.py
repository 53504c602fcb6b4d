"""OffsetForLeaderEpoch: where an epoch ended (KIP-101), for followers and consumers.

v1 tells the epoch the offset belongs to, v2 fences by the asker's epoch (KIP-320), v3 names the
asker: a consumer since KIP-320, or a replica, v4 is flexible.

Source: KafkaApis.handleOffsetForLeaderEpochRequest, Partition.lastOffsetForLeaderEpoch at 1.0.2,
2.2.1, 2.8.2, 3.9; observed on all five releases.
"""

from __future__ import annotations

from typing import Any

from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.replication.replicas import Replicas
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

UNDEFINED = -1


def handle(request: Request, replicas: Replicas, now: int) -> Struct:
    return _rows(request, lambda topic, row: _answer(replicas, topic, row))


def fail(request: Request, code: int) -> Struct:
    return _rows(request, lambda topic, row: _error(row, code))


def _rows(request: Request, answer: Any) -> Struct:
    return {
        "topics": [
            {
                "topic": topic["topic"],
                "partitions": [answer(topic["topic"], row) for row in topic["partitions"]],
            }
            for topic in request.body["topics"]
        ]
    }


def _answer(replicas: Replicas, topic: str, row: Struct) -> Struct:
    located = replicas.locate(topic, row["partition"], epoch=row["current_leader_epoch"])
    if located.replica is None:
        return _error(row, located.error)
    log = located.replica.log
    epoch, end = log.end_of_epoch(row["leader_epoch"])
    return {
        "error_code": ErrorCode.NONE,
        "partition": row["partition"],
        "leader_epoch": epoch,
        "end_offset": end,
    }


def _error(row: Struct, code: int) -> Struct:
    return {
        "error_code": code,
        "partition": row["partition"],
        "leader_epoch": UNDEFINED,
        "end_offset": UNDEFINED,
    }
