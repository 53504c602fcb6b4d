"""Which field means what: the rows of `roles.toml`, looked up for a field.

A schema says how bytes lie, not what they mean. The overlay is data of ours beside it, so that a
new field is a row and no code. The most exact row counts: one with the API's name goes before one
without, a longer path before a shorter one.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from touchstone.fuzz.roles import WHOLE, BadRole, Role, one_of, role_named
from touchstone.reference_impl.wire.apis import API

MADE_OF_FIELDS = "made_of_fields"
MARKS = ("always_null", "never_null", "always_empty", "never_empty")


@dataclass(frozen=True)
class Impossible:
    """An API that a plain broker always refuses: the error codes, and why."""

    codes: tuple[int, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Rule:
    """What the overlay says of one field; `whole`: the role draws all of an array or a struct."""

    role: Role | None
    whole: bool
    always_null: bool
    never_null: bool
    always_empty: bool
    never_empty: bool


class Overlay:
    """The rows of roles.toml by direction, with roles resolved to functions."""

    def __init__(self, path: Path) -> None:
        rows = tomllib.loads(path.read_text())
        self.fields = {name: resolved(name, value) for name, value in rows["fields"].items()}
        self.responses = {name: resolved(name, value) for name, value in rows["responses"].items()}
        self.whole = {
            name
            for table in (rows["fields"], rows["responses"])
            for name, value in table.items()
            if value == [] or (isinstance(value, str) and value in WHOLE)
        }
        self.marks = {mark: set(rows[mark]) for mark in MARKS}
        self.impossible = {
            API.named(name).key: Impossible(tuple(row["codes"]), row["reason"])
            for name, row in rows["impossible"].items()
        }

    def row(self, key: int, path: str, *, response: bool) -> str | None:
        """The name of the row for a field: the most exact one there is."""
        tables = (self.responses, self.fields) if response else (self.fields,)
        for table in tables:
            for name in spellings(key, path):
                if name in table:
                    return name
        return None

    def marked(self, mark: str, key: int, path: str) -> bool:
        """Whether a row of the lists (always_null ...) is about this field."""
        return any(name in self.marks[mark] for name in spellings(key, path))

    def rule(self, key: int, path: str, *, response: bool) -> Rule:
        """All that the rows say of a field."""
        name = self.row(key, path, response=response)
        table = self.responses if response and name in self.responses else self.fields
        role = None if name is None else table[name]
        said = {mark: self.marked(mark, key, path) for mark in MARKS}
        return Rule(role, name in self.whole, **said)


@cache
def spellings(key: int, path: str) -> tuple[str, ...]:
    """How a row may name a field, the most exact spelling first."""
    name, parts = API[key].name, path.split(".")
    ends = [".".join(parts[start:]) for start in range(len(parts))]
    return tuple([f"{name}.{end}" for end in ends] + ends)


def resolved(name: str, value: str | list[Any]) -> Role | None:
    """The drawing function of a row; None for a field that is made of its own fields.

    Raises BadRole.
    """
    if isinstance(value, list):
        return one_of(value) if value else lambda subject: []
    if value == MADE_OF_FIELDS:
        return None
    try:
        return role_named(value)
    except BadRole as problem:
        raise BadRole(f"{name}: {problem}") from None


@cache
def overlay() -> Overlay:
    """The overlay of this package."""
    return Overlay(Path(__file__).parent / "roles.toml")


@cache
def rule_of(key: int, path: str, *, response: bool = False) -> Rule:
    """What the overlay says of a field of this API's requests, or responses."""
    return overlay().rule(key, path, response=response)
