"""Whose records these are, and which number comes next: the idempotent half of TransactionManager.

Every partition counts its records from 0 under one producer id and epoch. Batches that are under
way, or wait to be tried again, are remembered in the order of their sequences, so that a partition
keeps its order with several requests in flight (PROD-40). When a sequence is lost (a batch failed
for good, or the broker has forgotten us) the epoch is bumped, the batches of that partition are
numbered from 0 again, and nothing of what the old epoch left behind can be taken for theirs.

In one place this is stricter than Kafka 4.3.1: a batch that expires in flight at its first attempt
leaves its partition unresolved too. Kafka marks only those that were tried again, and sends on
behind a gap that the broker may refuse until the next delivery timeout.

Sources: TransactionManager, TxnPartitionMap, TxnPartitionEntry at 4.3.1; KIP-98, KIP-360.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.errors import is_retriable

from .flow import TopicPartition
from .producer_batch import ProducerBatch

NOBODY = (-1, -1)
_LAST_EPOCH = (1 << 15) - 1


@dataclass(slots=True)
class PartitionSequences:
    producer: tuple[int, int] = NOBODY
    next: int = 0
    last_acked: int = -1
    last_acked_offset: int = -1
    in_flight: list[ProducerBatch] = field(default_factory=list)  # by sequence; retries included

    def add(self, batch: ProducerBatch) -> None:
        self.in_flight.append(batch)
        self.in_flight.sort(key=lambda each: (*each.producer, each.sequence))

    def begin_again(self, producer: tuple[int, int]) -> None:
        """Number what is in flight from 0, as that producer's."""
        self.producer, self.last_acked, self.next = producer, -1, 0
        for batch in self.in_flight:
            batch.number(producer, self.next)
            batch.renumbered = True
            self.next += len(batch.deliveries)


