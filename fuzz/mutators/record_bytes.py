"""Change bytes among a batch's records: lengths and varints lie, while the CRC is right."""

from __future__ import annotations

import random

from touchstone.fuzz.layers import Opened, stored, within_batch
from touchstone.reference_impl.wire.records import varint
from touchstone.reference_impl.wire.records.batch import BatchHeader

LAYER = "record framing"
NUMBERS = (-(2**31), -2, -1, 0, 1, 63, 64, 8191, 8192, 2**30, 2**31 - 1, 2**62)
STRETCHED = (b"\x80\x80\x80\x80\x00", b"\xff\xff\xff\xff\x7f", b"\xff" * 10)


def change(opened: Opened, draw: random.Random) -> bytes:
    return within_batch(opened, draw, _change)


def _change(header: BatchHeader, payload: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(payload)) if payload else 0
    here, behind = payload[:at], payload[at + 1 :]
    changed = draw.choice(
        (
            here + varint.encode(draw.choice(NUMBERS)) + behind,
            here + draw.choice(STRETCHED) + behind,
            here + bytes([draw.randrange(256)]) + behind,
            here,
            payload + payload[: at + 1],
            payload + bytes(draw.randint(1, 8)),
        )
    )
    return stored(header, changed)
