"""A share partition knows the records of one partition that are in flight in one group.

Between the start offset and the end offset every record is in a `Run`; what is before is done, what
is behind nobody has asked for. Acquiring stands in `acquisition.py`. Acknowledging and releasing
give a `Change`: its rows are written down by the owner, who then says with `settle` whether that
went well. A lock that ended is no change anybody could take back, so `expire` only gives rows.

`limits()` is what configs say at the moment. Offsets are the log's, instants ms. Refusals are
`AcknowledgementError`, a code and Kafka's words.

Sources: SharePartition@4.3.1; KIP-932, KIP-1222, KIP-1226; observed on 4.3.1.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from touchstone.reference_impl.share.checks import BECOMES, RENEW, AcknowledgementBatch
from touchstone.reference_impl.share.in_flight import (
    ACQUIRED,
    ARCHIVED,
    AVAILABLE,
    NOBODY,
    TERMINAL,
    InFlight,
    Run,
    State,
)
from touchstone.reference_impl.share.state_batches import StateBatch
from touchstone.reference_impl.wire.errors import ErrorCode as E


class Limits(NamedTuple):
    locks: int  # records in flight
    deliveries: int
    lock_ms: int
    renews: bool


class AcknowledgementError(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def _state(words: str) -> AcknowledgementError:
    return AcknowledgementError(E.INVALID_RECORD_STATE, words)


@dataclass(slots=True)
class Change:
    """A change that was begun: pairs of a state and the row to write for it."""

    pairs: list[tuple[InFlight, StateBatch]] = field(default_factory=list)
    refusal: AcknowledgementError | None = None

    @property
    def rows(self) -> list[StateBatch]:
        return [row for _, row in self.pairs]


class SharePartition:
    def __init__(
        self,
        start: int,
        limits: Callable[[], Limits],
        *,
        batches: Sequence[StateBatch] = (),
    ) -> None:
        """`batches` is what was written down of records from `start` on."""
        self.start = self.end = start
        self.limits = limits
        self.runs: list[Run] = []  # by first offset
        self.gaps_from: int | None = None  # records before the end that no batch told of
        self.gaps_end = -1
        self.seek = False  # records before the end are Available again
        self.done = 0  # Acknowledged or Archived from the start offset on
        for row in batches:
            self._load(row)
        if self.runs:
            self.seek = True
            self.end = self.runs[-1].last
            if self.gaps_from is not None:
                self.gaps_end = self.end
            self.advance()

    def _load(self, row: StateBatch) -> None:
        expected = self.runs[-1].last + 1 if self.runs else self.start
        if row.first > expected and self.gaps_from is None:
            self.gaps_from = expected
        state = State(row.state)
        self.runs.append(Run(row.first, row.last, InFlight(state, row.count)))
        if state in TERMINAL:
            self.done += row.last - row.first + 1

    # --- where things are --------------------------------------------------------------------

    @property
    def in_flight(self) -> int:
        return self.end - self.start + 1 if self.runs else 0

    @property
    def gap(self) -> int | None:
        """The first offset of which no batch told, while that is not yet made up for."""
        return self.gaps_from if self.gaps_end == self.end else None

    def floor(self, offset: int) -> int:
        """The place of the last run that begins at or before the offset; -1 for none."""
        return bisect_right(self.runs, offset, key=lambda run: run.first) - 1

    def between(self, first: int, last: int) -> list[Run]:
        """Runs that begin within these offsets."""
        return [run for run in self.runs if first <= run.first <= last]

    def next_offset(self) -> int:
        """The offset at which a fetch begins to read."""
        if not self.runs or self.start > self.runs[-1].last:
            self.seek = False
            return self.end
        if self.seek:
            found = self._first_free()
            if found is not None:
                return found
            self.seek = False
        return self.end + 1

    def _first_free(self) -> int | None:
        gap = self.gap
        for run in self.runs:
            if gap is not None:
                if run.first > gap:
                    return gap
                gap = max(run.last + 1, gap)
            for first, _, one in run.parts():
                if one.free:
                    return first
        return None

    def is_free(self, one: InFlight) -> bool:
        return one.free

    def give(self, one: InFlight, member: str, limits: Limits, now: int) -> bool:
        """Have the member acquire it; whether that can be."""
        if not one.turn(ACQUIRED, limits.deliveries, member, delivers=True):
            return False
        one.expires = now + limits.lock_ms
        return True

    def can_acquire(self) -> bool:
        if self.next_offset() != self.end + 1:
            return True
        return self.in_flight < self.limits().locks

    def deadline(self) -> int | None:
        """The instant at which the next lock ends."""
        instants = [
            one.expires
            for run in self.runs
            for _, _, one in run.parts()
            if one.expires is not None and one.before is None
        ]
        return min(instants, default=None)

    # --- acknowledging -----------------------------------------------------------------------

    def acknowledge(self, member: str, batches: Sequence[AcknowledgementBatch], now: int) -> Change:
        change = Change()
        try:
            for batch in batches:
                if batch.last >= self.start:
                    for run in self._acknowledged(batch):
                        self._acknowledge(run, batch, member, change, now)
        except AcknowledgementError as refusal:
            change.refusal = refusal
            self._conclude(change, False, now)
        return change

    def _acknowledged(self, batch: AcknowledgementBatch) -> list[Run]:
        at = self.floor(batch.first)
        if at < 0 and batch.first < self.start <= batch.last:
            at = self.floor(self.start)
        if at < 0:
            words = "Batch record not found. The request batch offsets are not found in the cache."
            raise _state(words)
        runs = self.between(self.runs[at].first, batch.last)
        for which, past in (("first", batch.first), ("last", batch.last)):
            if past > runs[-1].last:
                words = f"The {which} offset in request is past acquired records."
                raise AcknowledgementError(E.INVALID_REQUEST, f"Batch record not found. {words}")
        return runs

    def _acknowledge(
        self, run: Run, batch: AcknowledgementBatch, member: str, change: Change, now: int
    ) -> None:
        if run.last < self.start:
            return
        if run.whole is not None:
            self._check_whole(run.whole, member)
        halved = run.first < self.start <= run.last
        apart = not run.within(batch.first, batch.last) or len(batch.types) > 1 or halved
        if run.whole is not None and not apart:
            self._turn(run.first, run.last, run.whole, batch.types[0], change, now)
            return
        if run.whole is not None and run.whole.state is not ACQUIRED:
            words = "The subset batch is not in the acquired state."
            raise _state(f"The batch cannot be acknowledged. {words}")
        run.split()
        for at, one in run.each.items():
            if max(batch.first, self.start) <= at <= batch.last:
                self._check_one(one, member)
                self._turn(at, at, one, batch.type_of(at), change, now)

    def _check_whole(self, one: InFlight, member: str) -> None:
        if one.member == NOBODY:
            words = "The batch is not in the acquired state."
            raise _state(f"The batch cannot be acknowledged. {words}")
        if one.member != member:
            raise _state("Member is not the owner of batch record")
        self._check_pending(one)

    def _check_one(self, one: InFlight, member: str) -> None:
        if one.state is not ACQUIRED:
            raise _state("The offset cannot be acknowledged. The offset is not acquired.")
        self._check_pending(one)
        if one.member != member:
            raise _state("Member is not the owner of offset")

    def _check_pending(self, one: InFlight) -> None:
        if one.before is not None:
            words = "The acknowledgement of delivery could not be completed."
            raise _state(f"The record state is invalid. {words}")

    def _turn(
        self, first: int, last: int, one: InFlight, kind: int, change: Change, now: int
    ) -> None:
        limits = self.limits()
        if kind == RENEW:
            if not limits.renews:
                raise _state("Renewing acquisition locks is not enabled for the group.")
            one.expires = now + limits.lock_ms
            return
        if not one.begin(BECOMES[kind], limits.deliveries):
            raise _state("Unable to acknowledge records for the batch")
        self._noted(first, last, one, change)
        if one.state in TERMINAL:
            self.done += last - first + 1

    def _noted(self, first: int, last: int, one: InFlight, change: Change) -> None:
        change.pairs.append((one, StateBatch(first, last, one.count, one.state)))

    def settle(self, change: Change, good: bool, now: int) -> bool:
        """The rows were written, or not; whether the start offset moved."""
        self._conclude(change, good, now)
        return good and self.advance()

    def _conclude(self, change: Change, good: bool, now: int) -> None:
        for one, row in change.pairs:
            one.settle(good, now)
            if one.state is AVAILABLE:
                self.seek = True
            if not good and row.state in TERMINAL and one.state not in TERMINAL:
                self.done -= self._counted(row.first, row.last)

    def _counted(self, first: int, last: int) -> int:
        return max(0, last - max(self.start, first) + 1)

    # --- releasing ---------------------------------------------------------------------------

    def release(self, member: str) -> Change:
        """Give back what a member has, as when its session ends."""
        change = Change()
        limit = self.limits().deliveries
        for run in self.runs:
            one = run.whole
            mine = one is not None and one.state is ACQUIRED and one.member == member
            if mine and run.first < self.start <= run.last:
                run.split()
            for first, last, part in run.parts():
                if part.state is not ACQUIRED or part.member != member or part.before is not None:
                    continue
                to = ARCHIVED if last < self.start else AVAILABLE
                if part.begin(to, limit):
                    self._noted(first, last, part, change)
                    if part.state in TERMINAL:
                        self.done += self._counted(first, last)
        return change

    def expire(self, now: int) -> list[StateBatch]:
        """Release what locks ended of; the rows to be written."""
        rows = []
        limit = self.limits().deliveries
        for run in self.runs:
            ends = run.whole.expires if run.whole is not None else None
            if ends is not None and ends <= now and run.first < self.start <= run.last:
                run.split()
            for first, last, one in run.parts():
                if one.state is not ACQUIRED or one.expires is None or one.expires > now:
                    continue
                if not one.turn(ARCHIVED if last < self.start else AVAILABLE, limit):
                    continue
                one.expires = None
                rows.append(StateBatch(first, last, one.count, one.state))
                self.seek |= one.state is AVAILABLE
                if one.state in TERMINAL:
                    self.done += self._counted(first, last)
        return rows

    # --- the window --------------------------------------------------------------------------

    def advance(self) -> bool:
        """Move the start offset past what is done; whether it moved."""
        at = self.floor(self.start)
        if at < 0 or self.start > self.runs[at].last or not _over(self.runs[at].at(self.start)):
            return False
        reached, counted = self._done_until()
        if reached is None:
            return False
        if reached == self.runs[-1].last:
            self.start = self.end = reached + 1
            self.runs, self.done = [], 0
            return True
        at = self.floor(reached)
        if reached == self.runs[at].last:
            self.start = max(self.start, self.runs[at + 1].first)
            if (gap := self.gap) is not None:
                self.start = min(gap, self.start)
            del self.runs[: at + 1]
        else:
            self.start = max(self.start, reached + 1)
            del self.runs[:at]
        self.done -= counted
        return True

    def _done_until(self) -> tuple[int | None, int]:
        """The last offset of those in a row that are done, and how many from the start."""
        reached: int | None = None
        counted, gap = 0, self.gap
        for run in self.runs:
            if gap is not None and run.last >= gap:
                return reached, counted
            for first, last, one in run.parts():
                if not _over(one):
                    return reached, counted
                reached = last
                counted += self._counted(first, last)
        return reached, counted

    def log_begins_at(self, offset: int) -> None:
        """The log has no records before this any more."""
        if offset <= self.start:
            return
        if not self.runs:
            self.start = self.end = offset
            self.done = 0
            return
        gone = sum(
            max(0, min(last, offset - 1) - max(first, self.start) + 1)
            for run in self.runs
            for first, last, one in run.parts()
            if one.state in TERMINAL
        )
        if self.archive(self.start, offset - 1, self.runs, AVAILABLE):
            self.seek = True
        self.done -= gone
        self.start, self.end = offset, max(self.end, offset)

    def archive_missing(self, wanted: int, found: int) -> None:
        """A read from `wanted` gave batches from `found` on: what is between is not there."""
        if not self.runs or wanted >= found:
            return
        at = self.floor(wanted)
        first = wanted
        if at >= 0 and self.runs[at].last >= wanted:
            first = self.runs[at].first
        runs = self.between(first, found - 1)
        if self.archive(wanted, found - 1, runs, AVAILABLE, count=True):
            self.seek = True

    def archive(
        self, first: int, last: int, runs: Sequence[Run], state: State, *, count: bool = False
    ) -> bool:
        """Archive those of the runs' records within these offsets that have this state."""
        changed = False
        for run in runs:
            if run.first > last:
                break
            if run.whole is not None and not run.within(first, last):
                if run.whole.state is not state:
                    continue
                run.split()
            for begin, end, one in run.parts():
                if one.state is state and first <= begin and end <= last:
                    one.archive()
                    changed = True
                    self.done += end - begin + 1 if count else 0
        return changed


def _over(one: InFlight) -> bool:
    return one.state in TERMINAL and one.before is None
