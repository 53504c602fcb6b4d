"""Finding records by their timestamps: what ListOffsets asks of a log's segments.

Timestamps do not go up with offsets, so "the first as new as" means the first by offset (META-02,
META-03), and the newest is the first of those that share the largest timestamp (KIP-734).

Sources: LogSegment.findOffsetByTimestamp, UnifiedLog.fetchOffsetByTimestamp at 2.8.2 to 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from touchstone.reference_impl.log.segment import Segment, Stored
from touchstone.reference_impl.wire.records import batch as v2
from touchstone.reference_impl.wire.records import convert

NO_OFFSET = NO_TIMESTAMP = -1


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
        epoch = int.from_bytes(data[12:16], "big", signed=True)
    for record in convert.records_of(data, 0, magic):
        if record.timestamp >= timestamp and record.offset >= log_start:
            return TimestampAndOffset(record.timestamp, record.offset, epoch)
    return None
