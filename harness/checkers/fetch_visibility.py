"""A consumer sees nothing beyond the high watermark, with read_committed nothing beyond the LSO.

Records above the high watermark may still be lost; records above the last stable offset belong to
open transactions (KIP-98).
"""

from __future__ import annotations

from touchstone.harness.checkers import walks
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript

CONSUMER = -1
READ_COMMITTED = 1


def check(transcript: Transcript) -> list[Finding]:
    found = []
    for partition, batches in walks.fetched(transcript):
        request = walks.request_of(partition.exchange)
        replica = request.get("replica_state", request).get("replica_id", CONSUMER)
        if replica != CONSUMER:
            continue
        committed = request.get("isolation_level", 0) == READ_COMMITTED
        word = "last_stable_offset" if committed else "high_watermark"
        limit = partition.answer.get(word, -1)
        for index, entry in walks.whole(batches):
            first = walks.offsets(entry)[0]
            if 0 <= limit <= first:
                path = f"{partition.path}.records[{index}]"
                text = f"begins at offset {first}, {word} is {limit}"
                found.append(Finding("fetch-visibility", partition.exchange.label, path, text))
    return found
