"""Fewer batches in a records field, fewer records in a batch, simpler ones, a plainer header.

What the header says wrongly (its length, its CRC, the count of records, the last offset) stays
wrong by as much as it was, so a fault of the header outlives the records that it lied about.
Batches of magic 2 only; older message sets stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

from touchstone.fuzz.layers import MAGIC_OF_BATCHES, MOST_BYTES
from touchstone.fuzz.minimise.search import smallest
from touchstone.reference_impl.wire.records import CompressionError, RecordError, compress, entries
from touchstone.reference_impl.wire.records.batch import (
    CODEC_MASK,
    CRC_AT,
    HEADER,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC_AT,
    BatchHeader,
    Record,
    decode_record,
    encode_records,
    payload_of,
)

Puts = Callable[[bytes], bool]  # whether the complaint holds with these records in the field
LENGTH = slice(8, 12)
CRC = slice(CRC_AT, CRC_AT + 4)
PLAIN: dict[str, Any] = {
    "base_offset": 0, "partition_leader_epoch": -1, "attributes": 0, "base_timestamp": 0,
    "max_timestamp": 0, "producer_id": -1, "producer_epoch": -1, "base_sequence": -1,
}  # fmt: skip
"""A batch's header as the plainest producer writes it."""
SIMPLE: dict[str, tuple[Any, ...]] = {
    "headers": ((),), "key": (None,), "value": (None, b""), "timestamp_delta": (0,),
    "attributes": (0,),
}  # fmt: skip
"""A record's fields with their simple values, the simplest first."""


@dataclass(frozen=True)
class OpenBatch:
    """A batch as parts: by how much its length, CRC, count and last offset lie, its records, and
    what stands behind the last one that can be read (no records: the payload as it is stored).
    """

    header: BatchHeader
    records: tuple[Record, ...]
    rest: bytes
    length_lie: int
    crc_lie: int  # exclusive or of the CRC that stands there and the right one
    count_lie: int
    last_lie: int

    def encode(self) -> bytes:
        count = len(self.records)
        header = self.header
        if count:
            header = header._replace(
                records_count=_int32(count + self.count_lie),
                last_offset_delta=_int32(self.records[-1].offset_delta + self.last_lie),
            )
        payload = encode_records(self.records) + self.rest
        codec = header.attributes & CODEC_MASK
        batch = bytearray(header.encode(compress(codec, payload) if count and codec else payload))
        crc = int.from_bytes(batch[CRC], "big") ^ self.crc_lie
        batch[CRC] = crc.to_bytes(4, "big")
        length = _int32(len(batch) - LOG_OVERHEAD + self.length_lie)
        batch[LENGTH] = length.to_bytes(4, "big", signed=True)
        return bytes(batch)


def opened(batch: bytes) -> OpenBatch | None:
    """The parts of one whole batch; None where it is too short, or of an older format."""
    if len(batch) < HEADER_SIZE or batch[MAGIC_AT] < MAGIC_OF_BATCHES:
        return None
    header = BatchHeader._make(HEADER.unpack_from(batch))
    stored = batch[HEADER_SIZE:]
    records, rest = _readable(batch, header, stored)
    right = header.encode(stored)
    return OpenBatch(
        header,
        records,
        rest,
        header.batch_length - (len(batch) - LOG_OVERHEAD),
        header.crc ^ int.from_bytes(right[CRC], "big"),
        header.records_count - len(records),
        header.last_offset_delta - (records[-1].offset_delta if records else 0),
    )


def _readable(batch: bytes, header: BatchHeader, stored: bytes) -> tuple[tuple[Record, ...], bytes]:
    """The records that can be read, however many the header claims, and the bytes behind them."""
    real = header._replace(batch_length=len(batch) - LOG_OVERHEAD)
    try:
        payload = payload_of(batch, 0, real, MOST_BYTES)
    except (RecordError, CompressionError, ValueError):
        return (), stored
    records: list[Record] = []
    at = 0
    while at < len(payload):
        try:
            record, end = decode_record(payload, at)
        except RecordError:
            break
        if encode_records([record]) != payload[at:end]:
            break  # what it says in an odd way would be said in the usual one
        records.append(record)
        at = end
    return (tuple(records), payload[at:]) if records else ((), stored)


def simpler(records: bytes, puts: Puts) -> None:
    """Make the records of a field simpler, as long as `puts` says that the complaint holds."""
    pieces = split(records)
    if len(pieces) > 1:
        pieces = smallest(pieces, lambda kept: bool(kept) and puts(b"".join(kept)))
    for at in range(len(pieces)):
        before, behind = b"".join(pieces[:at]), b"".join(pieces[at + 1 :])
        pieces[at] = _simpler_piece(pieces[at], partial(_puts_between, puts, before, behind))


def _puts_between(puts: Puts, before: bytes, behind: bytes, fresh: bytes) -> bool:
    return puts(before + fresh + behind)


def _simpler_piece(piece: bytes, puts: Puts) -> bytes:
    batch = opened(piece)
    if batch is None or not puts(batch.encode()):
        return piece
    return _simplest(batch, lambda one: puts(one.encode())).encode()


def split(records: bytes) -> list[bytes]:
    """The batches, then what is none."""
    ends = [0]
    with suppress(RecordError):
        ends += [at + size for at, size, _ in entries(records)]
    pieces = [records[start:end] for start, end in pairwise(ends)]
    return pieces + ([records[ends[-1] :]] if records[ends[-1] :] else [])


def _simplest(batch: OpenBatch, holds: Callable[[OpenBatch], bool]) -> OpenBatch:
    best = batch

    def accepts(candidate: OpenBatch) -> bool:
        nonlocal best
        if holds(candidate):
            best = candidate
            return True
        return False

    _plainer_header(best, accepts)
    if len(best.records) > 1:
        whole = best
        smallest(
            whole.records,
            lambda kept: bool(kept) and any(
                accepts(replace(whole, records=one)) for one in (_counted(kept), tuple(kept))
            ),
        )  # fmt: skip
    for number in range(len(best.records)):
        for name, values in SIMPLE.items():
            for value in values:
                if getattr(best.records[number], name) == value:
                    break
                if accepts(_with_record(best, number, name, value)):
                    break
    if best.rest:
        whole = best
        smallest(range(len(whole.rest)), lambda kept: accepts(
            replace(whole, rest=bytes(whole.rest[at] for at in kept))
        ))  # fmt: skip
    return best


def _plainer_header(batch: OpenBatch, accepts: Callable[[OpenBatch], bool]) -> None:
    odd = [name for name, plain in PLAIN.items() if getattr(batch.header, name) != plain]

    def enough(staying: list[str]) -> bool:
        plain = {name: PLAIN[name] for name in odd if name not in staying}
        return accepts(replace(batch, header=batch.header._replace(**plain)))

    smallest(odd, enough)


def _counted(records: list[Record]) -> tuple[Record, ...]:
    """The records with offset deltas that count from 0."""
    return tuple(record._replace(offset_delta=at) for at, record in enumerate(records))


def _with_record(batch: OpenBatch, number: int, name: str, value: Any) -> OpenBatch:
    record = batch.records[number]._replace(**{name: value})
    return replace(batch, records=(*batch.records[:number], record, *batch.records[number + 1 :]))


def _int32(value: int) -> int:
    """Within what a field of the header holds."""
    return max(-(2**31), min(2**31 - 1, value))
