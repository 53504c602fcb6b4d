"""A segment: a stretch of a log that is written at its end and read anywhere.

This is the contract between the log, which knows offsets and rules, and whoever keeps bytes: memory
(`memory_store`) or files (`io.disk_segment`). An entry is one batch, or one message of an old
format, as it lies on disk. Positions are bytes from the segment's start and a read is a slice that
may end in the middle of an entry, because that is what Kafka's readers get.

Sources: LogSegment, FileRecords at 1.0.2 to 4.3.1; LOG-10 to LOG-12.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol
from zlib import crc32

from touchstone.reference_impl.log.files.transaction_index import Aborted
from touchstone.reference_impl.log.topic_config import TopicConfig

Stored = bytes | bytearray | memoryview


class Segment(Protocol):
    modified: int  # ms: when its file was written last (META-04)

    @property
    def base_offset(self) -> int: ...

    @property
    def size(self) -> int:
        """Bytes of entries."""

    @property
    def first_timestamp(self) -> int:
        """ms, of the first entry: what segment.ms counts from; -1 without."""

    @property
    def index_entries(self) -> int:
        """Of its offset index; either index, when full, rolls the segment (LOG-10)."""

    @property
    def time_entries(self) -> int:
        """Of its time index, which holds every time once."""

    @property
    def next_offset(self) -> int:
        """After its last entry; the base offset when empty."""

    @property
    def largest_timestamp(self) -> int:
        """ms; -1 without entries."""

    def append(self, entry: Stored, last_offset: int, timestamp: int, now: int) -> None:
        """One entry at the end; `timestamp` is the largest of its records."""

    def position_of(self, offset: int) -> int:
        """Where the entry that holds `offset`, or else the next one, begins; `size` past all."""

    def read(self, offset: int, max_bytes: int, limit: int, min_one: bool) -> bytes | None:
        """Bytes from the entry that holds `offset` (or else the next) up to position `limit`.

        None when the segment ends before `offset`. `min_one` lets a first entry larger than
        `max_bytes` through whole (KIP-74); a last one is cut wherever the bytes end.
        """

    def first_size(self, offset: int) -> int:
        """Bytes of the entry that `read` would begin with; 0 when there is none."""

    def entry_with(self, offset: int) -> Stored | None:
        """The first entry whose last offset is not below `offset`; None where there is none."""

    def entries(self, offset: int = 0) -> Iterator[Stored]:
        """Every entry in order, from the one that holds `offset` (or else the next) on."""

    def since(self, timestamp: int) -> Iterable[Stored]:
        """Entries from the first one that has a record as new as `timestamp`."""

    def newest(self) -> Stored:
        """The first entry with the largest timestamp; ask only where there is one."""

    def truncate_to(self, offset: int, now: int) -> int:
        """Drop the entry that holds `offset` and all behind it; how many bytes that were."""

    def add_aborted(self, aborted: Aborted) -> None:
        """A transaction was aborted whose marker lies here; one that is known is passed over."""

    def aborted(self) -> Sequence[Aborted]:
        """All of them, in the order of their markers."""

    def seal(self) -> None:
        """Nothing is appended any more, unless a truncation makes this the last segment again."""

    def flush(self) -> None:
        """Return when everything so far would survive a power cut."""


def floor(segments: Sequence[Segment], offset: int) -> int:
    """Index of the segment that would hold `offset`; -1 when it lies before all of them."""
    return bisect_right(segments, offset, key=lambda segment: segment.base_offset) - 1


def lifetime_ms(segment: Segment, log: str, config: TopicConfig) -> int:
    """How old a segment may get: less by up to `segment.jitter.ms`, so that not all roll at once.

    Kafka draws the jitter when it makes a segment; here it follows from the segment's name.
    """
    most = config.max_segment_ms
    bound = min(config.segment_jitter_ms, most)
    if bound <= 0:
        return most
    return most - crc32(f"{log}/{segment.base_offset}".encode()) % bound
