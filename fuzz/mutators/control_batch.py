"""Make a batch a control batch, with a control record whose key or value is at an edge."""

from __future__ import annotations

import random

from touchstone.fuzz.layers import Opened, within_batch
from touchstone.reference_impl.wire.records.batch import BatchHeader, Record, encode_batch

LAYER = "control"
TYPES = (0, 1, 2, 3, 4, 5, 6, 7, -1, 32767)
VERSIONS = (0, 1, -1, 32767)


def change(opened: Opened, draw: random.Random) -> bytes:
    return within_batch(opened, draw, _change)


def _change(header: BatchHeader, payload: bytes, draw: random.Random) -> bytes:
    version, kind = draw.choice(VERSIONS), draw.choice(TYPES)
    key = version.to_bytes(2, "big", signed=True) + kind.to_bytes(2, "big", signed=True)
    epoch = draw.choice((0, -1, 2**31 - 1)).to_bytes(4, "big", signed=True)
    value = draw.choice(VERSIONS).to_bytes(2, "big", signed=True) + epoch
    one = Record(
        0, 0, draw.choice((key, key, key[:3], b"", None, key + b"more")),
        draw.choice((value, value, value[:5], b"", None, value + b"more")),
    )  # fmt: skip
    return encode_batch(
        [one] * draw.choice((1, 1, 1, 2)), base_timestamp=header.base_timestamp,
        base_offset=header.base_offset, partition_leader_epoch=header.partition_leader_epoch,
        producer_id=header.producer_id, producer_epoch=header.producer_epoch,
        transactional=header.transactional, control=True,
    )  # fmt: skip
