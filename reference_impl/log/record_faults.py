"""Which records a topic refuses one by one: without a key, with a timestamp out of bounds.

Everything else about a batch is the batch's (`validation.py`). A refusal names every record that
is refused and why, in the words that Produce v8+ carries (KIP-467); where the batch's summary shows
that no record can be refused, no record is looked at.

Source: LogValidator.validateRecord and processRecordErrors at 1.0.2, 2.2.1, 2.8.2, 3.9; observed.
"""

from __future__ import annotations

from touchstone.reference_impl.log.rules import AppendContext, LogError, RecordFault, Rules
from touchstone.reference_impl.log.topic_config import TopicConfig
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records.check import Checked, wrapped
from touchstone.reference_impl.wire.records.convert import Flat

NO_TIMESTAMP = -1
LONG_MAX = 2**63 - 1


class RecordJudge:
    """The rules about single records of one release."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def suspects(self, facts: Checked, stamped: bool, config: TopicConfig, now: int) -> bool:
        """Whether the summary of a batch leaves it open that a record is refused."""
        if stamped or (facts.null_key >= 0 and config.compact):
            return True
        if config.log_append_time:
            return False
        before, after = self.bounds(config)
        if before < LONG_MAX or facts.max_timestamp > now + after:
            return True
        return facts.least_timestamp < now - LONG_MAX  # the difference from now wraps around

    def bounds(self, config: TopicConfig) -> tuple[int, int]:
        """How far before and after now a record's own timestamp may lie (KIP-937)."""
        difference = config.message_timestamp_difference_max_ms
        if self._rules.one_stamp_bound or difference != LONG_MAX:
            return difference, difference
        return config.message_timestamp_before_max_ms, config.message_timestamp_after_max_ms

    def faults(
        self, flat: list[Flat], stamped: bool, config: TopicConfig, context: AppendContext
    ) -> list[RecordFault]:
        """Every record that its topic refuses; `stamped` batches claim LogAppendTime."""
        faults, stop = [], "." if self._rules.ends_sentences else ""
        now, create_time = context.now, not config.log_append_time
        before, after = self.bounds(config)
        oldest, newest = now - before, now + after
        for index, record in enumerate(flat):
            stamp = record.timestamp
            checked = create_time and stamp != NO_TIMESTAMP
            if config.compact and record.key is None:
                message = (
                    "Compacted topic cannot accept message without key in topic partition"
                    f" {context.name}{stop}"
                )
                faults.append(RecordFault(index, message, self._rules.invalid_record))
            elif checked and _far(now - stamp, before, after):
                message = (
                    f"Timestamp {stamp} of message with offset {record.offset} is out of range."
                    f" The timestamp should be within [{wrapped(oldest)}, {wrapped(newest)}]"
                )
                faults.append(RecordFault(index, message, ErrorCode.INVALID_TIMESTAMP))
            elif stamped and not (checked and self._rules.append_time_needs_stamp):
                faults.append(
                    RecordFault(index, _append_time_message(record), ErrorCode.INVALID_TIMESTAMP)
                )
        return faults

    def check(
        self, flat: list[Flat], stamped: bool, config: TopicConfig, context: AppendContext
    ) -> None:
        """LogError if the topic refuses any of the records; it names them all (KIP-467)."""
        faults = self.faults(flat, stamped, config, context)
        if not faults:
            return
        if not self._rules.names_records:
            raise LogError(faults[0].code, faults[0].message)
        if any(fault.code == ErrorCode.INVALID_TIMESTAMP for fault in faults):
            code: int = ErrorCode.INVALID_TIMESTAMP
            message = "One or more records have been rejected due to invalid timestamp"
        else:
            code, message = self._rules.invalid_record, "One or more records have been rejected"
            if self._rules.quotes_faults:
                message += _quoted(faults)
        raise LogError(code, message, tuple(faults), told=True)


def _append_time_message(record: Flat) -> str:
    key = 0 if record.key is None else len(record.key)
    value = 0 if record.value is None else len(record.value)
    return (
        f"Invalid timestamp type in message DefaultRecord(offset={record.offset},"
        f" timestamp={record.timestamp}, key={key} bytes, value={value} bytes). Producer should"
        " not set timestamp type to LogAppendTime."
    )


def _quoted(faults: list[RecordFault]) -> str:
    first = ", ".join(
        f"RecordError(batchIndex={fault.index}, message='{fault.message}')" for fault in faults[:3]
    )
    return (
        f" due to {len(faults)} record errors in total, and only showing the first three errors at"
        f" most: [{first}]"
    )


def _far(age: int, before: int, after: int) -> bool:
    """Whether a record is too old or too new by Java's arithmetic, where both may wrap around."""
    age = wrapped(age)
    return age > before or wrapped(-age) > after
