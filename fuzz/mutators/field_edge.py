"""Set one field of the body to an edge of its type; every length around it stays right."""

from __future__ import annotations

import random
from typing import Any

from touchstone.fuzz.layers import WIDTHS, NothingHere, Opened, edges, is_scalar, places
from touchstone.reference_impl.wire.schema import Field

LAYER = "body"
TEXTS = (
    "", "x", ".", "..", "a b", "\0", "\u00e9", "\u4e2d", "x" * 249, "x" * 250, "x" * 3000, "/",
    "\udcff\udcfe",  # bytes that are not UTF-8
)  # fmt: skip
OTHERS: dict[str, tuple[Any, ...]] = {
    "bool": (0, 1, 2, 0x7F, 0xFF),
    "float64": (0.0, -0.0, -1.0, 5e-324, 1.7e308, float("inf"), float("-inf"), float("nan")),
    "string": TEXTS,
    "bytes": (b"", b"\0", b"\xff" * 16, bytes(1000)),
    "uuid": (bytes(16), bytes(15) + b"\1", b"\xff" * 16),
}


def change(opened: Opened, draw: random.Random) -> bytes:
    everything = places(opened.message, opened.version, opened.body)
    scalars = [place for place in everything if is_scalar(place)]
    if not scalars:
        raise NothingHere
    holder, name, row = draw.choice(scalars)
    values = [value for value in of_type(row, opened.version) if value != holder[name]]
    holder[name] = draw.choice(values)
    return opened.closed()


def of_type(row: Field, version: int) -> list[Any]:
    """What may be tried in a field."""
    nullable = row.is_nullable(version) and not row.is_array
    return [*of_element(row), None] if nullable else of_element(row)


def of_element(row: Field) -> list[Any]:
    """Return the edges of the field's type, of an array those of its elements."""
    return edges(row.element) if row.element in WIDTHS else list(OTHERS[row.element])
