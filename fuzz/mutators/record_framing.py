"""Lie about one length or count within a record; the record's own length, the batch and the CRC
are right around it, unless the record's length is the lie.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from touchstone.fuzz.layers import Opened, stored, within_batch
from touchstone.reference_impl.wire.records import varint
from touchstone.reference_impl.wire.records.batch import (
    BatchHeader,
    Record,
    decode_records,
    encode_record,
)

LAYER = "record framing"
MOST = 2**31 - 1


@dataclass
class Part:
    """Some bytes of a record, and whether they say a length or a count (then `size`)."""

    data: bytes
    size: int | None = None


def change(opened: Opened, draw: random.Random) -> bytes:
    return within_batch(opened, draw, _change)


def _change(header: BatchHeader, payload: bytes, draw: random.Random) -> bytes:
    records = decode_records(payload, header.records_count, strict=False)
    index = draw.randrange(len(records))
    written = [encode_record(record) for record in records]
    written[index] = lying(records[index], draw)
    return stored(header, b"".join(written))


def lying(record: Record, draw: random.Random) -> bytes:
    """The record with one of its lengths or counts wrong."""
    parts = parts_of(record)
    sized = [part for part in parts if part.size is not None]
    at = draw.randrange(len(sized) + 1)
    if at < len(sized):
        sized[at].data = varint.encode(near(sized[at].size or 0, draw))
    body = b"".join(part.data for part in parts)
    return varint.encode(near(len(body), draw) if at == len(sized) else len(body)) + body


def near(size: int, draw: random.Random) -> int:
    return draw.choice((size - 1, size + 1, -1, -2, 0, size + 127, 2**30, MOST, -MOST - 1))


def parts_of(record: Record) -> list[Part]:
    """What stands in a record behind its own length."""
    parts = [
        Part(bytes([record.attributes & 0xFF])),
        Part(varint.encode(record.timestamp_delta) + varint.encode(record.offset_delta)),
        *sized(record.key),
        *sized(record.value),
        Part(varint.encode(len(record.headers)), len(record.headers)),
    ]
    for name, content in record.headers:
        raw = name.encode("utf-8", "surrogateescape") if isinstance(name, str) else name
        parts += [*sized(raw), *sized(content)]
    return parts


def sized(content: bytes | None) -> list[Part]:
    """A length and what it is of; -1 for null."""
    if content is None:
        return [Part(varint.encode(-1), -1)]
    return [Part(varint.encode(len(content)), len(content)), Part(content)]
