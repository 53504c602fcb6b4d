"""Repeat a run of bytes: counts no longer match their elements, and entries come twice."""

from __future__ import annotations

import random

from touchstone.fuzz.mutators import SIZE, frame, position

LAYER = "bytes"


def mutate(wire: bytes, draw: random.Random) -> bytes:
    at = position(wire, draw)
    end = min(len(wire), at + draw.randint(1, 64))
    return frame(wire[SIZE:end] + wire[at:end] * draw.randint(1, 8) + wire[end:])
