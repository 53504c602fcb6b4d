"""Send a step over another connection: one of the script's, or a new one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from touchstone.fuzz.script import Script
from touchstone.fuzz.sequences.arrange import with_step


def mutate(script: Script, draw: random.Random, others: Sequence[Script]) -> Script:
    if not script.steps:
        return script
    number = draw.randrange(len(script.steps))
    step = script.steps[number]
    there = {one.connection for one in script.steps}
    elsewhere = sorted({*there, max(there) + 1} - {step.connection})
    return with_step(script, number, replace(step, connection=draw.choice(elsewhere)))
