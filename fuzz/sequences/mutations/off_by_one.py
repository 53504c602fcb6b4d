"""Give a step an id, an epoch or a generation that is one more or one less than the right one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from touchstone.fuzz.layers import within_body
from touchstone.fuzz.script import Script, Step, put_at
from touchstone.fuzz.segments import SIZE
from touchstone.fuzz.sequences.arrange import with_reference, with_step
from touchstone.fuzz.sequences.decode import IDS, leaves
from touchstone.harness.model.path import PathError, spell
from touchstone.reference_impl.wire.headers import decode_request
from touchstone.reference_impl.wire.schema import Struct

KEPT_BY_CLIENTS = ("session_epoch", "share_session_epoch", "base_sequence")


def mutate(script: Script, draw: random.Random, others: Sequence[Script]) -> Script:
    numbers = [n for n, step in enumerate(script.steps) if step.references or _literals(step)]
    if not numbers:
        return script
    number = draw.choice(numbers)
    step, by = script.steps[number], draw.choice((-1, 1))
    literals = _literals(step)
    if step.references and (not literals or draw.random() < 0.5):
        place = draw.randrange(len(step.references))
        reference = step.references[place]
        changed = with_reference(step, place, replace(reference, plus=reference.plus + by))
    else:
        path, value = draw.choice(literals)
        changed = replace(step, wire=_with(step.wire, path, value + by))
    return with_step(script, number, changed)


def _literals(step: Step) -> list[tuple[str, int]]:
    """The integers of a role that stand in the frame itself."""
    try:
        body = decode_request(step.wire[SIZE:]).body
    except ValueError:
        return []
    carried = {reference.into for reference in step.references}
    found = [
        (spell(path), value)
        for path, value in leaves(body)
        if path[-1] in (*IDS, *KEPT_BY_CLIENTS) and isinstance(value, int)
    ]
    return [(path, value) for path, value in found if path not in carried]


def _with(wire: bytes, path: str, value: Any) -> bytes:
    def change(_key: int, _version: int, body: Struct) -> None:
        with suppress(PathError):
            put_at(body, path, value)

    return within_body(wire, change)
