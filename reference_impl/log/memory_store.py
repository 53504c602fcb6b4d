"""Segments in memory: the entries as they came, and arrays to find one by offset, place or time.

The default store. Nothing outlives the process, so `open` always gives an empty log and what must
survive is passed over.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence

from touchstone.reference_impl.log.files.producer_snapshot import KnownProducer
from touchstone.reference_impl.log.files.transaction_index import Aborted
from touchstone.reference_impl.log.segment import Segment, Stored
from touchstone.reference_impl.log.store import StoreContents
from touchstone.reference_impl.log.topic_config import TopicConfig


class MemorySegment:
    __slots__ = (
        "_aborted",
        "_entries",
        "_highest",
        "_interval",
        "_last_offsets",
        "_positions",
        "_since_index",
        "_stamped",
        "base_offset",
        "first_timestamp",
        "index_entries",
        "modified",
        "size",
        "time_entries",
    )

    def __init__(self, base_offset: int, now: int, interval: int) -> None:
        self.base_offset = base_offset
        self.size = 0
        self.modified = now
        self.first_timestamp = -1
        self.index_entries = self.time_entries = 0  # as many as files would have
        self._stamped = -1  # what the last entry of a time index would say
        self._interval = interval
        self._since_index = 0
        self._entries: list[Stored] = []
        self._positions = array("q")
        self._last_offsets = array("q")
        self._highest = array("q")  # largest timestamp up to and including entry i
        self._aborted: list[Aborted] = []

    def append(self, entry: Stored, last_offset: int, timestamp: int, now: int) -> None:
        if not self._entries:
            self.first_timestamp = timestamp
        highest = self._highest
        highest.append(timestamp if not highest or timestamp > highest[-1] else highest[-1])
        self._positions.append(self.size)
        self._last_offsets.append(last_offset)
        self._entries.append(entry)
        if self._since_index > self._interval:
            self.index_entries += 1
            self._stamp(highest[-1])
            self._since_index = 0
        self.size += len(entry)
        self._since_index += len(entry)
        self.modified = now

    def _stamp(self, timestamp: int) -> None:
        if timestamp > self._stamped:
            self.time_entries += 1
            self._stamped = timestamp

    @property
    def next_offset(self) -> int:
        return self._last_offsets[-1] + 1 if self._last_offsets else self.base_offset

    @property
    def largest_timestamp(self) -> int:
        return self._highest[-1] if self._highest else -1

    def position_of(self, offset: int) -> int:
        at = bisect_left(self._last_offsets, offset)
        return self._positions[at] if at < len(self._positions) else self.size

    def read(self, offset: int, max_bytes: int, limit: int, min_one: bool) -> bytes | None:
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
        first = bisect_left(self._last_offsets, offset)
        return len(self._entries[first]) if first < len(self._entries) else 0

    def entry_with(self, offset: int) -> Stored | None:
        first = bisect_left(self._last_offsets, offset)
        return self._entries[first] if first < len(self._entries) else None

    def entries(self, offset: int = 0) -> Iterator[Stored]:
        return iter(self._entries[bisect_left(self._last_offsets, offset) :])

    def since(self, timestamp: int) -> list[Stored]:
        return self._entries[bisect_left(self._highest, timestamp) :]

    def newest(self) -> Stored:
        return self._entries[bisect_left(self._highest, self._highest[-1])]

    def truncate_to(self, offset: int, now: int) -> int:
        at = bisect_left(self._last_offsets, offset)
        if at == len(self._entries):
            return 0
        before, self.size = self.size, self._positions[at]
        for kept in (self._entries, self._positions, self._last_offsets, self._highest):
            del kept[at:]
        self._aborted = [each for each in self._aborted if each.last_offset < offset]
        self._reindex()
        self.modified = now
        return before - self.size

    def _reindex(self) -> None:
        self.index_entries = self.time_entries = self._since_index = 0
        self._stamped = -1
        for entry, highest in zip(self._entries, self._highest, strict=True):
            if self._since_index > self._interval:
                self.index_entries += 1
                self._stamp(highest)
                self._since_index = 0
            self._since_index += len(entry)

    def add_aborted(self, aborted: Aborted) -> None:
        if not self._aborted or self._aborted[-1].last_offset < aborted.last_offset:
            self._aborted.append(aborted)

    def aborted(self) -> Sequence[Aborted]:
        return self._aborted

    def seal(self) -> None:
        """The last time is indexed, whatever came since the entry before."""
        self._stamp(self.largest_timestamp)

    def flush(self) -> None:
        """Memory survives no power cut."""


class MemoryStore:
    def __init__(self, config: Callable[[], TopicConfig]) -> None:
        self._config = config
        self._snapshots: dict[int, list[KnownProducer]] = {}  # by offset

    def open(self, now: int) -> StoreContents:
        return StoreContents([self.begin(0, now)])

    def begin(self, base_offset: int, now: int) -> Segment:
        return MemorySegment(base_offset, now, self._config().index_interval_bytes)

    def begin_cleaned(self, base_offset: int, now: int) -> Segment:
        return MemorySegment(base_offset, now, self._config().index_interval_bytes)

    def replace(
        self, old: Sequence[Segment], cleaned: Sequence[Segment], now: int
    ) -> Sequence[Segment]:
        for segment in cleaned:
            segment.seal()
        return cleaned

    def remove(self, segments: Sequence[Segment], now: int) -> None:
        """Readers hold the entries they read."""

    def write_epochs(self, epochs: Sequence[tuple[int, int]]) -> None:
        """Nothing outlives the log."""

    def write_producers(self, offset: int, producers: Iterable[KnownProducer]) -> None:
        self._snapshots[offset] = list(producers)

    def latest_producers(self, offset: int) -> tuple[int, list[KnownProducer]]:
        at = max((at for at in self._snapshots if at <= offset), default=0)
        return at, self._snapshots.get(at, [])

    def drop_producers(self, *, below: int | None = None, above: int | None = None) -> None:
        for at in list(self._snapshots):
            if (below is not None and at < below) or (above is not None and at > above):
                del self._snapshots[at]

    def flush(self, segments: Sequence[Segment]) -> None:
        """Memory survives no power cut."""

    def flush_sealed(self, segments: Sequence[Segment], durable: Callable[[], None]) -> None:
        durable()

    def cut(self, offset: int) -> None:
        """Nothing outlives the log."""

    def close(self) -> None:
        """Nothing is open."""

    def delete(self, now: int) -> None:
        """The log's own references are all there is."""
