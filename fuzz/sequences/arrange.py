"""Steps in another order, or in another script, with references that still mean the same answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from touchstone.fuzz.script import Reference, Script, Step


def bare(script: Script) -> Script:
    """The same steps, of whose answers nothing is expected."""
    steps = tuple(replace(step, expected=None) for step in script.steps)
    return replace(script, steps=steps)


def arranged(script: Script, order: Sequence[int]) -> Script:
    """The steps of these numbers in this order. A reference means the last place before its own to
    which its step has gone; one whose step comes later or not at all is dropped, so that the value
    goes out as it stood.
    """
    places: dict[int, int] = {}
    steps: list[Step] = []
    for number in order:
        step = script.steps[number]
        kept = tuple(
            replace(reference, step=places[reference.step])
            for reference in step.references
            if reference.step in places
        )
        places[number] = len(steps)
        steps.append(replace(step, references=kept, expected=None))
    return replace(script, steps=tuple(steps))


def joined(first: Script, second: Script) -> Script:
    """All steps of one script behind all of another, over connections of their own."""
    shift = len(first.steps)
    width = 1 + max((step.connection for step in first.steps), default=-1)
    moved = tuple(moved_by(step, shift, width) for step in second.steps)
    names = tuple(dict.fromkeys((*first.names, *second.names)))
    return Script((*bare(first).steps, *moved), names)


def moved_by(step: Step, shift: int, width: int) -> Step:
    references = tuple(replace(one, step=one.step + shift) for one in step.references)
    return replace(step, references=references, connection=step.connection + width, expected=None)


def with_step(script: Script, number: int, step: Step) -> Script:
    """The script with another step in this place; nothing is expected any more."""
    steps = (*script.steps[:number], step, *script.steps[number + 1 :])
    return bare(replace(script, steps=steps))


def with_reference(step: Step, place: int, reference: Reference | None) -> Step:
    """The step with another reference in this place, or without it."""
    other = () if reference is None else (reference,)
    return replace(
        step, references=(*step.references[:place], *other, *step.references[place + 1 :])
    )
