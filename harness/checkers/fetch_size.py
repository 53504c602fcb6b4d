"""A fetch gives more than its byte limits only when a single batch is larger than they are.

One partition's records stay within its `partition_max_bytes` unless they are one batch (KIP-74: so
that a consumer can always go on). Records converted to an older format may grow beyond it, and the
older formats are left out.
"""

from __future__ import annotations

from touchstone.harness.checkers import walks
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript


def check(transcript: Transcript) -> list[Finding]:
    found = []
    for partition, batches in walks.fetched(transcript):
        limit = partition.asked.get("partition_max_bytes")
        size = len(partition.answer.get("records") or b"")
        kept = all(entry.get("magic", 2) == 2 for entry in batches)
        if limit is not None and size > limit and len(batches) > 1 and kept:
            word = f"{size} bytes in {len(batches)} batches, asked for at most {limit}"
            path = f"{partition.path}.records"
            found.append(Finding("fetch-size", partition.trip.label, path, word))
    return found
