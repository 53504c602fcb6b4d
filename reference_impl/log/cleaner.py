"""Compaction of one log: the last record of every key stays, in its place (LOG-24, LOG-25).

Two passes, as Kafka's. The first walks the dirty part and notes the last offset of each key, as
many keys as there is room for. The second walks the log from its beginning and writes what is left
of each segment, several into one where they fit; the new segment takes the place of the old ones in
one step (`PartitionLog.replace_segments`), so a crash anywhere loses nothing. The active segment is
never touched and offsets never change.

It is a generator: it yields every CHUNK bytes, so that whoever runs it can serve in between, and
it stops by itself when its segments left the log meanwhile (a truncation, a deletion). Pure but for
the store behind the log.

Sources: LogCleaner and Cleaner at 1.0.2, 2.2.1, 2.8.2, 3.9; KIP-534; 4.3.1 observed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from touchstone.reference_impl.log import compaction_filter
from touchstone.reference_impl.log import segment as segments
from touchstone.reference_impl.log.dirtiness import Dirty
from touchstone.reference_impl.log.markers import marker_of
from touchstone.reference_impl.log.segment import Segment, Stored
from touchstone.reference_impl.log.topic_config import TopicConfig
from touchstone.reference_impl.log.transactions_seen import TransactionsSeen
from touchstone.reference_impl.wire.records import batch as v2
from touchstone.reference_impl.wire.records import convert

if TYPE_CHECKING:
    from touchstone.reference_impl.log.partition_log import PartitionLog

CHUNK = 1 << 18  # bytes between two yields
MOST_KEYS = 128 * 1024 * 1024 * 9 // 10 // 24  # log.cleaner.dedupe.buffer.size, as Kafka fills it
_MOST_OFFSETS = 2**31 - 1
_MAGIC_AT = v2.MAGIC_AT


class OffsetMap:
    """The last offset of each key, up to `latest`."""

    def __init__(self, room: int) -> None:
        self._offsets: dict[bytes, int] = {}
        self._room = room
        self.latest = -1

    def put(self, key: bytes, offset: int) -> bool:
        """False when there is no room for a key that is new."""
        if len(self._offsets) >= self._room and key not in self._offsets:
            return False
        self._offsets[key] = offset
        self.latest = offset
        return True

    def supersedes(self, key: bytes, offset: int) -> bool:
        return self._offsets.get(key, -1) > offset


class Cleaning:
    """One cleaning of one log; `run` to the end, and the log knows up to where it is clean."""

    def __init__(
        self,
        log: PartitionLog,
        dirty: Dirty,
        config: TopicConfig,
        now: int,
        *,
        horizons: bool = True,
        room: int = MOST_KEYS,
    ) -> None:
        """`horizons`: tombstones go by the time in their batch (KIP-534), not by their segment's
        age; `room` is how many keys are remembered.
        """
        self.log = log
        self._dirty, self._config, self._now = dirty, config, now
        self._horizons = horizons
        self._map = OffsetMap(room)
        self._closed = [s for s in log.segments[:-1] if s.base_offset < dirty.end]
        self._fresh: Segment | None = None  # what is being written
        before = [s for s in log.segments[:-1] if s.base_offset < dirty.first]
        self._clean_since = before[-1].modified - config.delete_retention_ms if before else 0
        self._active = {
            pid: (p.batches[-1].last_offset if p.batches else None, p.epoch)
            for pid, p in log.producers.producers.items()
        }

    def run(self) -> Iterator[None]:
        for _ in self._passes():
            yield
            if not self._untouched():
                if self._fresh is not None:
                    self.log.store.remove([self._fresh], self._now)
                return

    def _passes(self) -> Iterator[None]:
        yield from self._fill()
        end = self._map.latest + 1
        seen = self._transactions()
        todo = [s for s in self._closed if s.base_offset < end]
        for group in self._groups(todo):
            fresh = self._fresh = self.log.store.begin_cleaned(group[0].base_offset, self._now)
            for old in group:
                yield from self._clean_into(fresh, old, seen)
            fresh.modified = group[-1].modified
            self.log.replace_segments(group, [fresh], self._now)
            self._closed, self._fresh = self._closed[len(group) :], None
            yield
        self.log.cleaned_to = max(end, self._dirty.first)

    def _transactions(self) -> TransactionsSeen:
        return TransactionsSeen(each for s in self.log.segments for each in s.aborted())

    def _untouched(self) -> bool:
        """Whether what is still to be cleaned is still what it was."""
        there = set(map(id, self.log.segments))
        return self.log.log_end_offset >= self._dirty.end and all(
            id(segment) in there for segment in self._closed
        )

    # --- the first pass ----------------------------------------------------------------------

    def _fill(self) -> Iterator[None]:
        """Note the keys of the dirty part; what does not fit waits for the next cleaning."""
        first, walked = self._dirty.first, 0
        seen = self._transactions()
        for old in self._closed[max(0, segments.floor(self._closed, first)) :]:
            for entry in old.entries():
                if not self._note(entry, first, seen):
                    return
                walked += len(entry)
                if walked > CHUNK:
                    walked = 0
                    yield

    def _note(self, entry: Stored, first: int, seen: TransactionsSeen) -> bool:
        magic, last = entry[_MAGIC_AT], -1
        if magic == 2:
            header = v2.BatchHeader._make(v2.HEADER.unpack_from(entry))
            last = header.last_offset
            if header.control:
                marker = marker_of(entry)
                if marker is not None:
                    seen.ended(header, aborts=marker.aborts)
            if header.control or seen.aborted(header):
                self._map.latest = last
                return True
        for record in convert.records_of(bytes(entry), 0, magic):
            wanted = record.key is not None and record.offset >= first
            if wanted and not self._map.put(bytes(record.key or b""), record.offset):
                return False
        self._map.latest = max(self._map.latest, last)
        return True

    # --- the second pass ---------------------------------------------------------------------

    def _groups(self, todo: Sequence[Segment]) -> Iterator[list[Segment]]:
        """Neighbours that fit into one segment, by bytes, by index, by range of offsets."""
        config, at = self._config, 0
        while at < len(todo):
            group = [todo[at]]
            size, offsets, times = _weight(todo[at])
            for following in todo[at + 1 :]:
                more = _weight(following)
                size, offsets, times = size + more[0], offsets + more[1], times + more[2]
                if (
                    size > config.segment_bytes
                    or offsets > config.segment_index_bytes
                    or times > config.segment_index_bytes
                    or following.next_offset - 1 - group[0].base_offset > _MOST_OFFSETS
                ):
                    break
                group.append(following)
            yield group
            at += len(group)

    def _clean_into(self, cleaned: Segment, old: Segment, seen: TransactionsSeen) -> Iterator[None]:
        young = old.modified > self._clean_since
        walked = 0
        for entry in old.entries():
            magic = entry[_MAGIC_AT]
            if magic < 2:
                kept = compaction_filter.filter_message(entry, magic, self._keeps(young))
            else:
                kept = self._filtered(entry, young, cleaned, seen)
            if kept is not None:
                cleaned.append(*kept, self._now)
            walked += len(entry)
            if walked > CHUNK:
                walked = 0
                yield

    def _filtered(
        self, entry: Stored, young: bool, cleaned: Segment, seen: TransactionsSeen
    ) -> compaction_filter.FilteredEntry | None:
        header = v2.BatchHeader._make(v2.HEADER.unpack_from(entry))
        due = header.delete_horizon is not None and header.delete_horizon <= self._now
        waits = not due if self._horizons else young
        done, marker_done = False, False
        if header.control:
            marker = marker_of(entry)
            if marker is not None:
                marker_done, aborted = seen.ended(header, aborts=marker.aborts)
                if aborted is not None:
                    cleaned.add_aborted(aborted)
            done = marker_done and not waits
        else:
            done = seen.aborted(header)
        keep = self._nothing if done else self._keeps(waits, header.control)
        return compaction_filter.filter_batch(
            entry,
            header,
            keep,
            empty=self._last_of_producer(header),
            horizon=self._now + self._config.delete_retention_ms if self._horizons else None,
            marker_may_go=marker_done,
        )

    @staticmethod
    def _nothing(offset: int, key: bytes | None, value: bytes | None) -> bool:
        return False

    def _keeps(self, waits: bool, control: bool = False) -> compaction_filter.RecordFilter:
        """`waits`: tombstones stay for now."""
        offsets, latest = self._map, self._map.latest

        def keep(offset: int, key: bytes | None, value: bytes | None) -> bool:
            if control or offset > latest:
                return True
            if key is None or offsets.supersedes(bytes(key), offset):
                return False
            return value is not None or waits

        return keep

    def _last_of_producer(self, header: v2.BatchHeader) -> bool:
        """Whether a producer would be forgotten without this batch (LOG-25)."""
        known = self._active.get(header.producer_id)
        if header.producer_id < 0 or known is None:
            return False
        last, epoch = known
        if last is None:
            return header.control and header.producer_epoch == epoch
        return header.last_offset == last


def _weight(segment: Segment) -> tuple[int, int, int]:
    """Bytes of a closed segment's log, offset index and time index."""
    return segment.size, 8 * segment.index_entries, 12 * segment.time_entries
