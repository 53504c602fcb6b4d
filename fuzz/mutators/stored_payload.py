"""Break the compressed payload of a batch: cut, garbage, a bomb; the CRC is right."""

from __future__ import annotations

import random

from touchstone.fuzz.layers import Opened, within_batch
from touchstone.reference_impl.wire.records import compress
from touchstone.reference_impl.wire.records.batch import BatchHeader
from touchstone.reference_impl.wire.records.compression import GZIP, LZ4, SNAPPY, ZSTD

LAYER = "stored"
CODEC_BITS = 0x07
BOMB = bytes(1 << 20)


def change(opened: Opened, draw: random.Random) -> bytes:
    return within_batch(opened, draw, _change)


def _change(header: BatchHeader, payload: bytes, draw: random.Random) -> bytes:
    codec = header.compression or draw.choice((GZIP, SNAPPY, LZ4))
    header = header._replace(attributes=header.attributes & ~CODEC_BITS | codec)
    return header.encode(broken(compress(codec, payload), codec, draw))


def broken(packed: bytes, codec: int, draw: random.Random) -> bytes:
    """Not what a compressor writes."""
    at = draw.randrange(len(packed))
    return draw.choice(
        (
            packed[:at],
            packed[:at] + bytes([packed[at] ^ (1 << draw.randrange(8))]) + packed[at + 1 :],
            packed[:at] + b"\xff\xff\xff\x7f" + packed[at + 4 :],
            packed + packed[: at + 1],
            draw.randbytes(20),
            b"",
            compress(codec, BOMB[: 1 << draw.randrange(12, 21)]),
            *(compress(other, BOMB[:64]) for other in (GZIP, ZSTD) if other != codec),
        )
    )
