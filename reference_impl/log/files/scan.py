"""Reads a segment's log from its first byte: what is whole, where it ends, what the indexes say.

This is recovery's pure half (LOG-09). A batch counts if its length fits, its checksum is right and
its last offset lies beyond the one before; at the first that fails, the log ends. First offsets may
step back: 1.0.2 stores a batch whose offset delta lies. The index entries are those that Kafka 4.3
writes while it appends: one when more than the interval lies behind the last entry (LOG-12), for
the last offset of the batch and the largest timestamp so far.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from mmap import mmap
from typing import NamedTuple, cast

from touchstone.reference_impl.wire.records import batch as v2
from touchstone.reference_impl.wire.records import check_crc, message_set, walk
from touchstone.reference_impl.wire.records.errors import RecordError

from .offset_index import Indexed
from .time_index import Stamped

NO_TIMESTAMP = -1
DEFAULT_INTERVAL = 4096


class StoredBatch(NamedTuple):
    """A batch of magic 2 or a message of an old format, where it lies."""

    position: int
    size: int
    base_offset: int  # of an old wrapper: its last offset, for it does not tell its first
    last_offset: int
    max_timestamp: int
    header: v2.BatchHeader | None  # of magic 2


class Scanner:
    """Iterates over the good batches of a segment, and says afterwards where and why it stopped."""

    def __init__(self, data: bytes | mmap, base_offset: int, *, checksums: bool = True) -> None:
        self._data = data
        self._checksums = checksums
        self.next_offset = base_offset
        self.valid_bytes = 0
        self.fault: str | None = None  # why the log ends before the file does

    def __iter__(self) -> Iterator[StoredBatch]:
        data = cast("bytes", self._data)  # a map is read as bytes are: by index and slice
        try:
            for position, size, magic in walk.entries(data):
                if self._checksums:
                    check_crc(data, position, size, magic)
                stored = _stored(data, position, size, magic)
                if stored.last_offset < self.next_offset:
                    before = self.next_offset - 1
                    self.fault = f"offset {stored.last_offset} at {position}, after {before}"
                    return
                self.valid_bytes = position + size
                self.next_offset = stored.last_offset + 1
                yield stored
        except RecordError as fault:
            self.fault = str(fault)
            return
        if self.valid_bytes < len(data):
            left = len(data) - self.valid_bytes
            self.fault = f"{left} bytes of a batch that was cut short"


@dataclass(slots=True)
class Scan:
    batches: list[StoredBatch] = field(default_factory=list)
    valid_bytes: int = 0
    fault: str | None = None

    @property
    def next_offset(self) -> int | None:
        return self.batches[-1].last_offset + 1 if self.batches else None


def scan(data: bytes, base_offset: int, *, checksums: bool = True) -> Scan:
    """Everything up to the first byte that is no part of a good batch, at once."""
    scanner = Scanner(data, base_offset, checksums=checksums)
    batches = list(scanner)
    return Scan(batches, scanner.valid_bytes, scanner.fault)


def _stored(data: bytes, position: int, size: int, magic: int) -> StoredBatch:
    if magic == 2:
        header = v2.read_header(data, position)
        first, last = header.base_offset, header.last_offset
        return StoredBatch(position, size, first, last, header.max_timestamp, header)
    message, _ = message_set.decode_message(data, position, strict=False)
    stamp = message.timestamp if magic else NO_TIMESTAMP
    return StoredBatch(position, size, message.offset, message.offset, stamp, None)


class IndexBuilder:
    """Fed with every batch in order, says when an entry of both indexes is due."""

    def __init__(self, interval: int = DEFAULT_INTERVAL) -> None:
        self._interval = interval
        self._since = 0
        self.largest = Stamped(NO_TIMESTAMP, -1)
        self._last_stamped = NO_TIMESTAMP

    def add(
        self, position: int, size: int, last_offset: int, timestamp: int
    ) -> tuple[Indexed | None, Stamped | None]:
        if timestamp > self.largest.timestamp:
            self.largest = Stamped(timestamp, last_offset)
        due = self._since > self._interval
        self._since = size if due else self._since + size
        if not due:
            return None, None
        return Indexed(last_offset, position), self._stamp()

    def close(self) -> Stamped | None:
        """The entry that a closed segment's time index ends with, if it is new."""
        return self._stamp()

    def _stamp(self) -> Stamped | None:
        if self.largest.timestamp <= self._last_stamped:
            return None
        self._last_stamped = self.largest.timestamp
        return self.largest


def indexes_of(
    batches: list[StoredBatch], interval: int = DEFAULT_INTERVAL
) -> tuple[list[Indexed], list[Stamped], IndexBuilder]:
    """Both indexes of a segment as its log demands them, and the builder to go on with."""
    builder = IndexBuilder(interval)
    offsets, times = [], []
    for position, size, _, last, stamp, _ in batches:
        indexed, stamped = builder.add(position, size, last, stamp)
        offsets += [indexed] if indexed else []
        times += [stamped] if stamped else []
    return offsets, times, builder


def headers(batches: list[StoredBatch]) -> Iterator[v2.BatchHeader]:
    """Of the batches that have one."""
    return (stored.header for stored in batches if stored.header is not None)
