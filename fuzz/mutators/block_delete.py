"""Remove a run of bytes from the body, so that everything behind it is read at the wrong place."""

from __future__ import annotations

import random

from touchstone.fuzz.mutators import SIZE, frame, position

LAYER = "bytes"


def mutate(wire: bytes, draw: random.Random) -> bytes:
    at = position(wire, draw)
    return frame(wire[SIZE:at] + wire[at + draw.randint(1, 16) :])
