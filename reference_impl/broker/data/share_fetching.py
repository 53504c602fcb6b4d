"""A ShareFetch acquires records for its member, at once or when there are enough.

It is done when the partitions that have something to acquire hold as many bytes as were asked for,
when one of them cannot be read, or when its time is up. The bytes it may have are dealt evenly to
those partitions. What was read before the log's start moves the share partition there and answers
nothing this time.

Sources: DelayedShareFetch, ShareFetchUtils, PartitionMaxBytesStrategy@4.3.1; KIP-932.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.data import share_partitions
from touchstone.reference_impl.broker.data.share_partitions import HostedPartition, SharePartitions
from touchstone.reference_impl.broker.effects import WaitKey
from touchstone.reference_impl.broker.replication.partitions import log_key
from touchstone.reference_impl.log.partition_log import HIGH_WATERMARK, LAST_STABLE
from touchstone.reference_impl.log.rules import LogError
from touchstone.reference_impl.share.aborted import AcquiredBatch, Span
from touchstone.reference_impl.share.acquisition import AcquisitionRequest, Read, acquire
from touchstone.reference_impl.share.sessions import TopicIdPartition
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.records import control, convert, entries, read_header
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.purgatory import Purgatory
    from touchstone.reference_impl.broker.replication.replicas import Replicas

_BATCH_MAGIC = 2


@dataclass(slots=True)
class ShareRead:
    """`rows` are what the answer says of each partition, once it is done."""

    hosted: SharePartitions
    replicas: Replicas
    purgatory: Purgatory
    group: str
    request: AcquisitionRequest
    places: list[tuple[TopicIdPartition, str]]  # with the names of their topics
    min_bytes: int
    max_bytes: int
    committed: bool
    rows: dict[TopicIdPartition, Struct] | None = None
    _begun: dict[TopicIdPartition, HostedPartition] = field(default_factory=dict)
    _failed: dict[TopicIdPartition, Struct] = field(default_factory=dict)

    @property
    def keys(self) -> list[WaitKey]:
        names = [log_key(topic, place[1]) for place, topic in self.places]
        return names + [share_partitions.key_of(self.group, place) for place, _ in self.places]

    def start(self, now: int) -> None:
        if not self.places or not self.request.max_records or not self.max_bytes:
            self.rows = {}
            return
        self._look(now)
        self.attempt(now)

    def attempt(self, now: int) -> bool:
        """Whether it is done by now."""
        if self.rows is None:
            self._look(now)
            ready = self._acquirable()
            if len(self._failed) == len(self.places) or (ready and self._enough(ready)):
                self._finish(ready, now)
        return self.rows is not None

    def expire(self, now: int) -> None:
        if self.rows is None:
            self._look(now)
            self._finish(self._acquirable(), now)

    # --- which partitions --------------------------------------------------------------------

    def _look(self, now: int) -> None:
        """Begin the share partitions, and note which cannot be."""
        for place, topic in self.places:
            one = self._begun.get(place)
            if place in self._failed:
                continue
            if one is None:
                found = self.hosted.host((self.group, *place), topic, now)
                if isinstance(found, HostedPartition):
                    one = self._begun[place] = found
                else:
                    self._failed[place] = failed(place[1], found[0])
                    continue
            if one.fault is not None:
                self._failed[place] = failed(place[1], one.fault[0])

    def _acquirable(self) -> dict[TopicIdPartition, int]:
        """The offset to read from, of each partition that may be acquired from."""
        found = {}
        for place, one in self._begun.items():
            stands = self.hosted.there(one.key) is one
            if place not in self._failed and stands and one.active.can_acquire():
                found[place] = one.active.next_offset()
        return found

    def _enough(self, ready: dict[TopicIdPartition, int]) -> bool:
        each, total = self.max_bytes // len(ready), 0
        for place, offset in ready.items():
            one = self._begun[place]
            replica, _ = self.replicas.locate(one.topic, place[1])
            if replica is None:
                return True
            log = replica.log
            if not log.log_start_offset <= offset <= log.log_end_offset:
                return True
            readable, older = log.readable(offset, self._isolation)
            if older:
                return True
            total += min(readable, each)
        return total >= self.min_bytes

    # --- the answer --------------------------------------------------------------------------

    @property
    def _isolation(self) -> str:
        return LAST_STABLE if self.committed else HIGH_WATERMARK

    def _finish(self, ready: dict[TopicIdPartition, int], now: int) -> None:
        left = self.request.max_records
        rows = {}
        for place, offset in ready.items():
            row, taken = self._read(place, offset, self.max_bytes // len(ready), left, now)
            rows[place] = row
            left -= taken
        self.rows = rows | self._failed
        for place, _ in self.places:
            self.purgatory.touch(share_partitions.key_of(self.group, place))

    def _read(
        self, place: TopicIdPartition, offset: int, max_bytes: int, left: int, now: int
    ) -> tuple[Struct, int]:
        one, index = self._begun[place], place[1]
        replica, error = self.replicas.locate(one.topic, index)
        if replica is None:
            return failed(index, error), 0
        log = replica.log
        try:
            read = log.read(offset, max_bytes, min_one=True, isolation=self._isolation)
        except LogError as refusal:
            if refusal.code != E.OFFSET_OUT_OF_RANGE:
                return failed(index, refusal.code), 0
            one.active.log_begins_at(log.log_start_offset)
            return failed(index, E.NONE), 0
        spans = spans_of(read.records)
        aborted = None
        if self.committed and spans:
            listed = log.aborted(offset, spans[-1].last + 1)
            aborted = [(each.producer_id, each.first_offset) for each in listed]
        request = self.request._replace(max_records=left)
        taken = acquire(one.active, request, Read(offset, spans, aborted), now)
        self.hosted.watch(one)
        row = failed(index, E.NONE)
        if taken:
            row["records"] = _cut(read.records, taken)
            row["acquired_records"] = [
                {"first_offset": a.first, "last_offset": a.last, "delivery_count": a.count}
                for a in taken
            ]
        return row, sum(each.size for each in taken)


def failed(index: int, code: int) -> Struct:
    """A row without records; NONE is no failure."""
    return {
        "partition_index": index,
        "error_code": code,
        "error_message": None,
        "acknowledge_error_code": E.NONE,
        "acknowledge_error_message": None,
        "current_leader": {"leader_id": 0, "leader_epoch": 0},
        "records": b"",
        "acquired_records": [],
    }


def spans_of(records: bytes) -> list[Span]:
    """The whole batches among these bytes."""
    found = []
    for position, _, magic in entries(records):
        if magic < _BATCH_MAGIC:
            offset = int.from_bytes(records[position : position + 8], "big")
            found.append(Span(offset, offset))
            continue
        head = read_header(records, position)
        aborts = False
        if head.control:
            marker = next(iter(convert.records_of(records, position, magic)), None)
            aborts = marker is not None and control.read_key(marker.key).type == control.ABORT
        found.append(
            Span(head.base_offset, head.last_offset, head.producer_id, head.transactional, aborts)
        )
    return found


def _cut(records: bytes, taken: list[AcquiredBatch]) -> bytes:
    """Return whole batches, from the one with the first record to the one with the last."""
    first, last = taken[0].first, taken[-1].last
    ends = [(position, size) for position, size, _ in entries(records)]
    spans = spans_of(records)
    if len(ends) < 2:
        return records
    kept = [at for at, span in enumerate(spans) if span.last >= first and span.first <= last]
    begin, size = ends[kept[0]][0], ends[kept[-1]]
    return records[begin : size[0] + size[1]]
