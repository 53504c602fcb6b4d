"""`.snapshot`: every producer id a log knows, as of the offset in the file's name.

Only the last batch of each is kept, so a restarted broker tells one duplicate per producer, not
five. Version 1 is what all releases from 1.0.2 to 4.3.1 write (the schema of 4.3.1 knows no other).
The CRC-32C covers everything behind it.

Sources: ProducerStateManager at 1.0.2 and 4.3.1, ProducerSnapshot.json; APPEND-17, LOG-11.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import NamedTuple

from touchstone.reference_impl.wire.records.crc import crc32c

from .errors import FileFormatError

VERSION = 1
_HEAD = Struct(">hI")
_COUNT = Struct(">i")
_ENTRY = Struct(">qhiqiqiq")
_COVERED_AT = _HEAD.size


class KnownProducer(NamedTuple):
    producer_id: int
    epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int  # last offset minus first offset of that batch
    timestamp: int
    coordinator_epoch: int
    transaction_start: int  # first offset of its open transaction, or -1


def encode(producers: Iterable[KnownProducer]) -> bytes:
    entries = [_ENTRY.pack(*producer) for producer in producers]
    covered = _COUNT.pack(len(entries)) + b"".join(entries)
    return _HEAD.pack(VERSION, crc32c(covered)) + covered


def decode(data: bytes) -> list[KnownProducer]:
    if len(data) < _COVERED_AT + _COUNT.size:
        raise FileFormatError(len(data), "too short for a producer snapshot")
    version, crc = _HEAD.unpack_from(data)
    if version != VERSION:
        raise FileFormatError(0, f"version {version} of a producer snapshot is unknown")
    computed = crc32c(data[_COVERED_AT:])
    if crc != computed:
        raise FileFormatError(2, f"stored crc {crc}, computed crc {computed}")
    (count,) = _COUNT.unpack_from(data, _COVERED_AT)
    start = _COVERED_AT + _COUNT.size
    if count < 0 or len(data) - start != count * _ENTRY.size:
        raise FileFormatError(_COVERED_AT, f"{count} producers in {len(data) - start} bytes")
    return [KnownProducer(*fields) for fields in _ENTRY.iter_unpack(data[start:])]
