"""Break the checksum of one batch or message, of a batch of any codec; all else is right."""

from __future__ import annotations

import random

from touchstone.fuzz.layers import (
    MAGIC_OF_BATCHES,
    NothingHere,
    Opened,
    is_records,
    stored,
    within_batch,
    within_blob,
)
from touchstone.reference_impl.wire.records import entries
from touchstone.reference_impl.wire.records.batch import BatchHeader
from touchstone.reference_impl.wire.records.compression import ZSTD

LAYER = "checksum"
CODEC_BITS = 0x07
CRC_OF_A_BATCH, CRC_OF_A_MESSAGE = 17, 12
"""Where the four bytes of the checksum begin."""
FIRST_WITH_ZSTD = 7
"""The version of Produce (KIP-110); an older one is refused before its checksum is looked at."""


def change(opened: Opened, draw: random.Random) -> bytes:
    codecs = ZSTD + (opened.version >= FIRST_WITH_ZSTD)

    def _change(header: BatchHeader, payload: bytes, draw: random.Random) -> bytes:
        codec = draw.randrange(codecs)
        header = header._replace(attributes=header.attributes & ~CODEC_BITS | codec)
        return with_another(stored(header, payload), CRC_OF_A_BATCH, draw)

    try:
        return within_batch(opened, draw, _change)
    except NothingHere:
        return within_blob(opened, draw, is_records, lambda buf: _in_message(buf, draw))


def _in_message(buf: bytes, draw: random.Random) -> bytes:
    places = [at for at, _, magic in entries(buf) if magic < MAGIC_OF_BATCHES]
    if not places:
        raise NothingHere
    return with_another(buf, draw.choice(places) + CRC_OF_A_MESSAGE, draw)


def with_another(data: bytes, at: int, draw: random.Random) -> bytes:
    """Return the bytes with one bit of the checksum at this place changed."""
    at += draw.randrange(4)
    return data[:at] + bytes([data[at] ^ (1 << draw.randrange(8))]) + data[at + 1 :]
