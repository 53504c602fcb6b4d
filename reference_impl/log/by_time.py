"""Finding records by their timestamps: what ListOffsets asks of a log's segments.

Timestamps do not go up with offsets, so "the first as new as" means the first by offset (META-02,
META-03), and the newest is the first of those that share the largest timestamp (KIP-734).

Sources: LogSegment.findOffsetByTimestamp, UnifiedLog.fetchOffsetByTimestamp at 2.8.2 to 4.3.1.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from touchstone.reference_impl.log.segment import Segment, Stored
from touchstone.reference_impl.wire.records import batch as v2
from touchstone.reference_impl.wire.records import convert, varint
from touchstone.reference_impl.wire.records.check import wrapped
from touchstone.reference_impl.wire.records.errors import PayloadError, RecordError

NO_OFFSET = NO_TIMESTAMP = -1
_MANY, _LARGE = 1000, 1 << 16  # records, bytes of a batch of which only what is needed is read
_LEAST = -(1 << 63)


class TimestampAndOffset(NamedTuple):
    """An offset found by time."""

    timestamp: int
    offset: int
    leader_epoch: int


NOTHING_SO_NEW = TimestampAndOffset(NO_TIMESTAMP, NO_OFFSET, -1)


def first_as_new(segments: Iterable[Segment], timestamp: int, log_start: int) -> TimestampAndOffset:
    """The first record from `log_start` on that is as new as `timestamp`."""
    for segment in segments:
        if segment.largest_timestamp >= timestamp:
            for entry in segment.since(timestamp):
                found = _first_in(entry, timestamp, log_start)
                if found is not None:
                    return found
    return NOTHING_SO_NEW


def newest(segments: Iterable[Segment]) -> TimestampAndOffset:
    """The first record that has the largest timestamp of all."""
    best: Segment | None = None
    for segment in segments:
        if best is None or segment.largest_timestamp > best.largest_timestamp:
            best = segment
    if best is None or best.largest_timestamp == NO_TIMESTAMP:
        return NOTHING_SO_NEW
    return _first_in(best.newest(), best.largest_timestamp, 0) or NOTHING_SO_NEW


def _first_in(entry: Stored, timestamp: int, log_start: int) -> TimestampAndOffset | None:
    data = bytes(entry)
    magic = data[v2.MAGIC_AT]
    epoch = -1
    if magic == 2:
        header = v2.read_header(data)
        if _is_large(header, data):
            return _first_of_many(header, data, timestamp, log_start)
        epoch = header.partition_leader_epoch
    for record in convert.records_of(data, 0, magic):
        if record.timestamp >= timestamp and record.offset >= log_start:
            return TimestampAndOffset(record.timestamp, record.offset, epoch)
    return None


def _is_large(header: v2.BatchHeader, data: bytes) -> bool:
    """Whether going through all that each record has would take long; nobody says how many headers
    there are.
    """
    if header.records_count >= _MANY or len(data) > _LARGE:
        return True
    try:
        v2.payload_of(data, 0, header, _LARGE)
    except PayloadError:
        return True
    return False


def _first_of_many(
    header: v2.BatchHeader, data: bytes, timestamp: int, log_start: int
) -> TimestampAndOffset | None:
    first = log_start - header.base_offset
    risen = walk(data) if first <= 0 else _walked(header, data[v2.HEADER_SIZE :], first)
    if header.timestamp_type == v2.LOG_APPEND_TIME:
        at, found = 0, header.max_timestamp
        if found < timestamp or not risen.deltas:
            return None
    else:
        at = bisect_left(risen.timestamps, timestamp)
        if at == len(risen.timestamps):
            return None
        found = risen.timestamps[at]
    offset = header.base_offset + risen.deltas[at]
    return TimestampAndOffset(found, offset, header.partition_leader_epoch)


class Risen(NamedTuple):
    """Of a batch: each record that is newer than all before it, and how far behind the base."""

    timestamps: array[int]
    deltas: array[int]


def walk(data: bytes) -> Risen:
    """What lookups ask of a large batch of magic 2; known from then on for the last few, since it
    takes a second for a million records. Raise RecordError.
    """
    header = v2.read_header(data)
    plain = header._replace(base_offset=0, partition_leader_epoch=-1, crc=0, max_timestamp=0)
    return _known(plain._replace(attributes=header.compression), data[v2.HEADER_SIZE :])


@lru_cache(maxsize=8)
def _known(header: v2.BatchHeader, raw: bytes) -> Risen:
    return _walked(header, raw, 0)


def _walked(header: v2.BatchHeader, raw: bytes, first: int) -> Risen:
    """The records from offset delta `first` on. Of each only what stands in front is read."""
    payload = v2.payload_of(header.encode(raw, crc=0), 0, header)
    risen, read = Risen(array("q"), array("q")), varint.read
    newest, pos = _LEAST - 1, 0
    for _ in range(header.records_count):
        size, pos = read(payload, pos)
        if not 0 < size <= len(payload) - pos:
            raise RecordError(pos, f"Invalid record size: {size} bytes")
        stamp, after = read(payload, pos + 1, 64)
        pos += size
        stamp += header.base_timestamp
        if stamp > newest:
            delta, _ = read(payload, after)
            stamp = wrapped(stamp)
            if delta >= first and stamp > newest:
                newest = stamp
                risen.timestamps.append(stamp)
                risen.deltas.append(delta)
    return risen
