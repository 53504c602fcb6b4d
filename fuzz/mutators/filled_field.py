"""Fill a struct or an array that is null or empty, and set one field within it to an edge."""

from __future__ import annotations

import random
from typing import Any

from touchstone.fuzz.layers import NothingHere, Opened, places
from touchstone.fuzz.mutators.field_edge import of_element, of_type
from touchstone.reference_impl.wire.schema import Field, Struct, fields_of

LAYER = "body"


def change(opened: Opened, draw: random.Random) -> bytes:
    empty = [
        (holder, name, row)
        for holder, name, row in places(opened.message, opened.version, opened.body)
        if isinstance(holder, dict) and holder[name] in (None, []) and can_be_filled(row)
    ]
    if not empty:
        raise NothingHere
    holder, name, row = draw.choice(empty)
    if row.element != "struct":
        holder[name] = [draw.choice(of_element(row))]
        return opened.closed()
    one = struct_with_an_edge(row, opened.version, draw)
    holder[name] = [one] if row.is_array else one
    return opened.closed()


def can_be_filled(row: Field) -> bool:
    return row.is_array or row.element == "struct"


def struct_with_an_edge(row: Field, version: int, draw: random.Random) -> Struct:
    """Return a struct of defaults, with an edge in a field of it or of a struct within."""
    rows = fields_of(row.fields, version)
    made: dict[str, Any] = {each.name: each.default_value(version) for each in rows}
    if not rows:
        return made
    chosen = draw.choice(rows)
    if chosen.element == "struct":
        inner = struct_with_an_edge(chosen, version, draw)
        made[chosen.name] = [inner] if chosen.is_array else inner
    elif chosen.is_array:
        made[chosen.name] = [draw.choice(of_element(chosen))]
    elif chosen.type != "records":
        made[chosen.name] = draw.choice(of_type(chosen, version))
    return made
