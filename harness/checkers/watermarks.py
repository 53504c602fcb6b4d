"""Log start <= last stable offset <= high watermark, wherever an answer shows them together.

-1 (or an absent field) means unknown and is left out. Kafka notes the higher limit first and it may
rise meanwhile, so the lower one is held against what a later answer tells (`walks.bounded`).
"""

from __future__ import annotations

from touchstone.harness.checkers import walks
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript

PAIRS = (
    ("log_start_offset", "last_stable_offset"),
    ("log_start_offset", "high_watermark"),
    ("last_stable_offset", "high_watermark"),
)


def check(transcript: Transcript) -> list[Finding]:
    found = []
    for partition, _, most in walks.bounded(transcript):
        for low, high in PAIRS:
            least = partition.answer.get(low, -1)
            if least > most.get(high, least):
                word = f"{low} {least} is above {high}, which was {most[high]} later"
                found.append(Finding("watermarks", partition.trip.label, partition.path, word))
    return found
