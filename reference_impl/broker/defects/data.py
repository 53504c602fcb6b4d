"""Defects of what serves Produce, Fetch and ListOffsets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from touchstone.reference_impl.broker.data.fetch_sessions import FetchSessions
from touchstone.reference_impl.broker.data.produced_in_transaction import TransactionVerification
from touchstone.reference_impl.broker.defects.planting import (
    defect,
    handler_defect,
    maker,
    setting,
)
from touchstone.reference_impl.broker.effects import Request, Wait
from touchstone.reference_impl.broker.replication.replicas import Replicas
from touchstone.reference_impl.cluster.replica import NO_EPOCH, Replica
from touchstone.reference_impl.log.partition_log import (
    LOG_END,
    AppendResult,
    PartitionLog,
    Read,
)
from touchstone.reference_impl.log.rules import CLIENT
from touchstone.reference_impl.wire.errors import ErrorCode

PRODUCE, FETCH, LIST_OFFSETS = 0, 1, 2
LATEST = -1

maker(Replicas, "_open")


# --------------------------------------------------------------------------------- appends


@handler_defect("acks-zero-answered", PRODUCE)
def acks_zero_answered(real: Callable[..., Any], broker: Any, request: Request, now: int) -> Any:
    request.body["acks"] = request.body["acks"] or 1
    return real(request, now)


@defect("min-isr-ignored", Replica, "too_few", "too_few_now")
def min_isr_ignored(real: Callable[[], bool], replica: Replica) -> bool:
    return False


@setting("lost-write", Replicas)
def nothing_lost_yet(replicas: Any) -> None:
    replicas.lost = {}


@defect("lost-write", Replicas, "append")
def lost_write(
    real: Callable[..., AppendResult], replicas: Any, replica: Replica, *args: Any, **named: Any
) -> AppendResult:
    """Every other write of a client with the same acks is not made."""
    acks = named["acks"]
    if named.get("origin", CLIENT) != CLIENT:
        return real(replica, *args, **named)
    replicas.lost[acks] = lost = not replicas.lost.get(acks, True)
    if not lost:
        return real(replica, *args, **named)
    end = replica.log.log_end_offset
    return AppendResult(end, end - 1, -1, replica.log.log_start_offset)


@defect("offset-off-by-one", Replicas, "append")
def offset_off_by_one(real: Callable[..., AppendResult], _: Any, *args: Any, **named: Any) -> Any:
    result = real(*args, **named)
    return result._replace(base_offset=result.base_offset + 1)


@defect("producer-epoch-not-checked", TransactionVerification, "_is_over")
def no_epoch_is_over(real: Any, *_: Any) -> bool:
    return False


# ----------------------------------------------------------------------------------- reads


@defect("hw-ignored", PartitionLog, "read")
def reads_to_the_end(real: Callable[..., Read], _: Any, *args: Any, **named: Any) -> Read:
    return real(*args, **named | {"isolation": LOG_END})


@defect("hw-ignored", PartitionLog, "readable")
def all_is_readable(real: Callable[..., Any], _: Any, offset: int, isolation: str) -> Any:
    return real(offset, LOG_END)


@setting("follower-reads-past-hw", Replica)
def log_knows_its_replica(replica: Any) -> None:
    replica.log.replica = replica


@defect("follower-reads-past-hw", PartitionLog, "read")
def follower_reads_past_hw(real: Callable[..., Read], log: Any, *args: Any, **named: Any) -> Read:
    return real(*args, **named if log.replica.is_leader else named | {"isolation": LOG_END})


@defect("last-batch-shut", PartitionLog, "read")
def last_batch_shut(
    real: Callable[..., Read], _: Any, offset: int, *args: Any, **named: Any
) -> Read:
    read = real(offset, *args, **named)
    end = _end_of_first(read.records, offset)
    return read._replace(records=b"") if end == len(read.records) else read


@defect("fetch-skips-mid-batch", PartitionLog, "read")
def fetch_skips_mid_batch(
    real: Callable[..., Read], _: Any, offset: int, *args: Any, **named: Any
) -> Read:
    read = real(offset, *args, **named)
    end = _end_of_first(read.records, offset)
    return read if end is None else read._replace(records=read.records[end:])


def _end_of_first(records: bytes, offset: int) -> int | None:
    """Where the first batch ends, if it begins before the offset."""
    if not records or int.from_bytes(records[:8], "big") >= offset:
        return None
    return 12 + int.from_bytes(records[8:12], "big")


@handler_defect("fetch-waits-time-out", FETCH)
def fetch_waits_time_out(real: Callable[..., Any], broker: Any, request: Request, now: int) -> Any:
    answer = real(request, now)
    if isinstance(answer, Wait):
        expire = answer.expire
        answer.expire = lambda now: _timed_out(expire(now))
    return answer


def _timed_out(answer: dict[str, Any]) -> dict[str, Any]:
    for topic in answer["responses"]:
        for row in topic["partitions"]:
            row["error_code"], row["high_watermark"] = ErrorCode.REQUEST_TIMED_OUT, -1
    return answer


@defect("full-session-cache-evicts-anybody", FetchSessions, "open")
def full_session_cache_evicts_anybody(
    real: Callable[..., Any], sessions: FetchSessions, request: Request, now: int
) -> Any:
    if request.body["session_epoch"] == 0:
        sessions.cache.make_room()
    return real(request, now)


# ----------------------------------------------------------------------------- list offsets


def _shifted(answer: dict[str, Any], request: Request, wanted: Callable[[int], bool]) -> Any:
    """The answer with the offset after the right one where such a time was asked for."""
    if not isinstance(answer, dict):
        return answer
    asked = {
        (topic["name"], row["partition_index"]): row["timestamp"]
        for topic in request.body["topics"]
        for row in topic["partitions"]
    }
    for topic in answer["topics"]:
        for row in topic["partitions"]:
            if row.get("offset", -1) >= 0 and wanted(asked[topic["name"], row["partition_index"]]):
                row["offset"] += 1
    return answer


@handler_defect("log-end-one-too-high", LIST_OFFSETS)
def log_end_one_too_high(real: Callable[..., Any], broker: Any, request: Request, now: int) -> Any:
    return _shifted(real(request, now), request, lambda time: time == LATEST)


@handler_defect("list-offsets-by-time-off", LIST_OFFSETS)
def list_offsets_by_time_off(
    real: Callable[..., Any], broker: Any, request: Request, now: int
) -> Any:
    return _shifted(real(request, now), request, lambda time: time >= 0)


@defect("leader-epoch-not-checked", Replicas, "locate")
def leader_epoch_not_checked(real: Callable[..., Any], _: Any, *args: Any, **named: Any) -> Any:
    return real(*args, **named | {"epoch": NO_EPOCH})
