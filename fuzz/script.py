"""A case of several steps: which frames go out, over which connections, with values that earlier
answers brought, and what the answers must be where that is known.

A frame stands as bytes, so every mutator of a frame works on a step, and a case of one frame is a
script of one step. What only the target can say (a member id, a producer id, the id of a topic or a
fetch session) is a Reference: it is put into the decoded body just before the step is sent, and all
lengths and checksums around it are made right. Where no answer brought it, or the frame cannot be
opened, the frame goes out as it stands. Pure: who sends is somebody else.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from touchstone.fuzz.layers import within_body
from touchstone.harness.model.path import PathError, get, parse, spell
from touchstone.reference_impl.wire.records.batch import (
    HEADER_SIZE,
    LOG_OVERHEAD,
    BatchHeader,
    read_header,
)
from touchstone.reference_impl.wire.schema import Struct


@dataclass(frozen=True)
class Reference:
    """A value of an earlier answer that a request carries.

    `into` and `out_of` are paths (harness.model.path): the place in this step's body, and the place
    in the body of the answer to step number `step` (from 0, as the script counts). Behind the bytes
    of a record batch a path may go on with a field of its header, `...records.producer_id`. `plus`
    is added to an integer; a value of another type is put in as it came.
    """

    into: str
    step: int
    out_of: str
    plus: int = 0


@dataclass(frozen=True)
class Expected:
    """What the answer to a step must be.

    `codes` are error codes, one of which the answer carries (`fuzz.sequences.judge.code_of`); none:
    the target closes the connection instead. `values` are paths of the answer and what stands
    there; `equal` are paths (`into`) and the earlier answers' values that stand there. A step that
    is `held` is not answered before a later one `releases` it; where none does, never.
    """

    codes: tuple[int, ...] = (0,)
    values: tuple[tuple[str, Any], ...] = ()
    equal: tuple[Reference, ...] = ()
    held: bool = False
    releases: int | None = None  # the number of an earlier, held step


@dataclass(frozen=True)
class Step:
    """One frame, size included, as it goes out where no reference is known; over connection number
    `connection` of the script's own (from 0), opened when it is first named. `faults` are the names
    of the mutators that changed it. `note` says in words what it is. While the answer carries one
    of the error codes `again`, or does not show what is expected where the step is sent `until` it
    does, it is sent again. `delay_ms` pass before it is sent.
    """

    wire: bytes
    connection: int = 0
    references: tuple[Reference, ...] = ()
    faults: tuple[str, ...] = ()
    note: str = ""
    expected: Expected | None = None
    again: tuple[int, ...] = ()
    until: bool = False
    delay_ms: int = 0


@dataclass(frozen=True)
class Script:
    """Steps in the order in which they are sent; each is answered before the next one goes out,
    unless it may wait for others. `names` are those of groups and transactions that no earlier
    script may have used: `renamed` gives them others.
    """

    steps: tuple[Step, ...]
    names: tuple[str, ...] = ()


def filled(step: Step, answers: Mapping[int, Struct]) -> bytes:
    """The frame with what `answers` (decoded bodies by number of step) say put in."""
    if not step.references:
        return step.wire

    def put(_key: int, _version: int, body: Struct) -> None:
        for reference in step.references:
            with suppress(PathError, KeyError):
                put_at(body, reference.into, referenced_value(reference, answers))

    return within_body(step.wire, put)


def referenced_value(reference: Reference, answers: Mapping[int, Struct]) -> Any:
    """The value that a reference stands for. KeyError, PathError: there is none."""
    value = get(answers[reference.step], reference.out_of)
    return value + reference.plus if isinstance(value, int) else value


def put_at(body: Struct, path: str, value: object) -> None:
    """Set what stands at a path. Raises PathError where its holder does not exist."""
    *way, last = parse(path)
    holder: Any = get(body, spell(way)) if way else body
    if isinstance(holder, bytes | memoryview) and last in BatchHeader._fields:
        put_at(body, spell(way), with_header(bytes(holder), **{str(last): value}))
        return
    try:
        holder[last]
    except (LookupError, TypeError):
        raise PathError(path, spell(way), f"no {last!r}") from None
    holder[last] = value


def with_header(batch: bytes, **fields: Any) -> bytes:
    """The first record batch with other header fields, its CRC made right; the rest as it was."""
    end = LOG_OVERHEAD + read_header(batch, 0).batch_length
    header = read_header(batch, 0)._replace(**fields)
    return header.encode(batch[HEADER_SIZE:end]) + batch[end:]


def renamed(script: Script, ending: str) -> Script:
    """The same script with `ending` behind each of its names, wherever a body has one."""
    names = {name: name + ending for name in script.names}

    def rename(_key: int, _version: int, body: Struct) -> None:
        for name, value in body.items():
            body[name] = _renamed(value, names)

    steps = tuple(replace(step, wire=within_body(step.wire, rename)) for step in script.steps)
    return replace(script, steps=steps, names=tuple(names.values()))


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, dict):
        return {name: _renamed(inner, names) for name, inner in value.items()}
    if isinstance(value, list):
        return [_renamed(inner, names) for inner in value]
    return value
