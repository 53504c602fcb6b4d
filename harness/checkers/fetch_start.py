"""A fetch begins with the batch that holds the offset asked for, or the next one there is.

Never with one that lies wholly before it: a consumer would drop it and ask for the same again, for
ever.
"""

from __future__ import annotations

from touchstone.harness.checkers import walks
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript


def check(transcript: Transcript) -> list[Finding]:
    found = []
    for partition, batches in walks.fetched(transcript):
        asked = partition.asked.get("fetch_offset")
        for index, entry in list(walks.whole(batches))[:1]:
            last = walks.offsets(entry)[1]
            if asked is not None and last < asked:
                path = f"{partition.path}.records[{index}]"
                word = f"ends at offset {last}, asked for {asked}"
                found.append(Finding("fetch-start", partition.trip.label, path, word))
    return found
