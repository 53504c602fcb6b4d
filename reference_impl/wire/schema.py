"""The shape language: what a message looks like, as data.

A schema is a tree of rows. A row says a field's name, in which versions it stands, its type, in
which versions it may be null, and whether it travels as a tagged field. Nothing here knows how
bytes look; `compiler` and `interpreter` read these rows and must agree about them.

One message has one tree for all its versions, because a version is a filter on rows: "which fields
has v7" is then a question to data, and a new version is an edit of rows (KIP-482 added the only
second dimension, flexible versions and tags).

Not here: Kafka's struct classes, listeners, entity types and map keys. They never reach the wire.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

ENDLESS = 32767  # versions travel as int16
FIXED = {  # struct codes of the types with one width; bool is a byte because odd values survive
    "bool": "B",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
    "uuid": "16s",
}
ZERO = {
    "bool": False,
    "float64": 0.0,
    "string": "",
    "bytes": b"",
    "records": b"",
    "uuid": bytes(16),
}


class _Unset:
    def __repr__(self) -> str:
        return "UNSET"


UNSET: Any = _Unset()

# A decoded message, or a struct within one: field name -> value. The schema says which.
Struct = dict[str, Any]


@cache
def span(versions: str) -> tuple[int, int]:
    """`"3-9"` -> (3, 9); `"3+"` is open above; `""` holds nothing."""
    if not versions:
        return (0, -1)
    low, dash, high = versions.partition("-")
    if dash:
        return (int(low), int(high))
    if low.endswith("+"):
        return (int(low[:-1]), ENDLESS)
    return (int(low), int(low))


def within(versions: str, version: int) -> bool:
    low, high = span(versions)
    return low <= version <= high


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One row. `type` is a primitive, "struct", or "[]" and one of these; a struct has `fields`."""

    name: str
    versions: str
    type: str
    fields: tuple[Field, ...] | list[Field] = ()
    nullable: str = ""
    tag: int | None = None
    tagged: str = ""  # the versions in which the tag counts, where they are fewer than `versions`
    default: Any = UNSET
    ignorable: bool = False

    @property
    def is_array(self) -> bool:
        return self.type.startswith("[]")

    @property
    def element(self) -> str:
        return self.type.removeprefix("[]")

    def is_tagged(self, version: int) -> bool:
        return self.tag is not None and within(self.tagged or self.versions, version)

    def is_nullable(self, version: int) -> bool:
        return within(self.nullable, version)

    def default_value(self, version: int | None = None) -> Any:
        """A fresh default; a struct's holds the defaults of its fields (of one version, or all)."""
        if self.default is not UNSET:
            return self.default
        if self.is_array:
            return []
        if self.type == "struct":
            rows = self.fields if version is None else fields_of(self.fields, version)
            return {child.name: child.default_value(version) for child in rows}
        return ZERO.get(self.type, 0)


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """A request, response, header or embedded record, for all versions at once."""

    name: str
    versions: str
    flexible: str
    fields: tuple[Field, ...] | list[Field]
    # compiled functions by version; filled by `codec` at first use
    encoders: dict[tuple[int, bool], Callable[..., Any]] = field(default_factory=dict, repr=False)
    decoders: dict[tuple[int, bool], Callable[..., Any]] = field(default_factory=dict, repr=False)

    def is_flexible(self, version: int) -> bool:
        return within(self.flexible, version)

    def has(self, version: int) -> bool:
        return within(self.versions, version)

    def all_versions(self) -> range:
        low, high = span(self.versions)
        return range(low, high + 1)


Rows = tuple[Field, ...] | list[Field]
_ROWS: dict[tuple[int, int], tuple[Rows, list[Field]]] = {}


def fields_of(fields: Rows, version: int) -> list[Field]:
    """The rows that stand in this version, in wire order; tagged ones included. Remembered, for
    whoever makes messages by the thousand: not to be changed.
    """
    place = id(fields), version
    known = _ROWS.get(place)
    if known is None or known[0] is not fields:
        known = _ROWS[place] = fields, [row for row in fields if within(row.versions, version)]
    return known[1]


def untagged(fields: tuple[Field, ...] | list[Field], version: int) -> list[Field]:
    return [row for row in fields_of(fields, version) if not row.is_tagged(version)]


def tagged(fields: tuple[Field, ...] | list[Field], version: int) -> list[Field]:
    """The tagged rows of this version, by ascending tag: the order they are written in."""
    rows = [row for row in fields_of(fields, version) if row.is_tagged(version)]
    return sorted(rows, key=lambda row: row.tag or 0)


def walk(fields: tuple[Field, ...] | list[Field], path: str = "") -> Iterator[tuple[str, Field]]:
    """Every row with its dotted path, parents first."""
    for row in fields:
        here = f"{path}.{row.name}" if path else row.name
        yield here, row
        yield from walk(row.fields, here)
