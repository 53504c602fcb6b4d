"""A consumer sees nothing beyond the high watermark, with read_committed nothing beyond the LSO.

Records above the high watermark may still be lost; records above the last stable offset belong to
open transactions (KIP-98). The limit that counts is what a later answer tells (`walks.bounded`).
"""

from __future__ import annotations

from touchstone.harness.checkers import walks
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript

CONSUMER = -1
READ_COMMITTED = 1


def check(transcript: Transcript) -> list[Finding]:
    found = []
    for partition, batches, most in walks.bounded(transcript):
        word = _limit(partition)
        if word not in most:
            continue
        for index, entry in walks.whole(batches):
            first = walks.offsets(entry)[0]
            if first >= most[word]:
                path = f"{partition.path}.records[{index}]"
                text = f"begins at offset {first}, {word} was {most[word]} later"
                found.append(Finding("fetch-visibility", partition.trip.label, path, text))
    return found


def _limit(partition: walks.Partition) -> str:
    """Which limit holds for who asked; none for a replica."""
    request = walks.request_of(partition.trip)
    if request.get("replica_state", request).get("replica_id", CONSUMER) != CONSUMER:
        return ""
    committed = request.get("isolation_level", 0) == READ_COMMITTED
    return "last_stable_offset" if committed else "high_watermark"
