"""DeleteRecords: move a partition's log start up (KIP-107, FETCH-23).

Offset -1 means the high watermark; above it is OFFSET_OUT_OF_RANGE, as is anything else negative.
Internal topics are refused, and topics without the delete policy (POLICY_VIOLATION). The answer
waits until the log start of every live replica followed, which the leader hears from their
fetches; time that runs out is REQUEST_TIMED_OUT, though the records are gone here.

v2 is flexible (KIP-482).

Source: KafkaApis.handleDeleteRecordsRequest, DelayedDeleteRecords, ReplicaManager
.deleteRecordsOnLocalLog and Partition.deleteRecordsOnLeader at 1.0.2, 2.2.1, 2.8.2, 3.9; observed
on all five releases.
"""

from __future__ import annotations

from typing import NamedTuple

from touchstone.reference_impl.broker.configs.config_view import ConfiguredNode
from touchstone.reference_impl.broker.effects import Request, Wait
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.broker.purgatory import Purgatory
from touchstone.reference_impl.broker.replication.partitions import each_once, log_key
from touchstone.reference_impl.broker.replication.replicas import Replicas
from touchstone.reference_impl.cluster.topology import INTERNAL_TOPICS, Cluster
from touchstone.reference_impl.cluster.view import MetadataView
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

TO_HIGH_WATERMARK = -1
NO_LOW_WATERMARK = -1


class _DeleteRecords(NamedTuple):
    """A partition's row of the answer, and where every replica's log is to begin."""

    row: Struct
    topic: str
    offset: int


def handle(
    request: Request,
    replicas: Replicas,
    purgatory: Purgatory,
    metadata: MetadataView,
    cluster: Cluster,
    node: ConfiguredNode,
    persona: Persona,
    now: int,
) -> Struct | Wait:
    topics, left = [], []
    for name, partitions in each_once(request.body):
        rows = []
        config = cluster.config_of(name, broker=node.id)
        undecided = not config.compact and persona.quirk("delete-records.no-policy-will-do")
        may = config.delete or undecided
        for asked in partitions:
            row, offset = _delete(replicas, purgatory, metadata, name, asked, now, may=may)
            rows.append(row)
            if not row["error_code"] and row["low_watermark"] < offset:
                left.append(_DeleteRecords(row, name, offset))
        topics.append({"name": name, "partitions": rows})
    answer = {"topics": topics}
    return _later(request, replicas, answer, left, now) if left else answer


def fail(request: Request, code: int) -> Struct:
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


def _later(
    request: Request,
    replicas: Replicas,
    answer: Struct,
    left: list[_DeleteRecords],
    now: int,
) -> Wait:
    """Wait until all live replicas begin where they should, or time is up."""

    def attempt(at: int) -> Struct | None:
        left[:] = [each for each in left if not _gone_everywhere(replicas, each)]
        return None if left else answer

    def expire(at: int) -> Struct:
        for each in left:
            each.row["error_code"] = ErrorCode.REQUEST_TIMED_OUT
        return answer

    keys = [log_key(each.topic, each.row["partition_index"]) for each in left]
    return Wait(now + request.body["timeout_ms"], keys, attempt, expire)


def _gone_everywhere(replicas: Replicas, deleting: _DeleteRecords) -> bool:
    row, topic, offset = deleting
    replica, error = replicas.locate(topic, row["partition_index"])
    if replica is None:
        row["error_code"], row["low_watermark"] = error, NO_LOW_WATERMARK
        return True
    low = replica.low_watermark()
    if low < offset:
        return False
    row["low_watermark"] = low
    return True


def _delete(
    replicas: Replicas,
    purgatory: Purgatory,
    metadata: MetadataView,
    topic: str,
    asked: Struct,
    now: int,
    *,
    may: bool,
) -> tuple[Struct, int]:
    """(the row as things stand, where all replicas are to begin); `may`: its topic allows it."""
    index, offset = asked["partition_index"], asked["offset"]
    code = _refusal(metadata, topic, index)
    replica, error = replicas.locate(topic, index)
    if code or replica is None:
        return _row(index, NO_LOW_WATERMARK, code or error), 0
    if not may:
        return _row(index, NO_LOW_WATERMARK, ErrorCode.POLICY_VIOLATION), 0
    log = replica.log
    wanted = log.high_watermark if offset == TO_HIGH_WATERMARK else offset
    if wanted < 0 or wanted > log.high_watermark:
        return _row(index, NO_LOW_WATERMARK, ErrorCode.OFFSET_OUT_OF_RANGE), 0
    log.delete_to(wanted, now)
    purgatory.touch(log_key(topic, index))
    return _row(index, replica.low_watermark(), ErrorCode.NONE), wanted


def _refusal(metadata: MetadataView, topic: str, index: int) -> int:
    if metadata.partition(topic, index) is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.INVALID_TOPIC_EXCEPTION if topic in INTERNAL_TOPICS else ErrorCode.NONE


def _row(index: int, low_watermark: int, code: int) -> Struct:
    return {"partition_index": index, "low_watermark": low_watermark, "error_code": code}
