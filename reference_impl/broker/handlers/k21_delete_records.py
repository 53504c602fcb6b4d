"""DeleteRecords (key 21): move a partition's log start up (KIP-107, FETCH-23).

Offset -1 means the high watermark; above it is OFFSET_OUT_OF_RANGE, as is anything else negative.
Internal topics are refused, and topics without the delete policy (POLICY_VIOLATION). The answer
waits for live followers once there are any.

v2 is flexible (KIP-482).

Source: KafkaApis.handleDeleteRecordsRequest, ReplicaManager.deleteRecordsOnLocalLog and
Partition.deleteRecordsOnLeader at 1.0.2, 2.2.1, 2.8.2, 3.9; observed on all five releases.
"""

from __future__ import annotations

from typing import Any

from reference_impl.broker.broker import Broker
from reference_impl.broker.effects import Request
from reference_impl.broker.partitions import locate, log_key
from reference_impl.cluster.topology import INTERNAL_TOPICS
from reference_impl.wire.errors import ErrorCode

TO_HIGH_WATERMARK = -1
NO_LOW_WATERMARK = -1


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    return {
        "topics": [
            {
                "name": topic["name"],
                "partitions": [_delete(broker, topic["name"], row) for row in topic["partitions"]],
            }
            for topic in request.body["topics"]
        ]
    }


def fail(request: Request, code: int) -> dict[str, Any]:
    return {
        "topics": [
            {
                "name": topic["name"],
                "partitions": [
                    _row(row["partition_index"], NO_LOW_WATERMARK, code)
                    for row in topic["partitions"]
                ],
            }
            for topic in request.body["topics"]
        ]
    }


def _delete(broker: Broker, topic: str, row: dict[str, Any]) -> dict[str, Any]:
    index, offset = row["partition_index"], row["offset"]
    if broker.cluster.partition(topic, index) is None:
        return _row(index, NO_LOW_WATERMARK, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if topic in INTERNAL_TOPICS:
        return _row(index, NO_LOW_WATERMARK, ErrorCode.INVALID_TOPIC_EXCEPTION)
    located = locate(broker, topic, index)
    if located.partition is None:
        return _row(index, NO_LOW_WATERMARK, located.error)
    if not broker.cluster.config_of(topic).delete:
        return _row(index, NO_LOW_WATERMARK, ErrorCode.POLICY_VIOLATION)
    log = located.partition.log
    wanted = log.high_watermark if offset == TO_HIGH_WATERMARK else offset
    if wanted < 0 or wanted > log.high_watermark:
        return _row(index, NO_LOW_WATERMARK, ErrorCode.OFFSET_OUT_OF_RANGE)
    low = log.delete_to(wanted)
    broker.purgatory.touch(log_key(topic, index))
    return _row(index, low, ErrorCode.NONE)


def _row(index: int, low_watermark: int, code: int) -> dict[str, Any]:
    return {"partition_index": index, "low_watermark": low_watermark, "error_code": code}
