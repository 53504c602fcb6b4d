"""Offsets of successive appends do not overlap: each batch begins where earlier ones had ended.

Followed per partition through one case. Batches of idempotent producers are left out, because a
duplicate is answered with its first offset; so are cases that delete topics.
"""

from __future__ import annotations

from typing import Any

from harness import record_view
from harness.checkers import walks
from harness.finding import Finding
from harness.transcript import Transcript


def check(transcript: Transcript) -> list[Finding]:
    if any(True for _ in walks.decoded(transcript, "DeleteTopics")):
        return []
    ends: dict[tuple[Any, int], int] = {}
    found = []
    for partition in walks.partitions(transcript, "Produce"):
        base = partition.answer["base_offset"]
        size = _plain_records(partition.asked.get("records"))
        if partition.answer["error_code"] != 0 or base < 0 or size is None:
            continue
        if base < ends.get(partition.key, 0):
            word = f"base_offset {base}, earlier appends end at {ends[partition.key]}"
            found.append(Finding("produce-offsets", partition.exchange.label, partition.path, word))
        ends[partition.key] = max(ends.get(partition.key, 0), base + size)
    return found


def _plain_records(data: bytes | None) -> int | None:
    """How many records were sent; None when a producer id may make them a duplicate."""
    entries = record_view.view(data) or []
    if any("records" not in e or "fault" in e or e.get("producer_id", -1) >= 0 for e in entries):
        return None
    return sum(len(entry["records"]) for entry in entries)
