"""Batches of one fetch come in the order of their offsets and do not overlap."""

from __future__ import annotations

from touchstone.harness.checkers import walks
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript


def check(transcript: Transcript) -> list[Finding]:
    found = []
    for partition, batches in walks.fetched(transcript):
        end = -1
        for index, entry in walks.whole(batches):
            first, last = walks.offsets(entry)
            if first <= end:
                path = f"{partition.path}.records[{index}]"
                word = f"begins at offset {first}, the one before ends at {end}"
                found.append(Finding("fetch-order", partition.trip.label, path, word))
            end = max(end, last)
    return found
