"""Put a fault into a block of tagged fields: unknown, repeated, descending, or a size that lies."""

from __future__ import annotations

import random

from touchstone.fuzz.layers import NothingHere, Opened
from touchstone.fuzz.pieces import TAGS, every, join, pieces_of, tag_faults

LAYER = "body"


def change(opened: Opened, draw: random.Random) -> bytes:
    pieces = pieces_of(opened.message, opened.version, opened.body)
    held = [piece for piece in every(pieces) if piece.kind == TAGS]
    if not held:
        raise NothingHere
    piece = draw.choice(held)
    piece.data = tag_faults(piece, draw)
    return opened.around(join(pieces))
