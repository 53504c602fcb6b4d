"""A partition's high watermark never goes back, as one case sees it.

Records below it are promised. A case that deletes the topic starts anew. Answers of different
connections may come from different brokers, whose watermarks lag, so each is followed by itself.
Cases that harm brokers are left to their claims: a broker starts again from an older checkpoint.
"""

from __future__ import annotations

from typing import Any

from touchstone.harness.checkers import walks
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript


def check(transcript: Transcript) -> list[Finding]:
    if walks.limits_may_fall(transcript):
        return []
    highest: dict[tuple[Any, ...], int] = {}
    found = []
    for partition, _ in walks.fetched(transcript):
        key = (partition.trip.event.connection, *partition.key)
        mark = partition.answer["high_watermark"]
        if mark < highest.get(key, -1):
            word = f"{mark}, it was {highest[key]} before"
            path = f"{partition.path}.high_watermark"
            found.append(Finding("high-watermark", partition.trip.label, path, word))
        highest[key] = max(mark, highest.get(key, -1))
    return found
