"""Swap two stretches behind the header: valid pieces of the message in the wrong order."""

from __future__ import annotations

import random

from touchstone.fuzz.mutators import FIXED_HEADER, SIZE, frame, position

LAYER = "bytes"


def mutate(wire: bytes, draw: random.Random) -> bytes:
    if len(wire) <= FIXED_HEADER + 2:
        return wire
    first, second = sorted((position(wire, draw), position(wire, draw)))
    return frame(wire[SIZE:first] + wire[second:] + wire[first:second])
