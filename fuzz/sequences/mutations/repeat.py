"""Send a step again, at once or later: a retry whose first try was heard."""

from __future__ import annotations

import random
from collections.abc import Sequence

from touchstone.fuzz.script import Script
from touchstone.fuzz.sequences.arrange import arranged


def mutate(script: Script, draw: random.Random, others: Sequence[Script]) -> Script:
    if not script.steps:
        return script
    order = list(range(len(script.steps)))
    number = draw.choice(order)
    place = draw.choice((number + 1, draw.randint(number + 1, len(order))))
    return arranged(script, [*order[:place], number, *order[place:]])
