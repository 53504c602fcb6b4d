"""Give a step an id of another owner: of another field, member, producer or script."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from touchstone.fuzz.script import Script
from touchstone.fuzz.sequences.arrange import joined, with_reference, with_step

MOST_STEPS = 20


def mutate(script: Script, draw: random.Random, others: Sequence[Script]) -> Script:
    carrying = [n for n, step in enumerate(script.steps) if step.references]
    if not carrying:
        return script
    number = draw.choice(carrying)
    step = script.steps[number]
    place = draw.randrange(len(step.references))
    own = step.references[place]
    other = draw.choice(others) if others else Script(())
    theirs = [one for two in other.steps[:MOST_STEPS] for one in two.references]
    alike = [one for one in theirs if _field(one.out_of) == _field(own.out_of)]
    if not alike:
        # Nobody else has one: it goes out as it stood when somebody else was asked.
        return with_step(script, number, with_reference(step, place, None))
    foreign = draw.choice(alike)
    both = joined(replace(other, steps=other.steps[: foreign.step + 1]), script)
    shift = foreign.step + 1
    moved = both.steps[number + shift]
    return with_step(
        both, number + shift, with_reference(moved, place, replace(foreign, into=own.into))
    )


def _field(path: str) -> str:
    return path.rpartition(".")[2]
