"""A transactional id has a producer and a transaction, and this value says how they go on.

A change is a new value: it is written to the log first and becomes the id's state only when it is
there (`Transaction` is frozen; `pending` stands beside it, in the coordinator's hands). Epochs are
16 bits and the last one is never given to a client, so that it can always be fenced once more.

Sources: TransactionMetadata at 1.0.2, 2.8.2, trunk of 2024-10; KIP-98, KIP-360, KIP-890.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from touchstone.reference_impl.txn.states import State

NO_PRODUCER_ID = NO_EPOCH = NO_TIME = -1
LAST_EPOCH = 2**15 - 1
Partitions = frozenset[tuple[str, int]]


def exhausted(epoch: int) -> bool:
    """Whether no producer gets a higher epoch than this; the last one only fences."""
    return epoch >= LAST_EPOCH - 1


@dataclass(frozen=True, slots=True)
class Transaction:
    id: str
    producer_id: int
    epoch: int = NO_EPOCH
    timeout_ms: int = 0
    state: State = State.EMPTY
    partitions: Partitions = frozenset()
    started: int = NO_TIME  # ms
    updated: int = NO_TIME  # ms
    last_epoch: int = NO_EPOCH  # before the bump that its own producer asked for (KIP-360)
    previous_id: int = NO_PRODUCER_ID  # before the epochs of that id ran out
    next_id: int = NO_PRODUCER_ID  # to go on with once the markers are written (KIP-890)
    version: int = 0  # of transactions, as the last end was asked for: 0, or 2 with bumps

    def raised(self, timeout_ms: int, now: int, *, keeps_start: bool) -> Transaction:
        """With the next epoch, for a producer that names none."""
        return self._raised(self.epoch + 1, NO_EPOCH, timeout_ms, now, keeps_start)

    def raised_from(
        self, expected: int, timeout_ms: int, now: int, *, keeps_start: bool
    ) -> Transaction | None:
        """With the next epoch; None where `expected` is neither this epoch nor the last.

        One that expects the epoch before the last bump asks again and gets what it got.
        """
        if self.epoch in (NO_EPOCH, expected):
            return self._raised(self.epoch + 1, self.epoch, timeout_ms, now, keeps_start)
        if expected == self.last_epoch:
            return self._raised(self.epoch, self.last_epoch, timeout_ms, now, keeps_start)
        return None

    def _raised(
        self, epoch: int, last: int, timeout_ms: int, now: int, keeps_start: bool
    ) -> Transaction:
        started = self.started if keeps_start else NO_TIME
        return replace(self._empty(self.producer_id, epoch, last, timeout_ms, now), started=started)

    def rotated(self, fresh_id: int, known: bool, timeout_ms: int, now: int) -> Transaction:
        """With a fresh producer id, because the epochs of this one have run out."""
        last = self.epoch if known else NO_EPOCH
        return self._empty(fresh_id, 0, last, timeout_ms, now)

    def _empty(
        self, producer_id: int, epoch: int, last: int, timeout_ms: int, now: int
    ) -> Transaction:
        return replace(
            self,
            state=State.EMPTY,
            producer_id=producer_id,
            previous_id=self.producer_id,
            epoch=epoch,
            last_epoch=last,
            timeout_ms=timeout_ms,
            partitions=frozenset(),
            started=NO_TIME,
            updated=now,
            version=0,
        )

    def extended(self, partitions: Partitions, now: int) -> Transaction:
        started = self.started if self.state is State.ONGOING else now
        return replace(
            self,
            state=State.ONGOING,
            partitions=self.partitions | partitions,
            started=started,
            updated=now,
            version=0,
        )

    def fenced(self, now: int, *, version: int, keeps_last: bool) -> Transaction:
        """Aborting under an epoch that nobody was given."""
        return replace(
            self,
            state=State.PREPARE_ABORT,
            epoch=self.epoch + 1,
            last_epoch=self.epoch if keeps_last else NO_EPOCH,
            updated=now,
            version=version,
        )

    def ending(self, state: State, now: int, *, bumps: bool, fresh_id: int) -> Transaction:
        """Towards this outcome; `bumps` raises the epoch, `fresh_id` is for the last one."""
        return replace(
            self,
            epoch=self.epoch + bumps,
            last_epoch=self.epoch if bumps else self.last_epoch,
            state=state,
            started=now if self.state is not State.ONGOING else self.started,
            next_id=fresh_id,
            updated=now,
            version=2 if bumps else 0,
        )

    def complete(self, state: State, now: int) -> Transaction:
        """Over; with a fresh producer id where one was taken for it."""
        over = replace(self, state=state, partitions=frozenset(), updated=now)
        if self.next_id == NO_PRODUCER_ID:
            return over
        return replace(
            over,
            producer_id=self.next_id,
            previous_id=self.producer_id,
            next_id=NO_PRODUCER_ID,
            epoch=0,
            last_epoch=self.epoch,
        )
