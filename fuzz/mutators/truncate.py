"""Cut the body short and say so in the size: the frame is whole, the message is not."""

from __future__ import annotations

import random

from touchstone.fuzz.mutators import SIZE, frame

LAYER = "bytes"


def mutate(wire: bytes, draw: random.Random) -> bytes:
    return frame(wire[SIZE : draw.randrange(SIZE, max(SIZE + 1, len(wire)))])
