"""Give one array no elements, none at all (null), an element twice, or a hundred of one."""

from __future__ import annotations

import copy
import random

from touchstone.fuzz.layers import NothingHere, Opened, is_array, places

LAYER = "body"
MANY = 100


def change(opened: Opened, draw: random.Random) -> bytes:
    everything = places(opened.message, opened.version, opened.body)
    arrays = [place for place in everything if is_array(place)]
    if not arrays:
        raise NothingHere
    holder, name, row = draw.choice(arrays)
    elements = holder[name]
    shapes: list[list[object] | None] = [None] if row.is_nullable(opened.version) else []
    if elements:
        one = draw.choice(elements)
        shapes += [[], [*elements, copy.deepcopy(one)], [one] * MANY]
    if not shapes:
        raise NothingHere
    holder[name] = draw.choice(shapes)
    return opened.closed()
