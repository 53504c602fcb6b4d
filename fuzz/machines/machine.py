"""What a machine is: a total table (state, action) -> cell, and how its actions are said in bytes.

A machine models what a protocol keeps between requests, seen from the clients: which action is
answered how in which state, and which state follows. Its file is data. A cell is one of

    ok(NEXT)               answered without an error code
    no(CODE, ...)          refused with one of these codes; the state stays
    no(CODE, to=NEXT)      refused, and the state changes nevertheless
    unanswered(NEXT)       not answered before a later cell `releases` it
    closed(NEXT)           the target ends the connection
    unasked(WHY)           not asked in this state: its connection has one under way, or the answer
                           depends on what the model does not know

`ok` and `no` may name what the answer must show (`shows`), with values of earlier answers. Values
are bound to names as the model goes: an action whose cell is `ok` binds what it `brings`, a path of
its answer for each name, and sets and counts what the client itself keeps (sequence numbers, epochs
of sessions). Bodies are written with `Var`; `unbound` has values for those that no answer has
brought yet.

Where a release differs, its cells stand in `differences`; an action whose API or versions a target
does not serve is not asked there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from touchstone.reference_impl.tables import Table
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.errors import ErrorCode


@dataclass(frozen=True)
class Var:
    """A bound value; `plus` is added to it."""

    name: str
    plus: int = 0


@dataclass(frozen=True)
class Batch:
    """One record batch whose header fields may be Vars."""

    values: tuple[bytes, ...] = (b"v",)
    producer_id: Var | int = -1
    producer_epoch: Var | int = -1
    base_sequence: Var | int = -1
    transactional: bool = False


@dataclass(frozen=True)
class Act:
    """How one action is said: the API, the versions it may be said in (inclusive), and the body
    (the fields of all versions; each version takes its own).
    """

    key: int
    versions: tuple[int, int]
    body: Mapping[str, Any]
    brings: Mapping[str, str] = field(default_factory=dict)  # name -> path of the answer
    sets: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    connection: int = 0
    again: tuple[ErrorCode, ...] = ()  # not ready yet: ask again
    until: bool = False  # ask again while the answer does not show what it has to

    def served(self, ranges: Mapping[int, tuple[int, int]]) -> range:
        """The versions of `versions` that a target of these ranges serves."""
        low, high = ranges.get(self.key, (0, -1))
        known = API[self.key].request.all_versions()
        return range(
            max(low, self.versions[0], known.start), min(high, self.versions[1], known.stop - 1) + 1
        )


@dataclass(frozen=True)
class Cell:
    """What a state makes of an action; see above. `to` None: the state stays."""

    codes: tuple[ErrorCode, ...]
    to: StrEnum | None
    shows: Mapping[str, Any] = field(default_factory=dict)
    brings: bool = False
    held: bool = False
    sets: Mapping[str, Any] = field(default_factory=dict)  # beside what the action does
    counts: Mapping[str, int] = field(default_factory=dict)
    releases: tuple[StrEnum, ...] = ()  # one of these waits for this one
    released: ErrorCode = ErrorCode.NONE  # what that one is answered
    unasked: str = ""

    @property
    def valid(self) -> bool:
        """Whether the action is answered without an error code, or waits for that."""
        return self.codes == (ErrorCode.NONE,) and not self.unasked


def ok(to: StrEnum | None = None, **how: Any) -> Cell:
    return Cell((ErrorCode.NONE,), to, brings=True, **how)


def no(*codes: ErrorCode, to: StrEnum | None = None, **how: Any) -> Cell:
    return Cell(codes, to, **how)


def unanswered(to: StrEnum | None = None, **how: Any) -> Cell:
    return Cell((ErrorCode.NONE,), to, brings=True, held=True, **how)


def unasked(why: str) -> Cell:
    return Cell((), None, unasked=why)


def closed(to: StrEnum | None = None) -> Cell:
    return Cell((), to)


@dataclass(frozen=True)
class Difference:
    """Cells of another answer on these releases ("1.0", "2.2" ...)."""

    releases: tuple[str, ...]
    cells: Mapping[tuple[StrEnum, StrEnum], Cell]


@dataclass(frozen=True)
class Machine:
    """A model; the first state is where every script begins, after the `opening` actions, which
    belong to no state (they look up what bodies need). `names` are bound to words of the script's
    own before it begins, `unbound` is what a Var is before anything has brought it.
    """

    name: str
    sentence: str
    states: type[StrEnum]
    actions: type[StrEnum]
    cells: Mapping[tuple[StrEnum, StrEnum], Cell]
    acts: Mapping[StrEnum, Act]
    opening: tuple[Act, ...] = ()
    names: tuple[str, ...] = ()
    unbound: Mapping[str, Any] = field(default_factory=dict)
    differences: tuple[Difference, ...] = ()
    closing: Mapping[StrEnum, StrEnum] = field(default_factory=dict)  # state -> what ends a script
    listener: str = "PLAINTEXT"  # what the target's listener must speak

    def __post_init__(self) -> None:
        self.table()  # refuses gaps
        wrong = set(self.actions) ^ self.acts.keys()
        if wrong:
            raise ValueError(f"{self.name}: said in no bytes, or no action: {sorted(wrong)}")

    def table(self, release: str = "4.3") -> Table[StrEnum, StrEnum, Cell]:
        """The whole table as this release has it. Raises ValueError on a gap."""
        cells = dict(self.cells)
        for difference in self.differences:
            if release in difference.releases:
                cells |= difference.cells
        return Table(self.states, self.actions, cells)

    @property
    def start(self) -> StrEnum:
        return next(iter(self.states))

    def served(self, ranges: Mapping[int, tuple[int, int]]) -> list[StrEnum]:
        """The actions that a target of these ranges can be asked."""
        return [action for action in self.actions if self.acts[action].served(ranges)]


def row(state: StrEnum, cells: Mapping[StrEnum, Cell]) -> dict[tuple[StrEnum, StrEnum], Cell]:
    """The cells of one state."""
    return {(state, action): cell for action, cell in cells.items()}


def column(
    action: StrEnum, states: Iterable[StrEnum], cell: Cell
) -> dict[tuple[StrEnum, StrEnum], Cell]:
    """The same cell in several states; what comes later in the table may say otherwise."""
    return {(state, action): cell for state in states}
