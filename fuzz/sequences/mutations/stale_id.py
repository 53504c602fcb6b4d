"""Give a step an id or an epoch of an earlier answer than the one it would carry."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from touchstone.fuzz.script import Reference, Script
from touchstone.fuzz.sequences.arrange import with_reference, with_step


def mutate(script: Script, draw: random.Random, others: Sequence[Script]) -> Script:
    known: dict[str, set[int]] = {}  # of a path of answers: the steps that somebody took it from
    for step in script.steps:
        for reference in step.references:
            known.setdefault(reference.out_of, set()).add(reference.step)
    choices = [
        (number, place, replace(reference, step=earlier))
        for number, step in enumerate(script.steps)
        for place, reference in enumerate(step.references)
        for earlier in sorted(known[reference.out_of])
        if earlier < reference.step
    ]
    if not choices:
        return script
    number, place, stale = draw.choice(choices)
    return _with(script, number, place, stale)


def _with(script: Script, number: int, place: int, stale: Reference) -> Script:
    return with_step(script, number, with_reference(script.steps[number], place, stale))
