"""Offsets of appends do not overlap: each batch begins where those answered before it had ended.

Followed per partition through one case. Appends that are under way at once may be written in any
order (one may have waited behind another request of its connection), but never to the same offsets.
Batches of idempotent producers are left out, because a duplicate is answered with its first offset;
so are cases that delete topics, and cases that harm brokers, whose claims say what may be lost.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from touchstone.harness.checkers import walks
from touchstone.harness.model import record_view
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript


class Append(NamedTuple):
    """What one answer says was written, and when it came."""

    base: int
    end: int
    answered_us: int


def check(transcript: Transcript) -> list[Finding]:
    if walks.limits_may_fall(transcript):
        return []
    written: dict[tuple[Any, int], list[Append]] = {}
    found = []
    for partition in walks.partitions(transcript, "Produce"):
        base = partition.answer["base_offset"]
        size = _plain_records(partition.asked.get("records"))
        if partition.answer["error_code"] != 0 or base < 0 or size is None:
            continue
        others = written.setdefault(partition.key, [])
        sent, received = partition.trip.sent, partition.trip.received
        assert received is not None, "its answer was walked"
        began = sent.at_us if sent else received.at_us
        last = max((one.end for one in others if one.answered_us <= began), default=0)
        word = f"base_offset {base}, earlier appends end at {last}" if base < last else ""
        for one in others:
            if not word and base < one.end and one.base < base + size:
                word = f"base_offset {base}, but {one.base} to {one.end - 1} are another append's"
        if word:
            found.append(Finding("produce-offsets", partition.trip.label, partition.path, word))
        others.append(Append(base, base + size, received.at_us))
    return found


def _plain_records(data: bytes | None) -> int | None:
    """How many records were sent; None when a producer id may make them a duplicate."""
    entries = record_view.view(data) or []
    if any("records" not in e or "fault" in e or e.get("producer_id", -1) >= 0 for e in entries):
        return None
    return sum(len(entry["records"]) for entry in entries)
