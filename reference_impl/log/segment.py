"""A stretch of a log in memory: stored entries and the three ways to find one.

An entry is one batch, or one message of an old format, as it would lie on disk. A log on disk
comes behind the same methods; that is why positions are bytes from the segment's start and a read
is a slice that may end in the middle of an entry, as Kafka's does.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right

Stored = bytes | bytearray | memoryview


class Segment:
    __slots__ = (
        "_entries",
        "_highest",
        "_last_offsets",
        "_positions",
        "base_offset",
        "first_timestamp",
        "index_entries",
        "modified",
        "since_index",
        "size",
    )

    def __init__(self, base_offset: int, now: int) -> None:
        self.base_offset = base_offset
        self.size = 0
        self.modified = now  # when a file on disk would have been written last (META-04)
        self.first_timestamp = -1  # of the first entry: what segment.ms counts from
        self.index_entries = 0
        self.since_index = 0  # bytes since the last index entry
        self._entries: list[Stored] = []
        self._positions = array("q")
        self._last_offsets = array("q")
        self._highest = array("q")  # largest timestamp up to and including entry i

    def append(self, entry: Stored, last_offset: int, timestamp: int, now: int) -> None:
        if not self._entries:
            self.first_timestamp = timestamp
        highest = self._highest
        highest.append(timestamp if not highest or timestamp > highest[-1] else highest[-1])
        self._positions.append(self.size)
        self._last_offsets.append(last_offset)
        self._entries.append(entry)
        self.size += len(entry)
        self.since_index += len(entry)
        self.modified = now

    @property
    def largest_timestamp(self) -> int:
        return self._highest[-1] if self._highest else -1

    def position_of(self, offset: int) -> int:
        """Where the first entry that begins at or after `offset` would begin."""
        at = bisect_left(self._last_offsets, offset)
        return self._positions[at] if at < len(self._positions) else self.size

    def read(self, offset: int, max_bytes: int, limit: int, min_one: bool) -> bytes | None:
        """Bytes from the entry that holds `offset` up to position `limit`.

        None when the segment ends before `offset`. `min_one` lets a first entry larger than
        `max_bytes` through whole (KIP-74); a last one is cut wherever the bytes end.
        """
        first = bisect_left(self._last_offsets, offset)
        if first == len(self._entries):
            return None
        if min_one and len(self._entries[first]) > max_bytes:
            max_bytes = len(self._entries[first])
        start = self._positions[first]
        wanted = min(limit - start, max_bytes)
        if wanted <= 0:
            return b""
        last = bisect_left(self._positions, start + wanted, first)
        parts = self._entries[first:last]
        kept = start + wanted - self._positions[last - 1]
        if kept < len(parts[-1]):
            parts[-1] = memoryview(parts[-1])[:kept]
        return b"".join(parts)

    def first_size(self, offset: int) -> int:
        """Bytes of the entry that holds `offset`; 0 when there is none."""
        first = bisect_left(self._last_offsets, offset)
        return len(self._entries[first]) if first < len(self._entries) else 0

    def since(self, timestamp: int) -> list[Stored]:
        """Entries from the first one that has a record as new as `timestamp`."""
        return self._entries[bisect_left(self._highest, timestamp) :]

    def newest(self) -> Stored:
        """The first entry with the largest timestamp."""
        return self._entries[bisect_left(self._highest, self._highest[-1])]

    def entry_with(self, offset: int) -> Stored | None:
        first = bisect_left(self._last_offsets, offset)
        return self._entries[first] if first < len(self._entries) else None

    def __len__(self) -> int:
        return len(self._entries)


def floor(segments: list[Segment], offset: int) -> int:
    """Index of the segment that would hold `offset`; -1 when it lies before all of them."""
    return bisect_right(segments, offset, key=lambda segment: segment.base_offset) - 1
