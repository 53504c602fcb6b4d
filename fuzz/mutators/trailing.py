"""Append bytes behind a whole message, inside the frame."""

from __future__ import annotations

import random

from touchstone.fuzz.mutators import SIZE, frame

LAYER = "bytes"


def mutate(wire: bytes, draw: random.Random) -> bytes:
    return frame(wire[SIZE:] + draw.randbytes(draw.choice((1, 5, 64))))
