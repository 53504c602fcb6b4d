"""Replace one byte with a value that ends a varint, starts one, or turns a sign."""

from __future__ import annotations

import random

from touchstone.fuzz.mutators import position

BYTES = (0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF)

LAYER = "bytes"


def mutate(wire: bytes, draw: random.Random) -> bytes:
    at = position(wire, draw)
    return wire[:at] + bytes([draw.choice(BYTES)]) + wire[at + 1 :]
