"""Let some milliseconds pass before a step."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from touchstone.fuzz.script import Script
from touchstone.fuzz.sequences.arrange import with_step

DELAYS_MS = (1, 5, 20, 60)


def mutate(script: Script, draw: random.Random, others: Sequence[Script]) -> Script:
    if not script.steps:
        return script
    number = draw.randrange(len(script.steps))
    step = replace(script.steps[number], delay_ms=draw.choice(DELAYS_MS))
    return with_step(script, number, step)
