"""What a log remembers of each idempotent producer: epoch, last five batches, open transaction.

Rules (ProducerAppendInfo, ProducerStateEntry; APPEND-17, APPEND-18):

- a batch with the epoch and exact sequence range of one of the last five is a duplicate; the log
  answers with the offsets it gave then;
- a smaller epoch than the last is refused; a larger one must start at sequence 0;
- within an epoch the next sequence is last + 1, and 2147483647 is followed by 0;
- a producer nobody knows may start anywhere since 2.5; before, only at 0 (`Rules`).

A transaction is open from its first batch to its marker. The marker brings the coordinator's epoch,
which may not fall, and perhaps a higher epoch of the producer's; until the high watermark has
passed it, the transaction holds the last stable offset back as if it were open (LOG-28).

The log asks `check` before it writes and calls `update` or `end` after, so that a refusal leaves no
trace (APPEND-19).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from touchstone.reference_impl.log.files.producer_snapshot import KnownProducer
from touchstone.reference_impl.log.markers import Ended, Marker
from touchstone.reference_impl.log.rules import CLIENT, COORDINATOR, REPLICATION, LogError, Rules
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records.batch import BatchHeader

NO_EPOCH = NO_SEQUENCE = -1
KEPT_BATCHES = 5
_LAST_SEQUENCE = 2**31 - 1


@dataclass(frozen=True, slots=True)
class BatchOfProducer:
    first_sequence: int
    last_sequence: int
    first_offset: int
    last_offset: int
    timestamp: int


@dataclass(slots=True)
class Producer:
    """The state of one producer id in one partition."""

    id: int
    epoch: int = NO_EPOCH
    coordinator_epoch: int = -1
    last_timestamp: int = -1
    transaction_start: int | None = None  # offset of the open transaction's first record
    batches: deque[BatchOfProducer] = field(default_factory=lambda: deque(maxlen=KEPT_BATCHES))

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE


class ProducerState:
    def __init__(self, name: str, rules: Rules) -> None:
        self._name = name  # "topic-partition", for messages
        self._rules = rules
        self.producers: dict[int, Producer] = {}
        self._open: dict[int, int] = {}  # producer id -> where its open transaction begins
        self.unreplicated: list[Ended] = []  # markers that the high watermark has not passed

    def duplicate(self, batch: BatchHeader) -> BatchOfProducer | None:
        """The batch this one repeats, if it is among the last five of its producer."""
        producer = self.producers.get(batch.producer_id)
        if producer is None or producer.epoch != batch.producer_epoch:
            return None
        first, last = batch.base_sequence, batch.last_sequence
        for known in producer.batches:
            if known.first_sequence == first and known.last_sequence == last:
                return known
        return None

    def check(self, batch: BatchHeader, offset: int, *, origin: str = CLIENT) -> None:
        """LogError unless this producer may append this batch at `offset`."""
        producer = self.producers.get(batch.producer_id)
        if producer is None:
            producer = Producer(batch.producer_id)
        trusted = origin == COORDINATOR and self._rules.trusts_coordinators
        if (
            batch.producer_epoch < producer.epoch
            and origin != REPLICATION
            and not (trusted and not batch.control)
        ):
            raise LogError(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"Epoch of producer {producer.id} at offset {offset} in {self._name} is"
                f" {batch.producer_epoch}, which is smaller than the last seen epoch"
                f" {producer.epoch}",
            )
        if origin == CLIENT:
            self._check_sequence(producer, batch, offset)
        if producer.transaction_start is not None and not batch.transactional:
            raise LogError(
                ErrorCode.INVALID_TXN_STATE,
                f"Expected transactional write from producer {producer.id} at offset {offset} in"
                f" partition {self._name}",
            )

    def check_marker(self, batch: BatchHeader, marker: Marker, offset: int) -> None:
        """LogError for a marker of a coordinator that another has followed (KIP-98)."""
        producer = self.producers.get(batch.producer_id) or Producer(batch.producer_id)
        if producer.coordinator_epoch > marker.coordinator_epoch:
            raise LogError(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"Invalid coordinator epoch for producerId {producer.id} at offset {offset} in"
                f" partition {self._name}: {marker.coordinator_epoch} (zombie),"
                f" {producer.coordinator_epoch} (current)",
            )

    def _check_sequence(self, producer: Producer, batch: BatchHeader, offset: int) -> None:
        first, place = batch.base_sequence, f"at offset {offset} in partition {self._name}"
        if batch.producer_epoch != producer.epoch:
            if first == 0:
                return
            if producer.epoch != NO_EPOCH:
                raise LogError(
                    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                    f"Invalid sequence number for new epoch of producer {producer.id} {place}:"
                    f" {batch.producer_epoch} (request epoch), {first} (seq. number),"
                    f" {producer.epoch} (current producer epoch)",
                )
            if self._rules.unknown_producer is not None:
                raise LogError(
                    self._rules.unknown_producer,
                    f"Found no record of producerId={producer.id} on the broker {place}",
                )
            return
        if producer.epoch == NO_EPOCH and self._rules.unknown_producer is None:
            return
        last = producer.last_sequence
        if last == NO_SEQUENCE and first != 0 and self._rules.unknown_sequence is not None:
            raise LogError(
                self._rules.unknown_sequence,
                f"The next sequence number of producer {producer.id} {place} is not known",
            )
        follows = first == last + 1 or (first == 0 and last == _LAST_SEQUENCE)
        if not follows:
            raise LogError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"Out of order sequence number for producer {producer.id} {place}: {first}"
                f" (incoming seq. number), {last} (current end sequence number)",
            )

    def update(
        self, batch: BatchHeader, first_offset: int, last_offset: int, timestamp: int
    ) -> None:
        """Remember a batch of data that was written."""
        producer = self._seen(batch)
        producer.last_timestamp = timestamp
        producer.batches.append(
            BatchOfProducer(
                batch.base_sequence,
                batch.last_sequence,
                first_offset,
                last_offset,
                timestamp,
            )
        )
        if batch.transactional and producer.transaction_start is None:
            producer.transaction_start = self._open[producer.id] = first_offset

    def end(self, batch: BatchHeader, marker: Marker, offset: int, timestamp: int) -> Ended | None:
        """Remember a marker that was written; what it ended, if its producer had begun anything."""
        producer = self._seen(batch)
        start, producer.transaction_start = producer.transaction_start, None
        self._open.pop(producer.id, None)
        producer.coordinator_epoch = marker.coordinator_epoch
        producer.last_timestamp = timestamp
        if start is None:
            if not (marker.aborts and self._rules.indexes_empty_aborts):
                return None
            start = offset
        ended = Ended(producer.id, start, offset, marker.aborts)
        self.unreplicated.append(ended)
        return ended

    def _seen(self, batch: BatchHeader) -> Producer:
        producer = self.producers.get(batch.producer_id)
        if producer is None:
            producer = self.producers[batch.producer_id] = Producer(batch.producer_id)
        if batch.producer_epoch != producer.epoch:
            producer.epoch = batch.producer_epoch
            producer.batches.clear()
        return producer

    def snapshot(self) -> list[KnownProducer]:
        """All that outlives a restart: of each producer its last batch only."""
        return [_known(producer) for producer in self.producers.values()]

    def restore(self, known: Iterable[KnownProducer]) -> None:
        """Be as a snapshot says, and nothing else."""
        self.producers = {row.producer_id: _producer(row) for row in known}
        starts = {pid: p.transaction_start for pid, p in self.producers.items()}
        self._open = {pid: start for pid, start in starts.items() if start is not None}
        self.unreplicated = []

    def replicated(self, high_watermark: int) -> None:
        """The high watermark has moved: markers below it hold nobody back any more."""
        if self.unreplicated:
            self.unreplicated = [e for e in self.unreplicated if e.last_offset >= high_watermark]

    def first_unstable_offset(self, high_watermark: int) -> int | None:
        """Start of the earliest transaction that is open or whose marker is not replicated yet."""
        starts = [*self._open.values()]
        starts += (e.first_offset for e in self.unreplicated if e.last_offset >= high_watermark)
        return min(starts, default=None)

    def stable_after(self, ended: Ended) -> int:
        """The last stable offset once this marker counts: what the index of aborts is told."""
        return min(self._open.values(), default=ended.last_offset + 1)

    def forget_idle(self, now: int, most_idle_ms: int) -> None:
        """Drop producers without an open transaction that wrote nothing for so long (LOG-31).

        Idle is meant by the timestamps of their batches, as Kafka means it.
        """
        for pid, producer in list(self.producers.items()):
            idle = now - producer.last_timestamp
            if producer.transaction_start is None and idle >= most_idle_ms:
                del self.producers[pid]

    def forget_before(self, offset: int) -> None:
        """Drop producers whose last batch lies below a log start that moved up."""
        for pid, producer in list(self.producers.items()):
            if producer.batches and producer.batches[-1].last_offset < offset:
                del self.producers[pid]


def _known(producer: Producer) -> KnownProducer:
    last = producer.batches[-1] if producer.batches else None
    start = producer.transaction_start
    return KnownProducer(
        producer.id,
        producer.epoch,
        last.last_sequence if last else NO_SEQUENCE,
        last.last_offset if last else -1,
        last.last_offset - last.first_offset if last else 0,
        producer.last_timestamp,
        producer.coordinator_epoch,
        -1 if start is None else start,
    )


def _producer(known: KnownProducer) -> Producer:
    producer = Producer(
        known.producer_id,
        known.epoch,
        known.coordinator_epoch,
        known.timestamp,
        known.transaction_start if known.transaction_start >= 0 else None,
    )
    if known.last_offset >= 0:
        first_sequence = (known.last_sequence - known.offset_delta) & _LAST_SEQUENCE
        producer.batches.append(
            BatchOfProducer(
                first_sequence,
                known.last_sequence,
                known.last_offset - known.offset_delta,
                known.last_offset,
                known.timestamp,
            )
        )
    return producer
