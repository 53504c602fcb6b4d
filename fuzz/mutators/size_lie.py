"""Lie in the size prefix: negative, zero, above the limit, or one off what really follows."""

from __future__ import annotations

import random

from touchstone.fuzz.mutators import SIZE

LAYER = "frame"


def mutate(wire: bytes, draw: random.Random) -> bytes:
    real = len(wire) - SIZE
    # One more than what follows leaves the peer waiting for the rest, as it should: the runner sees
    # that the wire does not end with a frame and closes its half instead of sending a probe.
    size = draw.choice((-1, -(2**31), 0, 1, 3, 7, 8, real - 1, real + 1, 104857601, 2**31 - 1))
    return size.to_bytes(SIZE, "big", signed=True) + wire[SIZE:]
