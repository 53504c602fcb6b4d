"""ListOffsets: offsets by meaning or by time (META-01 to META-05).

Timestamp -1 is the latest offset a reader of this isolation may see, -2 the log start, -3 the
record with the largest timestamp (v7, KIP-734), -4 the earliest local offset (v8, KIP-405), -5 the
latest tiered one (v9, KIP-1005), -6 the earliest not yet tiered (v11, KIP-1023); anything else is
looked up by record time. A leader whose high watermark lies below where its epoch began has no
latest offset to tell (KIP-207). v0 lists segment base offsets instead, newest first, by the time a
segment was written last. A partition asked for twice is INVALID_REQUEST from v1 on. A search by
time reads whole records: of one whose sizes disagree its partition's row says so, as Produce would.

Sources: KafkaApis.handleListOffsetRequest at 1.0.2, 2.2.1, 2.8.2, 3.9; 4.3.1 observed, and records
that cannot be read on 3.9.2 too (2.2.1 and 2.8.2 do not store them).
"""

from __future__ import annotations

from collections import Counter

from touchstone.reference_impl.broker.effects import Hangup, Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.broker.replication.partitions import CONSUMER, DEBUGGING, each_once
from touchstone.reference_impl.broker.replication.replicas import Replicas
from touchstone.reference_impl.cluster.replica import Replica
from touchstone.reference_impl.log.partition_log import HIGH_WATERMARK, LAST_STABLE, LOG_END
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records.errors import RecordError
from touchstone.reference_impl.wire.schema import Struct

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING = range(-1, -7, -1)
SINCE = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING: 11}
ISOLATION_LEVELS = (0, 1)


def handle(request: Request, replicas: Replicas, persona: Persona, now: int) -> Struct | Hangup:
    quirk = persona.quirk
    if request.body["isolation_level"] not in ISOLATION_LEVELS:
        unknown = quirk("list-offsets.unknown-isolation")
        if unknown == "close":
            return Hangup("no such isolation level")
        if unknown == "fail":
            return fail(request, ErrorCode.UNKNOWN_SERVER_ERROR)
    counts: Counter[tuple[str, int]] = Counter()
    topics = []
    for topic in request.body["topics"]:
        counts.update((topic["name"], row["partition_index"]) for row in topic["partitions"])
    if quirk("list-offsets.names-twice-answers-once"):
        named = [(name, rows) for name, rows in each_once(request.body) if rows]
    else:
        named = [(topic["name"], topic["partitions"]) for topic in request.body["topics"]]
    for name, rows in named:
        answers = []
        for row in rows:
            try:
                answer = _answer(request, replicas, persona, name, row, counts, now)
            except RecordError:  # of a compressed batch, which is stored without a look at values
                answer = _error(row, quirk("append.invalid-record-code"))
            answers.append(answer)
        topics.append({"name": name, "partitions": answers})
    return {"topics": topics}


def fail(request: Request, code: int) -> Struct:
    return {
        "topics": [
            {
                "name": topic["name"],
                "partitions": [_error(row, code) for row in topic["partitions"]],
            }
            for topic in request.body["topics"]
        ]
    }


def _answer(
    request: Request,
    replicas: Replicas,
    persona: Persona,
    topic: str,
    row: Struct,
    counts: Counter[tuple[str, int]],
    now: int,
) -> Struct:
    version, index = request.header.version, row["partition_index"]
    if version and counts[topic, index] > 1:
        return _error(row, ErrorCode.INVALID_REQUEST)
    replica = request.body["replica_id"]
    lowest = persona.quirk("list-offsets.lowest-named")
    if row["timestamp"] < EARLIEST and lowest < EARLIEST:
        named = row["timestamp"] >= lowest
        if not named or SINCE[row["timestamp"]] > version:
            return _error(row, ErrorCode.UNSUPPORTED_VERSION)
    located = replicas.locate(
        topic,
        index,
        epoch=row["current_leader_epoch"],
        any_replica=replica == DEBUGGING,
        debugging=replica == DEBUGGING,
    )
    if located.replica is None:
        return _error(row, located.error)
    if version == 0:
        return _old_style(located.replica, row, replica, now)
    isolation = LOG_END
    if replica == CONSUMER:
        isolation = LAST_STABLE if request.body["isolation_level"] else HIGH_WATERMARK
    if replica == CONSUMER and _lags(persona, located.replica, row["timestamp"], isolation):
        new = ErrorCode.OFFSET_NOT_AVAILABLE
        return _error(row, new if version >= 5 else ErrorCode.LEADER_NOT_AVAILABLE)
    return _find(persona, located.replica, row, isolation)


def _lags(persona: Persona, replica: Replica, timestamp: int, isolation: str) -> bool:
    """Whether a new leader does not know yet how far its predecessor's readers came (KIP-207).

    That is told by the high watermark, also to readers of committed records.
    """
    waits = persona.quirk("list-offsets.waits-for-epoch")
    if not waits or replica.epoch_start <= replica.log.high_watermark:
        return False
    limit = replica.log.limit(isolation)
    if timestamp < 0:
        return timestamp == LATEST
    found = replica.log.first_offset_at(timestamp).offset
    return found < 0 or found >= limit


def _find(persona: Persona, replica: Replica, row: Struct, isolation: str) -> Struct:
    log, timestamp = replica.log, row["timestamp"]
    index, limit = row["partition_index"], log.limit(isolation)
    named = timestamp >= persona.quirk("list-offsets.lowest-named")
    if timestamp == LATEST:
        return _found(index, -1, limit, replica.leader_epoch)
    if named and timestamp in (EARLIEST, EARLIEST_LOCAL):
        start = log.log_start_offset
        return _found(index, -1, start, log.epochs.epoch_at(start))
    if named and timestamp in (LATEST_TIERED, EARLIEST_PENDING):
        return _found(index, -1, -1, -1)
    newest = named and timestamp == MAX_TIMESTAMP
    found = log.newest() if newest else log.first_offset_at(timestamp)
    if found.offset < 0 or found.offset >= limit:
        return _found(index, -1, -1, -1)
    return _found(index, found.timestamp, found.offset, found.leader_epoch)


def _found(index: int, timestamp: int, offset: int, epoch: int) -> Struct:
    return {
        "partition_index": index,
        "timestamp": timestamp,
        "offset": offset,
        "leader_epoch": epoch,
    }


def _error(row: Struct, code: int) -> Struct:
    return {"partition_index": row["partition_index"], "error_code": code}


def _old_style(led: Replica, row: Struct, replica: int, now: int) -> Struct:
    """Base offsets of segments written before a time, newest first (META-04)."""
    log, wanted, most = led.log, row["timestamp"], row["max_num_offsets"]
    if most < 0:
        return _error(row, ErrorCode.UNKNOWN_SERVER_ERROR)
    views = log.segment_views()
    rows = [(view.base_offset, view.modified) for view in views]
    rows[0] = (max(rows[0][0], log.log_start_offset), rows[0][1])
    if views[-1].size:
        rows.append((log.log_end_offset, now))
    if wanted == EARLIEST:
        last = 0
    elif wanted == LATEST:
        last = len(rows) - 1
    else:
        last = max((i for i, (_, at) in enumerate(rows) if at <= wanted), default=-1)
    offsets = [rows[i][0] for i in range(last, -1, -1)][:most]
    if replica == CONSUMER:
        high = log.high_watermark
        if any(offset > high for offset in offsets):
            offsets = [high, *(offset for offset in offsets if offset < high)]
    return {"partition_index": row["partition_index"], "old_style_offsets": offsets}
