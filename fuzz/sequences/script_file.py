"""A script as a TOML file that people read and that plays again, byte for byte.

What a frame means stands above it as comments; the bytes are what counts, whatever becomes of our
codec. `[[steps]]` hold `wire` in hex, and beside it what a Step holds.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from touchstone.fuzz.cases import BadCase
from touchstone.fuzz.oracles import sent_frame
from touchstone.fuzz.script import Expected, Reference, Script, Step
from touchstone.fuzz.segments import SIZE
from touchstone.reference_impl.wire.headers import decode_request

LONGEST = 300  # characters of a body in a comment


def dumps(
    script: Script, *, story: tuple[str, ...] = (), head: dict[str, Any] | None = None
) -> str:
    lines = [*(f"# {line}" for line in story)]
    lines += [f"{name} = {toml(value)}" for name, value in (head or {}).items()]
    lines.append(f"names = {toml(list(script.names))}")
    for number, step in enumerate(script.steps):
        lines += ["", *_step(number, step)]
    return "\n".join(lines) + "\n"


def loads(text: str, source: str = "script") -> Script:
    """Raises BadCase naming what is wrong."""
    try:
        fields = tomllib.loads(text)
        steps = tuple(_read_step(row) for row in fields["steps"])
        return Script(steps, tuple(fields.get("names", ())))
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as problem:
        raise BadCase(f"{source}: no script: {problem}") from problem


def is_script(path: Path) -> bool:
    """Whether a file is a script: steps alone, or a finding of a campaign of scripts. One case and
    the findings of other campaigns have no names.
    """
    try:
        fields = tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return False
    return "steps" in fields and ("complaint" not in fields or "names" in fields)


def _step(number: int, step: Step) -> Iterator[str]:
    yield f"# {number}: {step.note or _meaning(step.wire, 80)}"
    yield f"# {_meaning(step.wire, LONGEST)}"
    yield "[[steps]]"
    yield f"wire = {toml(step.wire.hex())}"
    if step.connection:
        yield f"connection = {step.connection}"
    if step.references:
        yield f"references = {toml([asdict(one) for one in step.references])}"
    yield from fields_of(step)


def fields_of(step: Step) -> Iterator[str]:
    """What a step holds beside its bytes, its connection and its references."""
    fields: dict[str, Any] = {
        name: getattr(step, name) for name in ("faults", "note", "again", "until", "delay_ms")
    }
    if step.expected is not None:
        fields["expected"] = asdict(step.expected) | {
            "values": [[path, value] for path, value in step.expected.values],
            "equal": [asdict(one) for one in step.expected.equal],
        }
    for name, value in fields.items():
        if value not in (None, "", 0, False, (), []):
            yield f"{name} = {toml(value)}"


def _meaning(wire: bytes, longest: int) -> str:
    try:
        request = decode_request(wire[SIZE:])
    except ValueError as problem:
        return f"{len(wire)} bytes that are no request: {problem}".replace("\n", " ")
    sent = sent_frame(wire)
    text = f"key {sent.key} v{sent.version} {request.body}".replace("\n", " ")
    return text if len(text) <= longest else text[:longest] + "..."


def toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return f"{{hex = {toml(value.hex())}}}"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, dict):
        inner = (f"{name} = {toml(one)}" for name, one in value.items() if one is not None)
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml, value)) + "]"
    return str(value)


def _read_step(row: dict[str, Any]) -> Step:
    expected = None
    if "expected" in row:
        given = dict(row["expected"])
        expected = Expected(
            tuple(given.pop("codes", ())),
            tuple((path, _read(value)) for path, value in given.pop("values", ())),
            tuple(Reference(**one) for one in given.pop("equal", ())),
            **given,
        )
    return Step(
        bytes.fromhex(row["wire"]),
        row.get("connection", 0),
        tuple(Reference(**one) for one in row.get("references", ())),
        tuple(row.get("faults", ())),
        row.get("note", ""),
        expected,
        tuple(row.get("again", ())),
        row.get("until", False),
        row.get("delay_ms", 0),
    )


def _read(value: Any) -> Any:
    if isinstance(value, dict) and value.keys() == {"hex"}:
        return bytes.fromhex(value["hex"])
    return value