class Sequences:
    def __init__(self, *, transactional: bool = False):
        self.transactional = transactional
        self.producer: tuple[int, int] = NOBODY
        self.bump_required = False
        self._of: dict[TopicPartition, PartitionSequences] = {}
        self._unresolved: dict[TopicPartition, int] = {}  # place -> the sequence after the lost one
        self._to_renumber: set[TopicPartition] = set()

    def reset(self, producer: tuple[int, int]) -> None:
        """A new id or epoch from a coordinator: every partition begins at 0."""
        self.producer = producer
        self.bump_required = False
        for each in (self._of, self._unresolved, self._to_renumber):
            each.clear()

    def of(self, place: TopicPartition) -> PartitionSequences:
        return self._of.setdefault(place, PartitionSequences())

    # --- drain ---------------------------------------------------------------------------------

    def holds_back(self, batch: ProducerBatch) -> bool:
        """RecordAccumulator.shouldStopDrainBatchesForPartition, for the head of a queue."""
        if self.producer == NOBODY:
            return True
        known = self.of(batch.place)
        if batch.sequence < 0:
            stale = known.producer != self.producer
            return (bool(known.in_flight) and stale) or batch.place in self._unresolved
        return bool(known.in_flight) and known.in_flight[0].sequence != batch.sequence

    def number(self, batch: ProducerBatch) -> None:
        """Give a batch its sequence; one that is sent again keeps what it has."""
        if batch.sequence >= 0:
            return
        known = self.of(batch.place)
        if known.producer != self.producer and not known.in_flight:
            known.begin_again(self.producer)
        batch.number(self.producer, known.next)
        batch.transactional = self.transactional
        known.next = (known.next + len(batch.deliveries)) & 0x7FFFFFFF
        known.add(batch)

    def add(self, batch: ProducerBatch) -> None:
        """A part of a batch that was split, with its own share of the sequences."""
        self.of(batch.place).add(batch)

    def remove(self, batch: ProducerBatch) -> None:
        known = self.of(batch.place)
        known.in_flight = [each for each in known.in_flight if each is not batch]

    # --- what becomes of a batch ---------------------------------------------------------------

    def completed(self, batch: ProducerBatch, base_offset: int) -> None:
        known = self.of(batch.place)
        known.last_acked = max(known.last_acked, batch.last_sequence)
        if base_offset >= 0:
            last = base_offset + len(batch.deliveries) - 1
            known.last_acked_offset = max(known.last_acked_offset, last)
        self.remove(batch)

    def failed(self, batch: ProducerBatch, code: int, *, certain: bool) -> None:
        """`certain`: the broker refused it, so its sequence was not used."""
        self.remove(batch)
        if batch.sequence < 0:
            return
        if code == E.OUT_OF_ORDER_SEQUENCE_NUMBER and not self.transactional:
            self.request_bump(batch.place)
        elif code == E.UNKNOWN_PRODUCER_ID:
            known = self.of(batch.place)
            known.next, known.last_acked = 0, -1
        elif certain and not self.transactional:
            self.request_bump(batch.place)
        elif certain:
            self._close_gap(batch)

    def _close_gap(self, failed: ProducerBatch) -> None:
        """In a transaction what follows a refused batch moves up by its records."""
        known, count = self.of(failed.place), len(failed.deliveries)
        known.next -= count
        for batch in known.in_flight:
            if batch.sequence >= failed.sequence:
                batch.number(batch.producer, batch.sequence - count)
                batch.renumbered = True

    def expired(self, batch: ProducerBatch) -> None:
        """Nobody knows whether it was stored: until that is known nothing new is sent (PROD-42)."""
        self.remove(batch)
        if batch.sequence >= 0:
            after = batch.last_sequence + 1
            self._unresolved[batch.place] = max(self._unresolved.get(batch.place, after), after)

    def may_retry(self, batch: ProducerBatch, code: int, log_start_offset: int) -> bool:
        """Whether another try can help (TransactionManager.canRetry); asks for a bump if due."""
        place = batch.place
        if code == E.UNKNOWN_PRODUCER_ID:
            if log_start_offset == -1 or batch.renumbered:
                return True
            known = self.of(place)
            if known.last_acked_offset < log_start_offset and self.transactional:
                known.begin_again(self.producer)  # retention took what the broker knew of us
                return True
            if not self.transactional:
                self.request_bump(place)
                return True
        elif code == E.OUT_OF_ORDER_SEQUENCE_NUMBER:
            unresolved = self._unresolved.get(place)
            known = self.of(place)
            next_in_line = batch.sequence - known.last_acked == 1
            if unresolved is None and (batch.renumbered or not next_in_line):
                return True  # one before it failed, and it comes after that one is through
            if not self.transactional:
                if unresolved is None or batch.sequence == unresolved:
                    self.request_bump(place)
                return True
        return is_retriable(code)

    # --- bumping -------------------------------------------------------------------------------

    def request_bump(self, place: TopicPartition) -> None:
        self.bump_required = True
        self._to_renumber.add(place)

    def resolve(self) -> list[TopicPartition]:
        """Settle what is unresolved and has nothing in flight any more; places that lost records.

        Without a transaction those get a new epoch; in one, their producer must abort.
        """
        lost = []
        for place in list(self._unresolved):
            known = self.of(place)
            if known.in_flight:
                continue
            if known.next - known.last_acked != 1:
                lost.append(place)
                if not self.transactional:
                    self.request_bump(place)
            del self._unresolved[place]
        return lost

    def bump_if_required(self) -> None:
        """The next epoch without asking anybody; a new id has to be asked for after the last."""
        if not self.bump_required or self.producer == NOBODY:
            return
        id_, epoch = self.producer
        self.producer = (id_, epoch + 1) if epoch < _LAST_EPOCH else NOBODY
        if self.producer == NOBODY:
            return  # `bump_required` stays: the partitions are numbered under the new id
        for place in self._to_renumber:
            self.of(place).begin_again(self.producer)
            self._unresolved.pop(place, None)
        self._to_renumber.clear()
        self.bump_required = False

    def took_id(self, producer: tuple[int, int]) -> None:
        """An id of an idempotent producer; after the last epoch what is in flight moves to it."""
        self.producer = producer
        if self.bump_required:
            for place in self._to_renumber:
                self.of(place).begin_again(producer)
                self._unresolved.pop(place, None)
            self._to_renumber.clear()
            self.bump_required = False
