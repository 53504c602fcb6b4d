"""Overwrite 2, 4 or 8 bytes with a boundary integer: a length, count, offset or id goes extreme."""

from __future__ import annotations

import random

from touchstone.fuzz.mutators import EDGES, FIXED_HEADER

LAYER = "bytes"
WIDTHS = (2, 4, 8)


def mutate(wire: bytes, draw: random.Random) -> bytes:
    fitting = [width for width in WIDTHS if len(wire) >= FIXED_HEADER + width]
    width = draw.choice(fitting or WIDTHS)
    start = min(FIXED_HEADER, max(0, len(wire) - width))
    at = draw.randrange(start, max(start + 1, len(wire) - width + 1))
    value = draw.choice(EDGES) & (2 ** (8 * width) - 1)
    return (wire[:at] + value.to_bytes(width, "big") + wire[at + width :])[: len(wire)]
