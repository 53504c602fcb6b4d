"""Produce (key 0): append to the logs this broker leads.

Each partition stands alone: one that fails does not stop the others (APPEND-01). acks=0 has no
answer, and an error closes the connection so that the client notices (APPEND-21). acks other than
-1, 0, 1 is refused for every partition (APPEND-03). The high watermark follows the log end at once
while leaders have no followers of their own, so acks=-1 is answered at once too.

v0 to v2 carry message sets (magic 0, 1); from v3 exactly one batch of magic 2 per partition
(KIP-98). v7 allows zstd (KIP-110). v8 names refused records (KIP-467). v10 tells the new leader
(KIP-951). v13 knows topics by id only (KIP-516). 4.x lists v0 but serves from v3.

Sources: KafkaApis.handleProduceRequest, ProduceRequest.validateRecords, ReplicaManager
.appendToLocalLog and Partition.appendRecordsToLeader at 1.0.2, 2.2.1, 2.8.2, 3.9; observed on all
five releases.
"""

from __future__ import annotations

from typing import Any

from reference_impl.broker.broker import Broker
from reference_impl.broker.effects import Hangup, NoReply, Request
from reference_impl.broker.partitions import leader_of, locate, log_key, name_of
from reference_impl.cluster.topology import INTERNAL_TOPICS
from reference_impl.log.rules import LogError
from reference_impl.log.validation import codec_of
from reference_impl.wire.errors import ErrorCode
from reference_impl.wire.records import ZSTD, RecordError, entries

ADMIN_CLIENT = "__admin_client"  # the one client id that may write to internal topics
ACKS = (-1, 0, 1)
TRANSACTIONAL = 0x10

# Errors that Kafka foresees answer without a log start offset; others tell it.
FORESEEN = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.RECORD_LIST_TOO_LARGE,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.KAFKA_STORAGE_ERROR,
    }
)


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any] | NoReply | Hangup:
    body, version = request.body, request.header.version
    if version >= 3 and broker.persona.quirk("produce.shape-errors-close"):
        for topic in body["topic_data"]:
            for partition in topic["partition_data"]:
                if _shape_error(partition["records"], version):
                    return Hangup("records of the wrong shape")
    if _transactional(body) and body["transactional_id"] is None:
        return _everywhere(request, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    responses, failed, endpoints = [], False, {}
    for topic in body["topic_data"]:
        name = name_of(broker, topic, by_id=version >= 13)
        rows = []
        for partition in topic["partition_data"]:
            row = _append(request, broker, name, partition, now)
            failed = failed or row["error_code"] != ErrorCode.NONE
            if row["error_code"] == ErrorCode.NOT_LEADER_OR_FOLLOWER and version >= 10:
                row["current_leader"], node = leader_of(broker, name, partition["index"])
                if node:
                    endpoints[node["node_id"]] = node
            rows.append(row)
        responses.append(
            {"name": topic["name"], "topic_id": topic["topic_id"], "partition_responses": rows}
        )
    if body["acks"] == 0 and "acks-zero-answered" not in broker.switches:
        return Hangup("an error with acks=0") if failed else NoReply()
    return {"responses": responses, "node_endpoints": list(endpoints.values())}


def fail(request: Request, code: int) -> dict[str, Any] | None:
    """Every partition with this error; None closes, which is all acks=0 can hear."""
    answer = _everywhere(request, code)
    return answer if isinstance(answer, dict) else None


def _append(
    request: Request, broker: Broker, name: str | None, partition: dict[str, Any], now: int
) -> dict[str, Any]:
    index, records = partition["index"], partition["records"]
    if name is None:
        return _error(index, ErrorCode.UNKNOWN_TOPIC_ID)
    stored = broker.cluster.partition(name, index)
    if stored is None:
        return _error(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    version = request.header.version
    if version >= 3:
        code = _shape_error(records, version)
        if code:
            return _error(index, broker.persona.quirk("append.invalid-record-code")
                          if code == ErrorCode.INVALID_RECORD else code)
    acks = request.body["acks"]
    if acks not in ACKS:
        return _error(index, ErrorCode.INVALID_REQUIRED_ACKS)
    if name in INTERNAL_TOPICS and request.header.client_id != ADMIN_CLIENT:
        return _error(index, ErrorCode.INVALID_TOPIC_EXCEPTION, log_start=True, stored=stored)
    located = locate(broker, name, index)
    if located.partition is None:
        return _error(index, located.error)
    return _append_here(broker, located.partition, records, acks, now)


def _append_here(
    broker: Broker, partition: Any, records: bytes, acks: int, now: int
) -> dict[str, Any]:
    log = partition.log
    config = broker.cluster.config_of(partition.topic)
    if acks == -1 and len(partition.isr) < config.min_insync_replicas:
        if "min-isr-ignored" not in broker.switches:
            return _error(
                partition.index, ErrorCode.NOT_ENOUGH_REPLICAS, log_start=True, stored=partition
            )
    try:
        result = log.append(records, now=now, leader_epoch=partition.leader_epoch)
    except LogError as refusal:
        return _refused(partition, refusal)
    broker.purgatory.touch(log_key(partition.topic, partition.index))
    offset = result.base_offset
    if "offset-off-by-one" in broker.switches:
        offset += 1
    return {
        "index": partition.index,
        "base_offset": offset,
        "log_append_time_ms": result.log_append_time,
        "log_start_offset": result.log_start_offset,
    }


def _refused(partition: Any, refusal: LogError) -> dict[str, Any]:
    row = _error(
        partition.index, refusal.code, log_start=refusal.code not in FORESEEN, stored=partition
    )
    if refusal.told:
        row["error_message"] = refusal.message
        row["record_errors"] = [
            {"batch_index": fault.index, "batch_index_error_message": fault.message}
            for fault in refusal.record_errors
        ]
    return row


def _error(
    index: int, code: int, *, log_start: bool = False, stored: Any = None
) -> dict[str, Any]:
    start = stored.log.log_start_offset if log_start and stored is not None else -1
    return {
        "index": index,
        "error_code": code,
        "base_offset": -1,
        "log_append_time_ms": -1,
        "log_start_offset": start,
    }


def _shape_error(records: bytes | None, version: int) -> int:
    """What is wrong with the records of a v3+ request before any log is asked."""
    if records is None:
        return ErrorCode.NONE  # the append itself trips over it
    try:
        found = list(entries(records))
    except RecordError:
        return ErrorCode.CORRUPT_MESSAGE
    if not found or found[0][2] != 2:
        return ErrorCode.INVALID_RECORD
    if version < 7 and codec_of(records, 0, 2) == ZSTD:
        return ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    return ErrorCode.INVALID_RECORD if len(found) > 1 else ErrorCode.NONE


def _transactional(body: dict[str, Any]) -> bool:
    """Whether any batch claims to belong to a transaction."""
    for topic in body["topic_data"]:
        for partition in topic["partition_data"]:
            records = partition["records"]
            if records and len(records) > 22 and records[16] == 2 and records[22] & TRANSACTIONAL:
                return True
    return False


def _everywhere(request: Request, code: int) -> dict[str, Any] | Hangup:
    if request.body["acks"] == 0:
        return Hangup("an error with acks=0")
    return {
        "responses": [
            {
                "name": topic["name"],
                "topic_id": topic["topic_id"],
                "partition_responses": [
                    _error(partition["index"], code) for partition in topic["partition_data"]
                ],
            }
            for topic in request.body["topic_data"]
        ]
    }
