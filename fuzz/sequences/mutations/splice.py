"""Begin as one script does and go on as another, or let the two take turns."""

from __future__ import annotations

import random
from collections.abc import Sequence

from touchstone.fuzz.script import Script
from touchstone.fuzz.sequences.arrange import arranged, joined

MOST_STEPS = 40


def mutate(script: Script, draw: random.Random, others: Sequence[Script]) -> Script:
    if not others or not script.steps:
        return script
    other = draw.choice(others)
    both = joined(script, other)
    first = list(range(len(script.steps)))
    second = list(range(len(script.steps), len(both.steps)))
    if draw.random() < 0.5:
        cut, start = draw.randint(1, len(first)), draw.randrange(max(len(second), 1))
        return arranged(both, [*first[:cut], *second[start:]][:MOST_STEPS])
    order = []
    while first or second:
        order.append((first if not second or (first and draw.random() < 0.5) else second).pop(0))
    return arranged(both, order[:MOST_STEPS])
