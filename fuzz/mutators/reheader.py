"""Keep the body and change what the header says it is: its API key, version or correlation id."""

from __future__ import annotations

import random

from touchstone.fuzz.mutators import FIXED_HEADER, SIZE

LAYER = "header"


def mutate(wire: bytes, draw: random.Random) -> bytes:
    if len(wire) < FIXED_HEADER:
        return wire
    key, version, correlation = wire[4:6], wire[6:8], wire[8:12]
    what = draw.randrange(3)
    if what == 0:
        key = draw.choice((*range(93), -1, 93, 32767)).to_bytes(2, "big", signed=True)
    elif what == 1:
        version = draw.choice((*range(20), -1, 99, 32767)).to_bytes(2, "big", signed=True)
    else:
        correlation = draw.choice((0, -1, 2**31 - 1, -(2**31))).to_bytes(4, "big", signed=True)
    return wire[:SIZE] + key + version + correlation + wire[FIXED_HEADER:]
