"""Let two steps change places."""

from __future__ import annotations

import random
from collections.abc import Sequence

from touchstone.fuzz.script import Script
from touchstone.fuzz.sequences.arrange import arranged


def mutate(script: Script, draw: random.Random, others: Sequence[Script]) -> Script:
    if len(script.steps) < 2:
        return script
    order = list(range(len(script.steps)))
    one, other = draw.sample(order, 2)
    order[one], order[other] = order[other], order[one]
    return arranged(script, order)
