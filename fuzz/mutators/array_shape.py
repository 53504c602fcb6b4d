"""Give one array no elements, none at all (null), an element twice, or a hundred of one."""

from __future__ import annotations

import copy
import random

from touchstone.fuzz.layers import is_array, places, within_body
from touchstone.reference_impl.wire.schema import Struct

MANY = 100


def mutate(wire: bytes, draw: random.Random) -> bytes:
    def change(key: int, version: int, body: Struct) -> None:
        arrays = [place for place in places(key, version, body) if is_array(place)]
        if not arrays:
            return
        holder, name, row = draw.choice(arrays)
        elements = holder[name]
        shapes: list[list[object] | None] = [None] if row.is_nullable(version) else []
        if elements:
            one = draw.choice(elements)
            shapes += [[], [*elements, copy.deepcopy(one)], [one] * MANY]
        if shapes:
            holder[name] = draw.choice(shapes)

    return within_body(wire, change)
