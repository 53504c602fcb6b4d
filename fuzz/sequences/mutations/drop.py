"""Leave a step out: what comes later misses what it would have done."""

from __future__ import annotations

import random
from collections.abc import Sequence

from touchstone.fuzz.script import Script
from touchstone.fuzz.sequences.arrange import arranged


def mutate(script: Script, draw: random.Random, others: Sequence[Script]) -> Script:
    if len(script.steps) < 2:
        return script
    left_out = draw.randrange(len(script.steps))
    return arranged(script, [n for n in range(len(script.steps)) if n != left_out])
