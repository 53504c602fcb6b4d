"""Fewer steps, over one connection. A value that referred to a removed step is sent as it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from touchstone.fuzz.minimise.search import Search, smallest
from touchstone.fuzz.script import Script, Step


def fewer(search: Search) -> None:
    """Leave out the steps that the complaint does not need; one at least stays."""
    whole = search.best
    if len(whole.steps) > 1:
        smallest(
            range(len(whole.steps)),
            lambda kept: bool(kept) and search.accepts(only(whole, kept)),
        )


def only(script: Script, kept: Sequence[int]) -> Script:
    """The script of the steps with these numbers, references numbered anew."""
    now = {old: new for new, old in enumerate(kept)}

    def renumbered(step: Step) -> Step:
        references = (one for one in step.references if one.step in now)
        return replace(
            step, references=tuple(replace(one, step=now[one.step]) for one in references)
        )

    return replace(script, steps=tuple(renumbered(script.steps[number]) for number in kept))


def one_connection(search: Search) -> None:
    best = search.best
    if any(step.connection for step in best.steps):
        steps = tuple(replace(step, connection=0) for step in best.steps)
        search.accepts(replace(best, steps=steps))


def with_step(script: Script, number: int, step: Step) -> Script:
    """The script with another step in this place."""
    return replace(script, steps=(*script.steps[:number], step, *script.steps[number + 1 :]))
