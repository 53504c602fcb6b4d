"""Every batch that Fetch gives can be read, and its header tells the truth about its records.

The count is the number of records (a compacted batch may hold fewer offsets than it covers, never
more); offsets rise inside the batch and stay within what the header covers.
"""

from __future__ import annotations

from touchstone.harness.checkers import walks
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript
from touchstone.reference_impl.wire.schema import Struct


def check(transcript: Transcript) -> list[Finding]:
    found = []
    for partition, batches in walks.fetched(transcript):
        for index, entry in enumerate(batches):
            word = _fault(entry)
            if word:
                path = f"{partition.path}.records[{index}]"
                found.append(Finding("batch-structure", partition.trip.label, path, word))
    return found


def _fault(entry: Struct) -> str | None:
    if "fault" in entry:
        return entry["fault"]
    if entry.get("magic") != 2:
        return None
    offsets = [record["offset"] for record in entry["records"]]
    first, last = walks.offsets(entry)
    if entry["records_count"] != len(offsets):
        return f"says {entry['records_count']} records and holds {len(offsets)}"
    if any(later <= earlier for earlier, later in zip(offsets, offsets[1:], strict=False)):
        return f"offsets do not rise: {offsets[:8]}"
    if offsets and not first <= offsets[0] <= offsets[-1] <= last:
        return f"records {offsets[0]} to {offsets[-1]} in a batch that covers {first} to {last}"
    return None
