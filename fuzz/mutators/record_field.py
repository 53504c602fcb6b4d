"""Change one field of one record; its length, the batch's and the CRC are right around it."""

from __future__ import annotations

import random
from typing import Any

from touchstone.fuzz.layers import Opened, edges, stored, within_batch
from touchstone.reference_impl.wire.records.batch import (
    BatchHeader,
    Record,
    decode_records,
    encode_records,
)

LAYER = "record"
CHOICES: dict[str, tuple[Any, ...]] = {
    "offset_delta": tuple(edges("int32")),
    "timestamp_delta": tuple(edges("int64")),
    "key": (None, b"", b"k" * 1000),
    "value": (None, b"", b"v" * 1000),
    "headers": ((), ((b"", None),), (("h", b"v"), ("h", b"v")), ((b"\xff\xfe", b""),)),
    "attributes": (1, 2, 0x7F, 0x80, 0xFF),
}


def change(opened: Opened, draw: random.Random) -> bytes:
    return within_batch(opened, draw, _change)


def _change(header: BatchHeader, payload: bytes, draw: random.Random) -> bytes:
    records: list[Record] = decode_records(payload, header.records_count, strict=False)
    index = draw.randrange(len(records))
    name = draw.choice(tuple(CHOICES))
    values = [value for value in CHOICES[name] if value != getattr(records[index], name)]
    records[index] = records[index]._replace(**{name: draw.choice(values)})
    return stored(header, encode_records(records))
