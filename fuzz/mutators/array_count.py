"""Lie about how many elements one array has; the elements are there as they were."""

from __future__ import annotations

import random

from touchstone.fuzz.layers import NothingHere, Opened
from touchstone.fuzz.pieces import COUNT, every, join, pieces_of, size_of, sizes_near, with_size

LAYER = "body"


def change(opened: Opened, draw: random.Random) -> bytes:
    pieces = pieces_of(opened.message, opened.version, opened.body)
    held = [piece for piece in every(pieces) if piece.kind == COUNT]
    if not held:
        raise NothingHere
    piece = draw.choice(held)
    piece.data = with_size(piece, sizes_near(size_of(piece), draw))
    return opened.around(join(pieces))
