"""Aborted transactions are listed for read_committed only, in the order of their first offsets.

With read_uncommitted the list is null (KIP-98). An aborted range may begin beyond the last stable
offset, where an open transaction lies before it, but never beyond the high watermark.
"""

from __future__ import annotations

from touchstone.harness.checkers import walks
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript

READ_COMMITTED = 1


def check(transcript: Transcript) -> list[Finding]:
    found = []
    for partition, _ in walks.fetched(transcript):
        aborted = partition.answer.get("aborted_transactions")
        if not aborted:
            continue
        isolation = walks.request_of(partition.trip).get("isolation_level", 0)
        high = partition.answer["high_watermark"]
        word = None
        if isolation != READ_COMMITTED:
            word = f"{len(aborted)} listed for read_uncommitted"
        elif any(one["first_offset"] >= high for one in aborted):
            word = f"one begins beyond the high watermark {high}"
        if word:
            path = f"{partition.path}.aborted_transactions"
            found.append(Finding("aborted-transactions", partition.trip.label, path, word))
    return found
