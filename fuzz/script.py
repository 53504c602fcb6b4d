"""A case of several steps: which frames go out, over which connections, with values that earlier
answers brought.

A frame stands as bytes, so every mutator of a frame works on a step, and a case of one frame is a
script of one step. What only the target can say (a member id, a producer id, the id of a topic or a
fetch session) is a Reference: it is put into the decoded body just before the step is sent, and all
lengths around it are made right. Where no answer brought it, or the frame cannot be opened, the
frame goes out as it stands. Pure: who sends is somebody else.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from touchstone.fuzz.layers import within_body
from touchstone.harness.model.path import PathError, get, parse, spell
from touchstone.reference_impl.wire.schema import Struct


@dataclass(frozen=True)
class Reference:
    """A value of an earlier answer that a request carries.

    `into` and `out_of` are paths (harness.model.path): the place in this step's body, and the place
    in the body of the answer to step number `step` (from 0, as the script counts).
    """

    into: str
    step: int
    out_of: str


@dataclass(frozen=True)
class Step:
    """One frame, size included, as it goes out where no reference is known; over connection number
    `connection` of the script's own (from 0), opened when it is first named. `faults` are the names
    of the mutators that changed it.
    """

    wire: bytes
    connection: int = 0
    references: tuple[Reference, ...] = ()
    faults: tuple[str, ...] = ()


@dataclass(frozen=True)
class Script:
    """Steps in the order in which they are sent; each is answered before the next one goes out."""

    steps: tuple[Step, ...]


def filled(step: Step, answers: Mapping[int, Struct]) -> bytes:
    """The frame with what `answers` (decoded bodies by number of step) say put in."""
    if not step.references:
        return step.wire

    def put(_key: int, _version: int, body: Struct) -> None:
        for reference in step.references:
            with suppress(PathError, KeyError):
                put_at(body, reference.into, get(answers[reference.step], reference.out_of))

    return within_body(step.wire, put)


def put_at(body: Struct, path: str, value: object) -> None:
    """Set what stands at a path. Raises PathError where its holder does not exist."""
    *way, last = parse(path)
    holder: Any = get(body, spell(way)) if way else body
    try:
        holder[last]
    except (LookupError, TypeError):
        raise PathError(path, spell(way), f"no {last!r}") from None
    holder[last] = value
