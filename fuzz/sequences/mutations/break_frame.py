"""Break the frame of one step with one of the mutators of frames."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from touchstone.fuzz.generator import harmful
from touchstone.fuzz.mutators import Mutate, mutators
from touchstone.fuzz.script import Script
from touchstone.fuzz.sequences.arrange import with_step


def mutate(script: Script, draw: random.Random, others: Sequence[Script]) -> Script:
    if not script.steps:
        return script
    number = draw.randrange(len(script.steps))
    step = script.steps[number]
    name = draw.choice(list(_mutators()))
    wire = _mutators()[name](step.wire, draw)
    if wire == step.wire or harmful(wire):
        return script
    return with_step(script, number, replace(step, wire=wire, faults=(*step.faults, name)))


@cache
def _mutators() -> dict[str, Mutate]:
    return mutators()
