"""The log of one partition: offsets given, batches kept, everything a reader may ask.

Holds the three marks in their order, log start <= last stable <= high watermark <= log end
(LOG-27), the producers it has seen, the leader epochs, and segments. An append either happens
whole or leaves nothing behind (APPEND-19). `now` comes in with every call that needs it. Where the
bytes lie is the store's affair (`log.store`): memory, or the files of a directory.

Sources: kafka.log.Log at 1.0.2, 2.2.1 and 2.8.2, UnifiedLog and LocalLog at 3.9; 4.3.1 observed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from touchstone.reference_impl.log import by_time
from touchstone.reference_impl.log.by_time import NO_OFFSET, NO_TIMESTAMP, TimestampAndOffset
from touchstone.reference_impl.log.epochs import LeaderEpochs
from touchstone.reference_impl.log.files.transaction_index import Aborted
from touchstone.reference_impl.log.markers import aborted_within, marker_of
from touchstone.reference_impl.log.memory_store import MemoryStore
from touchstone.reference_impl.log.producer_state import BatchOfProducer, ProducerState
from touchstone.reference_impl.log.replicated import entries_of
from touchstone.reference_impl.log.rules import CLIENT, AppendContext, LogError, Rules
from touchstone.reference_impl.log.segment import Segment, Stored, floor, lifetime_ms
from touchstone.reference_impl.log.store import Store
from touchstone.reference_impl.log.topic_config import TopicConfig
from touchstone.reference_impl.log.validation import Entry, Validator
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import batch as v2

LOG_END, HIGH_WATERMARK, LAST_STABLE = "log end", "high watermark", "last stable offset"
_MOST_OFFSETS = 2**31 - 1  # a segment's offsets are relative to its base, in 32 bits


class AppendResult(NamedTuple):
    base_offset: int
    last_offset: int
    log_append_time: int
    log_start_offset: int
    duplicate: bool = False


class Read(NamedTuple):
    """What a reader gets, and the marks at that moment."""

    records: bytes
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    log_end_offset: int
    first_incomplete: bool = False  # the first entry did not fit into max_bytes


@dataclass(frozen=True, slots=True)
class SegmentView:
    base_offset: int
    size: int
    modified: int


class PartitionLog:
    def __init__(
        self,
        topic: str,
        partition: int,
        config: Callable[[], TopicConfig],
        *,
        rules: Rules | None = None,
        store: Store | None = None,
        now: int = 0,
    ) -> None:
        """Opens `store` (memory unless one is given) and goes on where it ends."""
        self.name = f"{topic}-{partition}"
        self._config = config
        self._rules = rules or Rules()
        self._validator = Validator(self._rules)
        self.producers = ProducerState(self.name, self._rules)
        self.epochs = LeaderEpochs()
        self.store = store if store is not None else MemoryStore(config)
        opened = self.store.open(now)
        self._segments = opened.segments
        self.log_start_offset = opened.log_start_offset
        self.log_end_offset = max(self._segments[-1].next_offset, opened.log_start_offset)
        self.high_watermark = min(
            max(opened.high_watermark, self.log_start_offset), self.log_end_offset
        )
        self.recovery_point = min(opened.recovery_point, self.log_end_offset)  # durable below it
        self.flushed_at = now  # ms
        self.cleaned_to = opened.cleaned_to  # compaction left one record of each key below it
        self._cuts = 0  # how often the recovery point had to go back
        self._restore_epochs(opened.epochs)
        self._restore_producers()

    # --- writing -----------------------------------------------------------------------------

    def walk_ahead(self, records: bytes) -> Callable[[], None] | None:
        """What to do beside the loop before these are appended; None: nothing."""
        return self._validator.walk_ahead(records)

    def become_leader(self, epoch: int) -> None:
        if self._rules.epochs_begin_with_leaders and self.epochs.assign(epoch, self.log_end_offset):
            self.store.write_epochs(self.epochs.rows())

    def end_of_epoch(self, epoch: int) -> tuple[int, int]:
        """(the largest epoch here not above `epoch`, its end offset), -1 where unknown."""
        older = self._rules.older_epochs_end_with_first
        return self.epochs.end_offset(epoch, self.log_end_offset, older_end_with_first=older)

    def append(
        self, records: bytes, *, now: int, leader_epoch: int = 0, origin: str = CLIENT
    ) -> AppendResult:
        """Give offsets to `records` and keep them; LogError when Kafka would refuse any of it."""
        config = self._config()
        place = AppendContext(self.name, self.log_end_offset, leader_epoch, now, origin)
        entries = self._validator.plain(records, config, place)
        if entries is None:
            analysis = self._validator.analyze(records, config, place)
            if not analysis.valid_bytes:
                return AppendResult(NO_OFFSET, NO_OFFSET, NO_TIMESTAMP, self.log_start_offset)
            entries = self._validator.assign(records, analysis, config, place)
        size = sum(len(entry.data) for entry in entries)
        if size > config.segment_bytes:
            raise LogError(
                ErrorCode.RECORD_LIST_TOO_LARGE,
                f"Message batch size is {size} bytes in append to partition {self.name}, which"
                f" exceeds the maximum configured segment size of {config.segment_bytes}.",
            )
        duplicate = self._check_producers(entries, origin)
        if duplicate is not None:
            return AppendResult(
                duplicate.first_offset,
                duplicate.last_offset,
                duplicate.timestamp,
                self.log_start_offset,
                True,
            )
        self._store(entries, size, config, now, leader_epoch)
        stamp = now if config.log_append_time else NO_TIMESTAMP
        return AppendResult(
            entries[0].first_offset, self.log_end_offset - 1, stamp, self.log_start_offset
        )

    def _check_producers(self, entries: list[Entry], origin: str) -> BatchOfProducer | None:
        """The batch that is repeated, if one is; LogError for one that may not be appended."""
        for entry in entries:
            header = entry.header
            if header is None or header.producer_id < 0:
                continue
            if origin == CLIENT:
                duplicate = self.producers.duplicate(header)
                if duplicate is not None:
                    return duplicate
            self.producers.check(header, entry.first_offset, origin=origin)
            marker = marker_of(entry.data) if header.control else None
            if marker is not None:
                self.producers.check_marker(header, marker, entry.first_offset)
        return None

    def append_as_follower(self, records: bytes, *, now: int) -> int:
        """Keep what the leader sent as it is (APPEND-15); how many bytes of it were whole.

        LogError for a broken batch, or one that begins below the log end. A log without records
        may begin again below it: the leader's start may lie within a batch.
        """
        entries = entries_of(records, self.name)
        if not entries:
            return 0
        first = entries[0]
        if first.header is not None and first.first_offset < self.log_end_offset:
            empty = self.log_start_offset == self.log_end_offset
            if not empty or first.last_offset < self.log_end_offset:
                raise LogError(
                    ErrorCode.UNKNOWN_SERVER_ERROR,
                    f"Unexpected offset in append to {self.name}. First offset"
                    f" {first.first_offset} is less than the next offset {self.log_end_offset}.",
                )
            self.begin_again_at(first.first_offset, now)
        size = sum(len(entry.data) for entry in entries)
        self._store(entries, size, self._config(), now, None)
        return size

    def advance_high_watermark(self, offset: int) -> bool:
        """Up to `offset`, never past the log end and never back; whether it moved (REPL-08)."""
        offset = min(offset, self.log_end_offset)
        if offset <= self.high_watermark:
            return False
        self.high_watermark = offset
        self.producers.replicated(offset)
        return True

    def follow_high_watermark(self, offset: int) -> None:
        """As far as the leader's, which may lie lower than the last leader's did (REPL-05)."""
        self.high_watermark = max(self.log_start_offset, min(offset, self.log_end_offset))
        self.producers.replicated(self.high_watermark)

    def _store(
        self,
        entries: list[Entry],
        size: int,
        config: TopicConfig,
        now: int,
        leader_epoch: int | None,
    ) -> None:
        """Write; a leader stamps its epoch, None keeps the epoch that each batch brings."""
        active = self._roll_if_due(entries, size, config, now)
        for entry in entries:
            header = entry.header
            if header is not None:
                epoch = header.partition_leader_epoch if leader_epoch is None else leader_epoch
                if epoch >= 0 and self.epochs.assign(epoch, entry.first_offset):
                    self.store.write_epochs(self.epochs.rows())
                if header.producer_id >= 0:
                    at = (entry.first_offset, entry.last_offset, entry.max_timestamp)
                    self._learn(header, entry.data, *at, active)
            active.append(entry.data, entry.last_offset, entry.max_timestamp, now)
        self.log_end_offset = entries[-1].last_offset + 1
        if self.log_end_offset - self.recovery_point >= config.flush_messages:
            self.flush(now)

    def _learn(
        self, header: v2.BatchHeader, data: Stored, first: int, last: int, stamp: int,
        segment: Segment,
    ) -> None:  # fmt: skip
        """What a batch says of its producer; an abort goes to its segment's index (LOG-28)."""
        if not header.control:
            self.producers.update(header, first, last, stamp)
            return
        marker = marker_of(data)
        ended = self.producers.end(header, marker, last, stamp) if marker else None
        if ended is not None and ended.aborted:
            stable = self.producers.stable_after(ended)
            segment.add_aborted(Aborted(ended.producer_id, ended.first_offset, last, stable))

    def _roll_if_due(
        self, entries: list[Entry], size: int, config: TopicConfig, now: int
    ) -> Segment:
        """The segment to write to: a new one when Kafka would begin one (LOG-10)."""
        active = self._segments[-1]
        if not active.size:
            return active
        newest = max(entry.max_timestamp for entry in entries)
        first = active.first_timestamp
        age = (newest if newest > -1 and first > -1 else now) - (first if first > -1 else now)
        if (
            active.size > config.segment_bytes - size
            or age > lifetime_ms(active, self.name, config)
            or active.index_entries >= config.segment_index_bytes // 8
            or active.time_entries >= config.segment_index_bytes // 12 - 1
            or entries[-1].last_offset - active.base_offset > _MOST_OFFSETS
        ):
            active = self.roll(now)
        return active

    def roll(self, now: int) -> Segment:
        """Begin a new segment at the log end (LOG-11); an empty active one stays what it is."""
        if self._segments[-1].size:
            self._segments[-1].seal()
            self.store.write_producers(self.log_end_offset, self.producers.snapshot())
            self._segments.append(self.store.begin(self.log_end_offset, now))
            first = max(0, floor(self._segments, self.recovery_point))
            durable = partial(self._durable, self.log_end_offset, self._cuts)
            self.store.flush_sealed(self._segments[first:-1], durable)
        return self._segments[-1]

    def _durable(self, offset: int, cuts: int) -> None:
        """All below `offset` is on disk, if nothing of it was cut off since."""
        if cuts == self._cuts:
            self.recovery_point = max(self.recovery_point, offset)

    # --- reading -----------------------------------------------------------------------------

    @property
    def last_stable_offset(self) -> int:
        unstable = self.producers.first_unstable_offset(self.high_watermark)
        if unstable is None:
            return self.high_watermark
        return min(max(unstable, self.log_start_offset), self.high_watermark)

    def aborted(self, first: int, end: int) -> list[Aborted]:
        """Aborted transactions that a reader of [first, end) must leave out."""
        at = max(0, floor(self._segments, first))
        return list(aborted_within(self._segments[at:], first, end))

    def limit(self, isolation: str) -> int:
        """The offset a reader of this isolation may not reach."""
        if isolation == LAST_STABLE:
            return self.last_stable_offset
        return self.high_watermark if isolation == HIGH_WATERMARK else self.log_end_offset

    def read(
        self,
        offset: int,
        max_bytes: int,
        *,
        min_one: bool = False,
        isolation: str = HIGH_WATERMARK,
    ) -> Read:
        """Stored bytes from the entry that holds `offset`, from one segment only.

        LogError (OFFSET_OUT_OF_RANGE) outside of log start and log end.
        """
        if offset > self.log_end_offset or offset < self.log_start_offset:
            raise LogError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"Received request for offset {offset} for partition {self.name}, but we only have"
                f" log segments in the range {self.log_start_offset} to {self.log_end_offset}.",
            )
        limit = self.limit(isolation)
        if max_bytes < 0 and offset < limit:
            raise LogError(
                ErrorCode.UNKNOWN_SERVER_ERROR, f"Invalid max size {max_bytes} for log read"
            )
        index = floor(self._segments, offset)
        records, incomplete, at = b"", False, self._segments[index]
        if offset < limit:
            for at in self._segments[index:]:
                found = at.read(offset, max_bytes, self._position(at, limit), min_one)
                if found is not None:
                    records = found
                    incomplete = not min_one and max_bytes < at.first_size(offset)
                    break
        return self.marks()._replace(records=records, first_incomplete=incomplete)

    def marks(self) -> Read:
        """The offsets a reader is told, without records."""
        return Read(
            b"",
            self.high_watermark,
            self.last_stable_offset,
            self.log_start_offset,
            self.log_end_offset,
        )

    def readable(self, offset: int, isolation: str) -> tuple[int, bool]:
        """(bytes from `offset` to the reader's limit, whether the limit is on a newer segment)."""
        limit = self.limit(isolation)
        if offset >= limit:
            return 0, False
        at = self._segments[floor(self._segments, offset)]
        end = self._segments[floor(self._segments, limit)]
        if end is not at:
            return 0, True
        return self._position(at, limit) - at.position_of(offset), False

    def _position(self, segment: Segment, limit: int) -> int:
        """How far into `segment` a reader with this limit may read."""
        if segment is self._segments[-1] and limit >= self.log_end_offset:
            return segment.size
        return segment.position_of(limit)

    def first_offset_at(self, timestamp: int) -> TimestampAndOffset:
        """The first record (by offset) that is as new as `timestamp` (META-02, META-03)."""
        return by_time.first_as_new(self._segments, timestamp, self.log_start_offset)

    def newest(self) -> TimestampAndOffset:
        """The record with the largest timestamp, the first of them (KIP-734).

        Also one below the log start, as long as its segment is there (3.9.2, 4.3.1).
        """
        return by_time.newest(self._segments)

    def segment_views(self) -> list[SegmentView]:
        return [SegmentView(s.base_offset, s.size, s.modified) for s in self._segments]

    @property
    def size(self) -> int:
        return sum(segment.size for segment in self._segments)

    # --- segments ----------------------------------------------------------------------------

    @property
    def segments(self) -> Sequence[Segment]:
        """Oldest first; the last one is written to, and none is ever empty but that one."""
        return self._segments

    def drop_segments(self, count: int, now: int) -> None:
        """The oldest `count` segments go, never the active one; the log start follows (LOG-20)."""
        count = min(count, len(self._segments) - 1)
        if count > 0:
            gone, self._segments = self._segments[:count], self._segments[count:]
            self.store.remove(gone, now)
            first = self._segments[0].base_offset
            self.store.drop_producers(below=first)
            if first > self.log_start_offset:
                self._start_at(first)

    def replace_segments(
        self, old: Sequence[Segment], cleaned: Sequence[Segment], now: int
    ) -> None:
        """`old`, neighbours that are closed, give way to `cleaned` (LOG-24)."""
        at = self._segments.index(old[0])
        fresh = self.store.replace(old, cleaned, now)
        self._segments[at : at + len(old)] = fresh

    def flush(self, now: int) -> None:
        """Everything so far becomes durable; the recovery point never goes back (LOG-13)."""
        if self.log_end_offset > self.recovery_point:
            first = max(0, floor(self._segments, self.recovery_point))
            self.store.flush(self._segments[first:])
            self.recovery_point = self.log_end_offset
        self.flushed_at = now

    def close(self, now: int) -> None:
        """A clean end: all of it durable, with the producers as of the log end (LOG-26)."""
        self._segments[-1].seal()
        self.flush(now)
        if self.log_end_offset:
            self.store.write_producers(self.log_end_offset, self.producers.snapshot())
        self.store.close()

    # --- what an opened store brings ---------------------------------------------------------

    def _restore_epochs(self, rows: Iterable[tuple[int, int]]) -> None:
        for epoch, start in rows:
            if start <= self.log_end_offset:
                self.epochs.assign(epoch, start)
        self.epochs.truncate_start(self.log_start_offset)

    def _restore_producers(self) -> None:
        """From the newest snapshot at or below the log end, and the batches behind it."""
        since, known = self.store.latest_producers(self.log_end_offset)
        self.producers.restore(known)
        for segment in self._segments[max(0, floor(self._segments, since)) :]:
            with suppress(LogError):  # damaged: its producers are known as far as it can be read
                self._learn_all(segment, since)

    def _learn_all(self, segment: Segment, since: int) -> None:
        for entry in segment.entries(since):
            if entry[v2.MAGIC_AT] == 2:
                header = v2.BatchHeader._make(v2.HEADER.unpack_from(entry))
                if header.producer_id >= 0:
                    at = (header.base_offset, header.last_offset, header.max_timestamp)
                    self._learn(header, entry, *at, segment)

    # --- removing ----------------------------------------------------------------------------

    def truncate_to(self, offset: int, now: int) -> bool:
        """Drop everything from `offset` on; whether there was anything (REPL-22).

        An epoch that began there or later goes in any case: the leader may know it elsewhere.
        """
        if self.epochs.truncate_end(offset):
            self.store.write_epochs(self.epochs.rows())
        if offset >= self.log_end_offset:
            return False
        if offset < self._segments[0].base_offset:
            self.begin_again_at(offset, now)
            return True
        keep = floor(self._segments, offset) + 1
        gone, self._segments = self._segments[keep:], self._segments[:keep]
        if gone:
            self.store.remove(gone[::-1], now)  # from the end, so that a crash leaves no gap
        self._segments[-1].truncate_to(offset, now)
        self.log_end_offset = offset
        self.cleaned_to = min(self.cleaned_to, offset)
        self.log_start_offset = min(self.log_start_offset, offset)
        self.high_watermark = min(self.high_watermark, offset)
        self._cut_at(offset)
        self.store.drop_producers(above=offset)
        self._restore_producers()
        return True

    def begin_again_at(self, offset: int, now: int) -> None:
        """Forget all records; the next one gets `offset` (REPL-23)."""
        gone = self._segments
        self.store.remove(gone, now)
        self.store.drop_producers(above=-1)
        self._segments = [self.store.begin(offset, now)]
        self.log_start_offset = self.log_end_offset = self.high_watermark = offset
        self._cut_at(offset)
        self.epochs.clear()
        self.store.write_epochs(self.epochs.rows())
        self.producers.restore(())

    def _cut_at(self, offset: int) -> None:
        self._cuts += 1
        self.recovery_point = min(self.recovery_point, offset)
        self.store.cut(offset)

    def _start_at(self, offset: int) -> None:
        self.log_start_offset = offset
        if self._rules.forgets_producers_with_records:
            self.producers.forget_before(offset)
        before = self.epochs.rows()
        self.epochs.truncate_start(offset)
        if self.epochs.rows() != before:
            self.store.write_epochs(self.epochs.rows())

    def delete_to(self, offset: int, now: int = 0) -> int:
        """Move the log start up to `offset` and drop whole segments below it (FETCH-23)."""
        if offset > self.log_start_offset:
            self._start_at(offset)
            below = floor(self._segments, offset)
            self.drop_segments(max(below, 0), now)
        return self.log_start_offset
