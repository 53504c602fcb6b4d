"""A record in flight stands alone, or in a run while nothing tells its records apart.

A record is Available, Acquired by one member until its lock ends, or done: Acknowledged or
Archived. `TRANSITIONS` is the whole of it. A change that has to be written down first is pending
(`begin`), and while it is nobody may change the record; `settle` makes it good or takes it back.
A record that was delivered as often as the limit says is not made Available again but Archived.

Sources: InFlightState, InFlightBatch and RecordState@4.3.1; KIP-932.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import NamedTuple

from touchstone.reference_impl.tables import Table

NOBODY = ""


class State(IntEnum):
    """The number is the state's on the wire and in the log."""

    AVAILABLE = 0
    ACQUIRED = 1
    ACKNOWLEDGED = 2
    ARCHIVED = 4


AVAILABLE, ACQUIRED, ACKNOWLEDGED, ARCHIVED = State
TERMINAL = frozenset({ACKNOWLEDGED, ARCHIVED})


class Do(Enum):
    GO = "goes there"
    IMPOSSIBLE = "stays: nobody is asked for it who was checked before"


class Cell(NamedTuple):
    do: Do
    to: State


def _table() -> Table[State, State, Cell]:
    """The transitions from a state: only members end what is Acquired."""
    goes = {(AVAILABLE, ACQUIRED), *((ACQUIRED, to) for to in State if to is not ACQUIRED)}
    return Table(
        State,
        State,
        {
            (at, to): Cell(Do.GO, to) if (at, to) in goes else Cell(Do.IMPOSSIBLE, at)
            for at in State
            for to in State
        },
    )


TRANSITIONS = _table()


class Before(NamedTuple):
    """What a pending change would be taken back to."""

    state: State
    member: str
    limit: int  # of deliveries, as it was then


@dataclass(slots=True)
class InFlight:
    state: State
    count: int  # deliveries
    member: str = NOBODY
    expires: int | None = None  # ms; when the lock ends
    before: Before | None = None
    archived: bool = False  # by the log, not by a member: nothing takes that back

    @property
    def free(self) -> bool:
        return self.state is AVAILABLE and self.before is None

    def turn(self, to: State, limit: int, member: str = NOBODY, *, delivers: bool = False) -> bool:
        """Go to a state at once; whether that can be. `limit`: of deliveries."""
        if self.before is not None:
            return False
        if to is AVAILABLE and self.count >= limit:
            to = ARCHIVED
        cell = TRANSITIONS[self.state, to]
        if cell.do is Do.IMPOSSIBLE:
            return False
        self.state, self.member = cell.to, member
        self.count += delivers
        return True

    def begin(self, to: State, limit: int) -> bool:
        """Go there, but for now: `settle` says whether it holds."""
        before = Before(self.state, self.member, limit)
        if not self.turn(to, limit):
            return False
        self.before = before
        return True

    def settle(self, good: bool, now: int) -> None:
        before, self.before = self.before, None
        if good or self.archived or before is None:
            self.expires = None
        elif self.expires is not None and self.expires <= now:
            self.state = ARCHIVED if self.count >= before.limit else AVAILABLE
            self.member, self.expires = NOBODY, None
        else:
            self.state, self.member = before.state, before.member

    def archive(self) -> None:
        """The log has it no more, or readers must not see it."""
        self.state, self.member, self.expires, self.archived = ARCHIVED, NOBODY, None, True

    def copy(self) -> InFlight:
        return InFlight(self.state, self.count, self.member, self.expires)


@dataclass(slots=True)
class Run:
    """Offsets `first` to `last`: one state for all (`whole`), or one for each."""

    first: int
    last: int
    whole: InFlight | None
    each: dict[int, InFlight] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return self.last - self.first + 1

    def within(self, first: int, last: int) -> bool:
        return self.first >= first and self.last <= last

    def split(self) -> None:
        """Tell its records apart from now on."""
        if self.whole is not None:
            self.each = {at: self.whole.copy() for at in range(self.first, self.last + 1)}
            self.whole = None

    def parts(self) -> list[tuple[int, int, InFlight]]:
        """(first, last, state) of all that is told apart, in order."""
        if self.whole is not None:
            return [(self.first, self.last, self.whole)]
        return [(at, at, one) for at, one in self.each.items()]

    def at(self, offset: int) -> InFlight:
        return self.each[offset] if self.whole is None else self.whole
