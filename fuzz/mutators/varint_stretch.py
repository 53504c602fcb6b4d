"""Replace one byte with a varint that is over-long, negative as an int, or over five bytes."""

from __future__ import annotations

import random

from touchstone.fuzz.mutators import SIZE, frame, position

VARINTS = tuple(
    bytes.fromhex(text)
    for text in ("8000", "8080808000", "ffffffff0f", "ffffffff7f", "ffffffffff01", "ff" * 10)
)

LAYER = "bytes"


def mutate(wire: bytes, draw: random.Random) -> bytes:
    at = position(wire, draw)
    return frame(wire[SIZE:at] + draw.choice(VARINTS) + wire[at + 1 :])
