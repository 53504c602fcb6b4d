"""A produced partition has an offset or an error, never both, never neither.

With an error base_offset is -1 and so is log_append_time_ms, unless the batch was appended and only
its replication failed (REQUEST_TIMED_OUT, NOT_ENOUGH_REPLICAS_AFTER_APPEND, and
NOT_LEADER_OR_FOLLOWER when its leader handed over meanwhile: DelayedProduce). Without one
base_offset counts from 0 (or is -1 for a duplicate whose offset the broker no longer knows) and is
not below log_start_offset.
"""

from __future__ import annotations

from touchstone.harness.checkers import walks
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript
from touchstone.reference_impl.wire.schema import Struct

UNKNOWN = -1
APPENDED_ALL_THE_SAME = (6, 7, 20)


def check(transcript: Transcript) -> list[Finding]:
    return [
        Finding("produce-answer", partition.trip.label, partition.path, word)
        for partition in walks.partitions(transcript, "Produce")
        if (word := _fault(partition.answer))
    ]


def _fault(answer: Struct) -> str | None:
    base, time = answer["base_offset"], answer.get("log_append_time_ms", UNKNOWN)
    start = answer.get("log_start_offset", UNKNOWN)
    if answer["error_code"] in APPENDED_ALL_THE_SAME:
        return None
    if answer["error_code"] != 0:
        if base != UNKNOWN or time != UNKNOWN:
            return f"error {answer['error_code']} with base_offset {base}, append time {time}"
        return None
    if base < 0 and base != UNKNOWN:
        return f"base_offset {base} is no offset"
    if time < UNKNOWN:
        return f"append time {time} is no instant"
    if base >= 0 and start > base:
        return f"base_offset {base} lies below log_start_offset {start}"
    if answer.get("record_errors"):
        return "no error, but record_errors"
    return None
