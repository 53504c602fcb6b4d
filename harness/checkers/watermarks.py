"""Log start <= last stable offset <= high watermark, wherever an answer shows them together.

-1 (or an absent field) means unknown and is left out.
"""

from __future__ import annotations

from touchstone.harness.checkers import walks
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript

RISING = ("log_start_offset", "last_stable_offset", "high_watermark")


def check(transcript: Transcript) -> list[Finding]:
    found = []
    for partition, _ in walks.fetched(transcript):
        known = [(word, partition.answer.get(word, -1)) for word in RISING]
        known = [(word, value) for word, value in known if value >= 0]
        for (low, least), (high, most) in zip(known, known[1:], strict=False):
            if least > most:
                word = f"{low} {least} is above {high} {most}"
                found.append(Finding("watermarks", partition.exchange.label, partition.path, word))
    return found
