"""The transaction coordinator decides who may do what with a transactional id.

It is told what happened and answers with a `Ticket`, filled at once or when a write is through.
Every change is kept in the log of its partition before it counts, and while that takes, and while
markers are being written, the id is busy (CONCURRENT_TRANSACTIONS). What a state does with an input
is read from `states.TABLE`; what must be checked before it (is this our partition, is this the
producer, is its epoch the right one) stands here, in Kafka's order.

What it needs from outside are four calls: `new_id()` a fresh producer id; `keep(...)` a record in
the log, with a call when it counts; `mark(...)` the markers of an ended transaction, with a call
when all are written; `alarm(name, instant)` to be ticked. No logs, no requests, no clock.

Sources: TransactionCoordinator and TransactionStateManager at 1.0.2, 2.2.1, 2.8.2, trunk of
2024-10; KIP-98, KIP-360, KIP-588, KIP-890; observed on all five releases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.txn.states import TABLE, Cell, Do, Input, State
from touchstone.reference_impl.txn.transaction import (
    LAST_EPOCH,
    NO_EPOCH,
    NO_PRODUCER_ID,
    Partitions,
    Transaction,
    exhausted,
)
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

TIMEOUTS, EXPIRY, COMPLETIONS = "timeouts", "expiry", "completions"
AGAIN_MS = 20  # after which a marker or a completion that could not be written is tried again
_ENDS = {
    (True, "plain"): Input.COMMIT,
    (False, "plain"): Input.ABORT,
    (True, "bumping"): Input.COMMIT_BUMPING,
    (False, "bumping"): Input.ABORT_BUMPING,
    (True, "again"): Input.COMMIT_AGAIN,
    (False, "again"): Input.ABORT_AGAIN,
}


@dataclass(frozen=True, slots=True)
class Rules:
    """The decisions of releases and settings about transactions; times in ms."""

    max_timeout_ms: int
    expiration_ms: int
    timeout_check_ms: int
    expiry_check_ms: int
    equal_epochs: bool  # an end names exactly the epoch that is; before KIP-360 a higher one goes
    fences_gently: bool  # who was fenced by a timeout may take its epoch up again (4.x)
    keeps_start: bool  # an empty transaction still says when the last one began (until 3.9)
    version: int  # of transactions, as the cluster's feature says: 0, or 2 with bumps


class Producer(NamedTuple):
    id: int
    epoch: int


@dataclass(slots=True)
class TransactionEntry:
    """A transactional id in a partition that this coordinator leads."""

    transaction: Transaction
    pending: bool = False  # a change is being written
    stranded: bool = False  # its end was written down and then refused: nobody goes on with it


@dataclass(slots=True)
class LedPartition:
    """A partition of `__transaction_state` that this coordinator leads."""

    epoch: int
    entries: dict[str, TransactionEntry] = field(default_factory=dict)
    loading: bool = False


Written = Callable[[int, int], None]  # (error code, now)


class Coordinator:
    def __init__(
        self,
        rules: Rules,
        *,
        partition_of: Callable[[str], int],
        new_id: Callable[[], int],
        keep: Callable[[int, int, str, Transaction | None, int, Written], None],
        mark: Callable[[Transaction, bool, int, int, Callable[[int], None]], None],
        alarm: Callable[[str, int], None],
    ) -> None:
        self.rules = rules
        self.led: dict[int, LedPartition] = {}
        self._partition_of = partition_of
        self._new_id, self._keep, self._mark, self._alarm = new_id, keep, mark, alarm
        self._armed: set[str] = set()
        self._unfinished: list[Callable[[int], None]] = []  # completions that could not be written

    # --- which partitions are ours -----------------------------------------------------------

    def lead(self, partition: int, epoch: int, known: dict[str, Transaction], now: int) -> None:
        """Load a partition whose log holds `known`; transactions that were being ended go on."""
        led = self.led[partition] = LedPartition(
            epoch, {key: TransactionEntry(one) for key, one in known.items()}
        )
        for entry in list(led.entries.values()):
            if entry.transaction.state in (State.PREPARE_COMMIT, State.PREPARE_ABORT):
                self._have_marked(partition, led, entry, now)
            elif entry.transaction.state is State.ONGOING:
                self._arm(TIMEOUTS, self.rules.timeout_check_ms, now)
        self._arm(EXPIRY, self.rules.expiry_check_ms, now)

    def load(self, partition: int, epoch: int) -> None:
        """This partition is ours from now on, and its log is being read; `lead` ends that."""
        self.led[partition] = LedPartition(epoch, loading=True)

    def resign(self, partition: int) -> None:
        """Let go of a partition that another broker leads; later answers will say so."""
        self.led.pop(partition, None)

    def find(
        self, transactional_id: str
    ) -> tuple[LedPartition | None, TransactionEntry | None, int]:
        """(its partition, what is known of it, why not)."""
        led = self.led.get(self._partition_of(transactional_id))
        if led is None:
            return None, None, E.NOT_COORDINATOR
        if led.loading:
            return led, None, E.COORDINATOR_LOAD_IN_PROGRESS
        return led, led.entries.get(transactional_id), E.NONE

    # --- what producers ask ------------------------------------------------------------------

    def begin(
        self, transactional_id: str, timeout_ms: int, expected: Producer | None, now: int
    ) -> Ticket[Struct]:
        """InitProducerId: the next epoch, or first an end to what was left open."""
        if not self._may_last(timeout_ms):
            return _no_producer(E.INVALID_TRANSACTION_TIMEOUT)
        led, entry, code = self.find(transactional_id)
        if led is None or code:
            return _no_producer(code)
        if entry is None:
            fresh = Transaction(transactional_id, self._new_id(), timeout_ms=timeout_ms)
            entry = led.entries[transactional_id] = TransactionEntry(fresh)
        one = entry.transaction
        if entry.pending:
            return _no_producer(E.CONCURRENT_TRANSACTIONS)
        if expected is not None and not _may_be(one, expected):
            return _no_producer(E.PRODUCER_FENCED)
        cell = TABLE[one.state, Input.INIT]
        if cell.do is Do.FENCE:
            return self._fence(led, entry, now)
        if cell.do is not Do.RAISE_EPOCH:
            return _no_producer(_code(cell))
        epoch = expected.epoch if expected is not None else None
        if exhausted(one.epoch) and epoch in (None, one.epoch):
            to = one.rotated(self._new_id(), epoch is not None, timeout_ms, now)
        else:
            kept, known = self.rules.keeps_start, None
            if epoch is not None:
                known = one.raised_from(epoch, timeout_ms, now, keeps_start=kept)
                if known is None:
                    return _no_producer(E.PRODUCER_FENCED)
            to = known or one.raised(timeout_ms, now, keeps_start=kept)
        return self._changed(led, entry, to, now)

    def add(
        self, transactional_id: str, producer: Producer, partitions: Partitions, now: int
    ) -> Ticket[Struct]:
        """AddPartitionsToTxn and AddOffsetsToTxn."""
        led, entry, code = self._producers(transactional_id, producer)
        if entry is None or led is None or code:
            return _no_producer(code)
        if entry.pending:
            return _no_producer(E.CONCURRENT_TRANSACTIONS)
        one = entry.transaction
        known = one.state is State.ONGOING and partitions <= one.partitions
        cell = TABLE[one.state, Input.ADD_KNOWN if known else Input.ADD]
        if cell.do is not Do.EXTEND:
            return _no_producer(_code(cell))
        ticket = self._changed(led, entry, entry.transaction.extended(partitions, now), now)
        self._arm(TIMEOUTS, self.rules.timeout_check_ms, now)
        return ticket

    def verify(self, transactional_id: str, producer: Producer) -> tuple[int, Partitions]:
        """(why not, the partitions that are in): what brokers ask before they append (KIP-890)."""
        _, entry, code = self._producers(transactional_id, producer)
        if entry is None or code:
            return code, frozenset()
        one = entry.transaction
        cell = TABLE[one.state, Input.VERIFY]
        return (E.NONE, one.partitions) if cell.do is Do.TELL else (_code(cell), frozenset())

    def end(
        self, transactional_id: str, producer: Producer, commit: bool, *, bumps: bool, now: int
    ) -> Ticket[Struct]:
        """EndTxn; `bumps` wants the next epoch with it (KIP-890)."""
        led, entry, code = self.find(transactional_id)
        if entry is None or led is None or code:
            return _no_producer(code or E.INVALID_PRODUCER_ID_MAPPING)
        one = entry.transaction
        kind = "plain"
        if bumps and self.rules.version >= 1:
            kind = "again" if _asks_again(one, producer) else "bumping"
        if kind != "again":
            if one.producer_id != producer.id:
                return _no_producer(E.INVALID_PRODUCER_ID_MAPPING)
            higher_goes = kind == "plain" and not self.rules.equal_epochs
            wrong = producer.epoch < one.epoch if higher_goes else producer.epoch != one.epoch
            if wrong:
                return _no_producer(E.PRODUCER_FENCED)
        if entry.pending:
            return _no_producer(E.CONCURRENT_TRANSACTIONS)
        if entry.stranded and commit != (one.state is State.PREPARE_COMMIT):
            return _no_producer(E.INVALID_TXN_STATE)  # no marker is on its way to be waited for
        cell = TABLE[one.state, _ENDS[commit, kind]]
        if cell.do is Do.NOTHING:
            return _producer(one)
        if cell.do is not Do.END:
            return _no_producer(_code(cell))
        bumps = kind == "bumping"
        fresh = self._new_id() if bumps and exhausted(one.epoch) else NO_PRODUCER_ID
        to = one.ending(cell.next, now, bumps=bumps, fresh_id=fresh)
        # Taken, written, then found wrong: nobody has its markers written (seen on 1.0.2, 2.2.1).
        entry.stranded = ahead = producer.epoch > one.epoch and not self.rules.equal_epochs
        code = E.INVALID_PRODUCER_EPOCH if ahead else E.NONE
        return self._end(led, entry, to, now, code, marks=not ahead)

    # --- what time does ----------------------------------------------------------------------

    def tick(self, name: str, now: int) -> None:
        self._armed.discard(name)
        if name == EXPIRY:
            self._expire(now)
            if self.led:
                self._arm(EXPIRY, self.rules.expiry_check_ms, now)
            return
        if name == COMPLETIONS:
            unfinished, self._unfinished = self._unfinished, []
            for complete in unfinished:
                complete(now)
            return
        going_on = False
        for led, entry in list(self._all()):
            if entry.transaction.state is not State.ONGOING:
                continue
            late = self._is_late(entry.transaction, now)
            if late and not entry.pending and TABLE[State.ONGOING, Input.TIMEOUT].do is Do.FENCE:
                self._fence(led, entry, now)
            # Also where the fence could not be written: Kafka looks again for as long as it leads.
            going_on = going_on or entry.transaction.state is State.ONGOING
        if going_on:
            self._arm(TIMEOUTS, self.rules.timeout_check_ms, now)

    def _expire(self, now: int) -> None:
        for led, entry in list(self._all()):
            one = entry.transaction
            old = one.updated != -1 and one.updated <= now - self.rules.expiration_ms
            if old and not entry.pending and TABLE[one.state, Input.EXPIRE].do is Do.FORGET:
                self._write(led, entry, None, now, lambda code, then: None)

    def _arm(self, name: str, interval: int, now: int) -> None:
        if name not in self._armed:
            self._armed.add(name)
            self._alarm(name, now + interval)

    # --- what administrators see -------------------------------------------------------------

    def _all(self) -> Iterator[tuple[LedPartition, TransactionEntry]]:
        return ((led, entry) for led in self.led.values() for entry in led.entries.values())

    def listed(self) -> Iterator[Transaction]:
        return (entry.transaction for _, entry in self._all())

    # --- changes -----------------------------------------------------------------------------

    def _may_last(self, timeout_ms: int) -> bool:
        return 0 < timeout_ms <= self.rules.max_timeout_ms

    def _is_late(self, one: Transaction, now: int) -> bool:
        return one.started + one.timeout_ms < now

    def _producers(
        self, transactional_id: str, producer: Producer
    ) -> tuple[LedPartition | None, TransactionEntry | None, int]:
        """As `find`, for a producer that must have this id and this epoch."""
        led, entry, code = self.find(transactional_id)
        if not code:
            if entry is None or entry.transaction.producer_id != producer.id:
                code = E.INVALID_PRODUCER_ID_MAPPING
            elif entry.transaction.epoch != producer.epoch:
                code = E.PRODUCER_FENCED
        return led, entry, code

    def _write(
        self,
        led: LedPartition,
        entry: TransactionEntry,
        to: Transaction | None,
        now: int,
        then: Written,
    ) -> None:
        name = entry.transaction.id
        partition = self._partition_of(name)
        entry.pending = True

        def kept(code: int, at: int) -> None:
            entry.pending = False
            if self.led.get(partition) is not led:
                code = E.NOT_COORDINATOR
            elif not code and to is None:
                led.entries.pop(name, None)
            elif not code and to is not None:
                entry.transaction = to
            then(code, at)

        self._keep(partition, led.epoch, name, to, now, kept)

    def _changed(
        self, led: LedPartition, entry: TransactionEntry, to: Transaction, now: int
    ) -> Ticket[Struct]:
        ticket: Ticket[Struct] = Ticket()

        def then(code: int, at: int) -> None:
            ticket.give(_answer(code) if code else _answer(E.NONE, to))

        self._write(led, entry, to, now, then)
        return ticket

    def _fence(self, led: LedPartition, entry: TransactionEntry, now: int) -> Ticket[Struct]:
        """Abort under an epoch that nobody has; the answer is to ask again."""
        if entry.transaction.epoch == LAST_EPOCH:
            raise AssertionError(f"{entry.transaction.id} has an epoch that cannot be fenced")
        gently = self.rules.fences_gently
        to = entry.transaction.fenced(now, version=self.rules.version, keeps_last=gently)
        return self._end(led, entry, to, now, E.CONCURRENT_TRANSACTIONS)

    def _end(
        self,
        led: LedPartition,
        entry: TransactionEntry,
        to: Transaction,
        now: int,
        code: int = E.NONE,
        *,
        marks: bool = True,
    ) -> Ticket[Struct]:
        ticket: Ticket[Struct] = Ticket()

        def then(failed: int, at: int) -> None:
            if failed:
                ticket.give(_answer(failed))
                return
            over = to.complete(State.COMPLETE_COMMIT, at)
            ticket.give(_answer(code) if code else _answer(E.NONE, over))
            if marks:
                self._have_marked(self._partition_of(to.id), led, entry, at)

        self._write(led, entry, to, now, then)
        return ticket

    def _have_marked(
        self, partition: int, led: LedPartition, entry: TransactionEntry, now: int
    ) -> None:
        one = entry.transaction
        commit = one.state is State.PREPARE_COMMIT

        def complete(at: int) -> None:
            if self.led.get(partition) is led and entry.transaction is one:
                over = one.complete(TABLE[one.state, Input.MARKED].next, at)
                self._write(led, entry, over, at, written)

        def written(code: int, at: int) -> None:
            # Nobody asks for a completion, so nobody else tries again, and the id is busy until it
            # is written (TransactionMarkerChannelManager.retryLogAppends at 1.0.2, 2.2.1, 2.8.2).
            if code == E.COORDINATOR_NOT_AVAILABLE:
                self._unfinished.append(complete)
                self._arm(COMPLETIONS, AGAIN_MS, at)

        self._mark(one, commit, led.epoch, now, complete)


def _may_be(one: Transaction, expected: Producer) -> bool:
    """Whether that producer may have had this id, or had it before its epochs ran out (KIP-360)."""
    if one.epoch == NO_EPOCH or expected.id == one.producer_id:
        return True
    return expected.id == one.previous_id and exhausted(expected.epoch)


def _asks_again(one: Transaction, producer: Producer) -> bool:
    """Whether an end names the epoch before the bump that an end has made already."""
    if one.version < 2 or one.state in (State.EMPTY, State.ONGOING):
        return False
    if one.producer_id == producer.id:
        return one.epoch == producer.epoch + 1
    return one.previous_id == producer.id and exhausted(producer.epoch) and one.epoch == 0


def _code(cell: Cell) -> int:
    if isinstance(cell.do, E):
        return cell.do
    if cell.do is Do.IMPOSSIBLE:
        raise AssertionError("a transaction in a state that it cannot be in")
    return E.NONE


def _answer(code: int, one: Transaction | None = None) -> Struct:
    return {
        "error_code": code,
        "producer_id": NO_PRODUCER_ID if one is None else one.producer_id,
        "producer_epoch": NO_EPOCH if one is None else one.epoch,
    }


def _no_producer(code: int) -> Ticket[Struct]:
    return Ticket(_answer(code))


def _producer(one: Transaction) -> Ticket[Struct]:
    return Ticket(_answer(E.NONE, one))
