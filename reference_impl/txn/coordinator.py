"""The coordinator of transactions: who may do what with a transactional id, and what follows.

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
from typing import Any, NamedTuple

from touchstone.reference_impl.group.members import Ticket
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

TIMEOUTS, EXPIRY = "timeouts", "expiry"
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
    """What releases and settings decide about transactions; times in ms."""

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
class Held:
    """A transactional id in a partition that this coordinator leads."""

    now: Transaction
    pending: bool = False  # a change is being written
    stranded: bool = False  # its end was written down and then refused: nobody goes on with it


@dataclass(slots=True)
class Led:
    """A partition of `__transaction_state` that this coordinator leads."""

    epoch: int
    held: dict[str, Held] = field(default_factory=dict)
    loading: bool = False


Then = Callable[[int, int], None]  # (error code, now)


class Coordinator:
    def __init__(
        self,
        rules: Rules,
        *,
        partition_of: Callable[[str], int],
        new_id: Callable[[], int],
        keep: Callable[[int, int, str, Transaction | None, int, Then], None],
        mark: Callable[[Transaction, bool, int, int, Callable[[int], None]], None],
        alarm: Callable[[str, int], None],
        switches: frozenset[str] = frozenset(),
    ) -> None:
        self.rules = rules
        self.led: dict[int, Led] = {}
        self._partition_of = partition_of
        self._new_id, self._keep, self._mark, self._alarm = new_id, keep, mark, alarm
        self._switches = switches
        self._armed: set[str] = set()

    # --- which partitions are ours -----------------------------------------------------------

    def lead(self, partition: int, epoch: int, known: dict[str, Transaction], now: int) -> None:
        """This partition's log says `known`; what was being ended is gone on with."""
        led = self.led[partition] = Led(epoch, {key: Held(one) for key, one in known.items()})
        for held in list(led.held.values()):
            if held.now.state in (State.PREPARE_COMMIT, State.PREPARE_ABORT):
                if "half-done-ends-forgotten" not in self._switches:
                    self._have_marked(partition, led, held, now)
            elif held.now.state is State.ONGOING:
                self._arm(TIMEOUTS, self.rules.timeout_check_ms, now)
        self._arm(EXPIRY, self.rules.expiry_check_ms, now)

    def load(self, partition: int, epoch: int) -> None:
        """This partition is ours from now on, and its log is being read; `lead` ends that."""
        self.led[partition] = Led(epoch, loading=True)

    def resign(self, partition: int) -> None:
        """Somebody else leads it; answers to come will say so."""
        self.led.pop(partition, None)

    def find(self, transactional_id: str) -> tuple[Led | None, Held | None, int]:
        """(its partition, what is held of it, why not)."""
        led = self.led.get(self._partition_of(transactional_id))
        if led is None:
            return None, None, E.NOT_COORDINATOR
        if led.loading:
            return led, None, E.COORDINATOR_LOAD_IN_PROGRESS
        return led, led.held.get(transactional_id), E.NONE

    # --- what producers ask ------------------------------------------------------------------

    def begin(
        self, transactional_id: str, timeout_ms: int, expected: Producer | None, now: int
    ) -> Ticket:
        """InitProducerId: the next epoch, or first an end to what was left open."""
        checked = "transaction-timeout-not-validated" not in self._switches
        if checked and not 0 < timeout_ms <= self.rules.max_timeout_ms:
            return _no_producer(E.INVALID_TRANSACTION_TIMEOUT)
        led, held, code = self.find(transactional_id)
        if led is None or code:
            return _no_producer(code)
        if held is None:
            fresh = Transaction(transactional_id, self._new_id(), timeout_ms=timeout_ms)
            held = led.held[transactional_id] = Held(fresh)
        one = held.now
        if held.pending:
            return _no_producer(E.CONCURRENT_TRANSACTIONS)
        if expected is not None and not _may_be(one, expected) and self._fences():
            return _no_producer(E.PRODUCER_FENCED)
        cell = TABLE[one.state, Input.INIT]
        if cell.do is Do.FENCE:
            return self._fence(led, held, now)
        if cell.do is not Do.RAISE_EPOCH:
            return _no_producer(_code(cell))
        epoch = expected.epoch if expected is not None else None
        if exhausted(one.epoch) and epoch in (None, one.epoch):
            to = one.rotated(self._new_id(), epoch is not None, timeout_ms, now)
        else:
            kept = self.rules.keeps_start
            raised = one.raised(epoch, timeout_ms, now, keeps_start=kept)
            if raised is None and self._fences():
                return _no_producer(E.PRODUCER_FENCED)
            to = raised or one.raised(None, timeout_ms, now, keeps_start=kept)
        return self._changed(led, held, to, now)

    def add(
        self, transactional_id: str, producer: Producer, partitions: Partitions, now: int
    ) -> Ticket:
        """AddPartitionsToTxn and AddOffsetsToTxn."""
        led, held, code = self._producers(transactional_id, producer)
        if held is None or led is None or code:
            return _no_producer(code)
        if held.pending:
            return _no_producer(E.CONCURRENT_TRANSACTIONS)
        known = held.now.state is State.ONGOING and partitions <= held.now.partitions
        cell = TABLE[held.now.state, Input.ADD_KNOWN if known else Input.ADD]
        if cell.do is not Do.EXTEND:
            return _no_producer(_code(cell))
        ticket = self._changed(led, held, held.now.extended(partitions, now), now)
        self._arm(TIMEOUTS, self.rules.timeout_check_ms, now)
        return ticket

    def verify(self, transactional_id: str, producer: Producer) -> tuple[int, Partitions]:
        """(why not, the partitions that are in): what brokers ask before they append (KIP-890)."""
        _, held, code = self._producers(transactional_id, producer)
        if held is None or code:
            return code, frozenset()
        cell = TABLE[held.now.state, Input.VERIFY]
        return (E.NONE, held.now.partitions) if cell.do is Do.TELL else (_code(cell), frozenset())

    def end(
        self, transactional_id: str, producer: Producer, commit: bool, *, bumps: bool, now: int
    ) -> Ticket:
        """EndTxn; `bumps` wants the next epoch with it (KIP-890)."""
        led, held, code = self.find(transactional_id)
        if held is None or led is None or code:
            return _no_producer(code or E.INVALID_PRODUCER_ID_MAPPING)
        one = held.now
        kind = "plain"
        if bumps and self.rules.version >= 1:
            kind = "again" if _asks_again(one, producer) else "bumping"
        if kind != "again":
            if one.producer_id != producer.id:
                return _no_producer(E.INVALID_PRODUCER_ID_MAPPING)
            higher_goes = kind == "plain" and not self.rules.equal_epochs
            wrong = producer.epoch < one.epoch if higher_goes else producer.epoch != one.epoch
            if wrong and self._fences():
                return _no_producer(E.PRODUCER_FENCED)
        if held.pending:
            return _no_producer(E.CONCURRENT_TRANSACTIONS)
        if held.stranded and commit != (one.state is State.PREPARE_COMMIT):
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
        held.stranded = ahead = producer.epoch > one.epoch and not self.rules.equal_epochs
        code = E.INVALID_PRODUCER_EPOCH if ahead else E.NONE
        return self._end(led, held, to, now, code, marks=not ahead)

    # --- what time does ----------------------------------------------------------------------

    def tick(self, name: str, now: int) -> None:
        self._armed.discard(name)
        if name == EXPIRY:
            self._expire(now)
            if self.led:
                self._arm(EXPIRY, self.rules.expiry_check_ms, now)
            return
        going_on = False
        for led, held in list(self._all()):
            if held.now.state is not State.ONGOING:
                continue
            late = held.now.started + held.now.timeout_ms < now
            late = late and "transactions-never-time-out" not in self._switches
            if late and not held.pending and TABLE[State.ONGOING, Input.TIMEOUT].do is Do.FENCE:
                self._fence(led, held, now)
            going_on = going_on or not late or held.pending
        if going_on:
            self._arm(TIMEOUTS, self.rules.timeout_check_ms, now)

    def _expire(self, now: int) -> None:
        for led, held in list(self._all()):
            one = held.now
            old = one.updated != -1 and one.updated <= now - self.rules.expiration_ms
            if old and not held.pending and TABLE[one.state, Input.EXPIRE].do is Do.FORGET:
                self._write(led, held, None, now, lambda code, then: None)

    def _arm(self, name: str, interval: int, now: int) -> None:
        if name not in self._armed:
            self._armed.add(name)
            self._alarm(name, now + interval)

    # --- what administrators see -------------------------------------------------------------

    def _all(self) -> Iterator[tuple[Led, Held]]:
        return ((led, held) for led in self.led.values() for held in led.held.values())

    def listed(self) -> Iterator[Transaction]:
        return (held.now for _, held in self._all())

    # --- changes -----------------------------------------------------------------------------

    def _fences(self) -> bool:
        return "fencing-skipped" not in self._switches

    def _producers(
        self, transactional_id: str, producer: Producer
    ) -> tuple[Led | None, Held | None, int]:
        """As `find`, for a producer that must be the one and have its epoch."""
        led, held, code = self.find(transactional_id)
        if not code:
            if held is None or held.now.producer_id != producer.id:
                code = E.INVALID_PRODUCER_ID_MAPPING
            elif held.now.epoch != producer.epoch and self._fences():
                code = E.PRODUCER_FENCED
        return led, held, code

    def _write(self, led: Led, held: Held, to: Transaction | None, now: int, then: Then) -> None:
        name = held.now.id
        partition = self._partition_of(name)
        held.pending = True

        def kept(code: int, at: int) -> None:
            held.pending = False
            if self.led.get(partition) is not led:
                code = E.NOT_COORDINATOR
            elif not code and to is None:
                led.held.pop(name, None)
            elif not code and to is not None:
                held.now = to
            then(code, at)

        self._keep(partition, led.epoch, name, to, now, kept)

    def _changed(self, led: Led, held: Held, to: Transaction, now: int) -> Ticket:
        ticket = Ticket()

        def then(code: int, at: int) -> None:
            ticket.give(_answer(code) if code else _answer(E.NONE, to))

        self._write(led, held, to, now, then)
        return ticket

    def _fence(self, led: Led, held: Held, now: int) -> Ticket:
        """Abort under an epoch that nobody has; the answer is to ask again."""
        if held.now.epoch == LAST_EPOCH:
            raise AssertionError(f"{held.now.id} has an epoch that cannot be fenced")
        gently = self.rules.fences_gently
        to = held.now.fenced(now, version=self.rules.version, keeps_last=gently)
        return self._end(led, held, to, now, E.CONCURRENT_TRANSACTIONS)

    def _end(
        self, led: Led, held: Held, to: Transaction, now: int, code: int = E.NONE,
        *, marks: bool = True,
    ) -> Ticket:  # fmt: skip
        ticket = Ticket()

        def then(failed: int, at: int) -> None:
            if failed:
                ticket.give(_answer(failed))
                return
            over = to.complete(State.COMPLETE_COMMIT, at)
            ticket.give(_answer(code) if code else _answer(E.NONE, over))
            if marks:
                self._have_marked(self._partition_of(to.id), led, held, at)

        self._write(led, held, to, now, then)
        return ticket

    def _have_marked(self, partition: int, led: Led, held: Held, now: int) -> None:
        one = held.now
        commit = one.state is State.PREPARE_COMMIT

        def done(at: int) -> None:
            if self.led.get(partition) is led and held.now is one:
                over = one.complete(TABLE[one.state, Input.MARKED].next, at)
                self._write(led, held, over, at, lambda code, then: None)

        self._mark(one, commit, led.epoch, now, done)


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
    if cell.do is Do.FAULT:
        raise AssertionError("a transaction in a state that it cannot be in")
    return E.NONE


def _answer(code: int, one: Transaction | None = None) -> dict[str, Any]:
    return {
        "error_code": code,
        "producer_id": NO_PRODUCER_ID if one is None else one.producer_id,
        "producer_epoch": NO_EPOCH if one is None else one.epoch,
    }


def _no_producer(code: int) -> Ticket:
    return Ticket(_answer(code))


def _producer(one: Transaction) -> Ticket:
    return Ticket(_answer(E.NONE, one))
