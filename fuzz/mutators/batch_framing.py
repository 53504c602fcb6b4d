"""Lie about where a record batch ends, or of which format it is; the CRC is right for the rest."""

from __future__ import annotations

import random

from touchstone.fuzz.layers import Opened, stored, within_batch
from touchstone.reference_impl.wire.records.batch import HEADER_SIZE, LOG_OVERHEAD, BatchHeader

LAYER = "batch framing"
LENGTH_AT, LENGTH_END = 8, 12  # outside the CRC, as the magic is
LEAST = HEADER_SIZE - LOG_OVERHEAD
MAGICS = (-128, -1, 0, 1, 3, 127)


def change(opened: Opened, draw: random.Random) -> bytes:
    return within_batch(opened, draw, _change)


def _change(header: BatchHeader, payload: bytes, draw: random.Random) -> bytes:
    batch = stored(header, payload)
    if draw.random() < 0.3:
        return header._replace(magic=draw.choice(MAGICS)).encode(batch[HEADER_SIZE:])
    real = len(batch) - LOG_OVERHEAD
    length = draw.choice((-1, 0, LEAST - 1, LEAST, real - 1, real + 1, 2**31 - 1))
    lie = length.to_bytes(LENGTH_END - LENGTH_AT, "big", signed=True)
    return batch[:LENGTH_AT] + lie + batch[LENGTH_END:]
