"""Defects of logs: what they take from producers, what they tell readers, what cleaning leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from touchstone.reference_impl.broker.data.log_manager import LogManager
from touchstone.reference_impl.broker.defects.planting import defect, maker
from touchstone.reference_impl.log.cleaner import Cleaning
from touchstone.reference_impl.log.compaction_filter import RecordFilter
from touchstone.reference_impl.log.partition_log import PartitionLog
from touchstone.reference_impl.log.producer_state import ProducerState
from touchstone.reference_impl.log.record_faults import RecordJudge
from touchstone.reference_impl.log.rules import CLIENT, LogError, RecordFault
from touchstone.reference_impl.log.validation import Validator
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records.batch import BatchHeader

UNBOUNDED = 2**31 - 1
Real = Callable[..., Any]


maker(LogManager, "_cleaning")


# ---------------------------------------------------------------------------------- batches


@defect("crc-not-checked", Validator, "_check_crc")
def crc_not_checked(real: Real, *_: Any) -> None:
    pass


@defect("crc-not-checked", Validator, "checksum_ok")
def any_checksum_is_right(real: Real, *_: Any) -> bool:
    return True


@defect("max-message-bytes-ignored", Validator, "analyze", "assign")
def max_message_bytes_ignored(real: Real, _: Validator, *args: Any) -> Any:
    *rest, config, place = args
    return real(*rest, replace(config, max_message_bytes=UNBOUNDED), place)


@defect("log-append-time-ignored", Validator, "_placed")
def log_append_time_ignored(real: Real, _: Validator, *args: Any) -> Any:
    *rest, config, place = args
    return real(*rest, replace(config, message_timestamp_type="CreateTime"), place)


@defect("record-count-not-checked", Validator, "_check_counts")
def record_count_not_checked(real: Real, _: Validator, header: BatchHeader, where: str) -> None:
    if min(header.records_count, header.last_offset_delta + 1) <= 0:
        real(header, where)


@defect("keyless-on-compacted-accepted", RecordJudge, "faults")
def keyless_on_compacted_accepted(real: Real, *args: Any) -> list[RecordFault]:
    return [each for each in real(*args[1:]) if "without key" not in each.message]


# -------------------------------------------------------------------------------- producers


@defect("duplicate-appended", ProducerState, "duplicate")
def duplicate_appended(real: Real, *_: Any) -> None:
    return None


@defect("producer-epoch-not-checked", ProducerState, "check")
def producer_epoch_not_checked(
    real: Real, state: ProducerState, batch: BatchHeader, offset: int, *, origin: str = CLIENT
) -> None:
    try:
        real(batch, offset, origin=origin)
    except LogError as refusal:
        if refusal.code != ErrorCode.INVALID_PRODUCER_EPOCH:
            raise
        if origin == CLIENT:
            state._check_sequence(state.producers[batch.producer_id], batch, offset)


@defect("sequence-gap-accepted", ProducerState, "_check_sequence")
def sequence_gap_accepted(real: Real, _: ProducerState, *args: Any) -> None:
    try:
        real(*args)
    except LogError as refusal:
        if refusal.code != ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
            raise


# ----------------------------------------------------------------------------- transactions


@defect("aborted-visible", PartitionLog, "aborted")
def aborted_visible(real: Real, *_: Any) -> list[Any]:
    return []


@defect("lso-ignored", PartitionLog, "last_stable_offset")
def lso_ignored(real: Real, log: PartitionLog) -> int:
    return log.high_watermark


# --------------------------------------------------------------------------------- cleaning


@defect("compaction-drops-last-value", Cleaning, "_keeps")
def compaction_drops_last_value(
    real: Real, cleaning: Cleaning, waits: bool, control: bool = False
) -> RecordFilter:
    keep, latest = real(waits, control), cleaning._map.latest

    def kept(offset: int, key: bytes | None, value: bytes | None) -> bool:
        return keep(offset - (offset <= latest), key, value)

    return kept


@defect("tombstone-kept-forever", Cleaning, "_keeps")
def tombstone_kept_forever(
    real: Real, _: Cleaning, waits: bool, control: bool = False
) -> RecordFilter:
    return real(True, control)
