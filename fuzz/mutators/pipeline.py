"""Send the frame several times in one segment, perhaps with the start of another one behind."""

from __future__ import annotations

import random

from touchstone.fuzz.mutators import SIZE

LAYER = "frame"


def mutate(wire: bytes, draw: random.Random) -> bytes:
    again = wire * draw.randint(1, 3)
    if draw.random() < 0.5:
        return again + wire[: SIZE + draw.randrange(3)]
    return again
