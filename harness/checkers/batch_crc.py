"""Every batch that Fetch gives carries the CRC of its bytes (CRC-32C; CRC-32 before magic 2)."""

from __future__ import annotations

from touchstone.harness.checkers import walks
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript


def check(transcript: Transcript) -> list[Finding]:
    found = []
    for partition, batches in walks.fetched(transcript):
        for index, entry in enumerate(batches):
            if "crc" in entry and entry["crc"] != entry["crc_computed"]:
                path = f"{partition.path}.records[{index}].crc"
                word = f"stored {entry['crc']:08x}, computed {entry['crc_computed']:08x}"
                found.append(Finding("batch-crc", partition.trip.label, path, word))
    return found
