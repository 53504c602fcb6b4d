"""Flip one bit behind the header, so that exactly one value is off by a power of two."""

from __future__ import annotations

import random

from touchstone.fuzz.mutators import position

LAYER = "bytes"


def mutate(wire: bytes, draw: random.Random) -> bytes:
    at = position(wire, draw)
    return wire[:at] + bytes([wire[at] ^ (1 << draw.randrange(8))]) + wire[at + 1 :]
