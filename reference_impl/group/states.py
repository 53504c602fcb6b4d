"""A classic group changes state by a total table: (state, input) -> (what to do, next state).

Every cell is written, also those that refuse and those that cannot happen (`IMPOSSIBLE`: reaching
one is our own error, never the peer's). The table says nothing of members, timers or answers'
forms: the coordinator classifies what happened as an input, looks here, and does what the cell
says.

Why a table
-----------

Kafka has this list twice: as comments on its states (GroupMetadata.scala) and as a match over the
state in each function of GroupCoordinator. At 2.8.2 the two disagree. The comment on
CompletingRebalance refuses heartbeats, the code answers them and restarts the session; the comment
on Dead says UNKNOWN_MEMBER_ID, the code COORDINATOR_NOT_AVAILABLE. Here the list that is read is
the list that runs: `Coordinator.decide` looks a cell up and puts the group into its next state, and
is asked for every input. A test walks the whole product, and `Table.walked` shows which cells
Kafka's recordings have tried.

What is not in it
-----------------

1. Whether the member, its instance id and its generation are the group's. As inputs these would
   multiply every column by the ways of being wrong; as one check (`Coordinator.check_member`) they
   stand before the look-up. Up to 2.2 a few answers come before that check: `Cell.first` (OFFS-12).
2. Facts that decide between two next states are inputs of their own, so that each cell has one next
   state: JOINED or DESERTED, SYNC or SYNC_LEADER, JOIN_KEPT or JOIN_LEADER. REPLACE takes two:
   whether the protocol changes is known only when the returned member is in the group, and if it
   does, JOIN_CHANGED decides next.
3. Time. A deadline is an input once it has passed: REMOVAL, JOINED. ASSIGN is read when the leader
   asks and decided when the group's log has the assignments (GROUP-18); nothing is decided if a
   rebalance has begun meanwhile. Assignments that could not be written are a REMOVAL, as for
   Kafka, which calls maybePrepareRebalance for both.
4. Where a group comes from and goes to without an input: its state is set when it is read from the
   log (`log_records`) and when it turns into a consumer group or back (`conversion`), and
   `Coordinator.forget` ends one that moved to another broker or expired.

Releases up to 2.2 differ in a few cells: a dead group is UNKNOWN_MEMBER_ID there and
COORDINATOR_NOT_AVAILABLE later, and a heartbeat while assignments are awaited answers
REBALANCE_IN_PROGRESS. `early=True` asks for their table.

Sources: GROUP-01, 02, 08 to 10, 13, 17, 18, 21, 22, 24, OFFS-05 to 13;
GroupMetadata.scala and GroupCoordinator.scala@1.0.2, 2.2.1, 2.8.2; ClassicGroup.java@4.3.1;
observed on all five releases.
"""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import NamedTuple

from touchstone.reference_impl.tables import Table
from touchstone.reference_impl.wire.errors import ErrorCode as E


class State(StrEnum):
    __hash__ = str.__hash__  # in C: the table is asked for every request

    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


class Input(Enum):
    __hash__ = object.__hash__

    JOIN_NEW = "a join that brings a member"
    JOIN_STATIC = "a join that takes over an instance id"
    JOIN_CHANGED = "a member joins with other protocols"
    JOIN_LEADER = "the leader joins with the protocols it had"
    JOIN_KEPT = "another member joins with the protocols it had"
    SYNC = "a member asks for its assignment"
    SYNC_LEADER = "the leader brings the assignments"
    HEARTBEAT = "a member is alive"
    COMMIT = "a member of this generation commits offsets"
    COMMIT_SIMPLE = "offsets are committed without a generation"
    REMOVAL = "a member left or was silent for too long"
    JOINED = "the join phase is over, with members"
    DESERTED = "the join phase is over, with none"
    DELETE = "the group is to be removed"


class Do(Enum):
    ADMIT = "add or update the member and start a rebalance"
    AWAIT_JOIN = "add or update the member; its answer waits for the others"
    CURRENT = "answer what the current generation is"
    REPLACE = "keep the generation if the protocol stays, else start a rebalance"
    AWAIT_SYNC = "the answer waits for the leader"
    ASSIGN = "keep the assignments and answer all who wait for theirs"
    ASSIGNMENT = "answer the member's assignment"
    ALIVE = "restart the session and say so"
    REBALANCING = "restart the session and answer REBALANCE_IN_PROGRESS"
    STORE = "keep the offsets"
    REBALANCE = "start a rebalance"
    CHECK_JOIN = "the join phase may be over"
    GENERATE = "begin the next generation"
    REMOVE = "forget the group"
    NOTHING = "nothing"
    IMPOSSIBLE = "cannot happen"


class Cell(NamedTuple):
    do: Do | E
    next: State
    first: bool = False  # answered before the member and its generation are looked at


def error_of(cell: Cell) -> E:
    """The code of a cell that refuses; asked of any other, the books of a group are wrong."""
    if not isinstance(cell.do, E):
        raise AssertionError(f"a group where nothing refuses: {cell}")
    return cell.do


_S, _I, _D = State, Input, Do
Cells = dict[tuple[State, Input], Cell]


def _row(
    state: State, cells: dict[Input, tuple[Do | E, State] | tuple[Do | E, State, bool]]
) -> Cells:
    return {(state, given): Cell(*cell) for given, cell in cells.items()}


_DEAD = E.COORDINATOR_NOT_AVAILABLE

_LATE: Cells = {
    **_row(
        _S.EMPTY,
        {
            _I.JOIN_NEW: (_D.ADMIT, _S.PREPARING),
            _I.JOIN_STATIC: (_D.IMPOSSIBLE, _S.EMPTY),
            _I.JOIN_CHANGED: (E.UNKNOWN_MEMBER_ID, _S.EMPTY),
            _I.JOIN_LEADER: (E.UNKNOWN_MEMBER_ID, _S.EMPTY),
            _I.JOIN_KEPT: (E.UNKNOWN_MEMBER_ID, _S.EMPTY),
            _I.SYNC: (E.UNKNOWN_MEMBER_ID, _S.EMPTY),
            _I.SYNC_LEADER: (E.UNKNOWN_MEMBER_ID, _S.EMPTY),
            _I.HEARTBEAT: (E.UNKNOWN_MEMBER_ID, _S.EMPTY),
            _I.COMMIT: (_D.STORE, _S.EMPTY),
            _I.COMMIT_SIMPLE: (_D.STORE, _S.EMPTY, True),
            _I.REMOVAL: (_D.NOTHING, _S.EMPTY),
            _I.JOINED: (_D.IMPOSSIBLE, _S.EMPTY),
            _I.DESERTED: (_D.IMPOSSIBLE, _S.EMPTY),
            _I.DELETE: (_D.REMOVE, _S.DEAD),
        },
    ),
    **_row(
        _S.PREPARING,
        {
            _I.JOIN_NEW: (_D.AWAIT_JOIN, _S.PREPARING),
            _I.JOIN_STATIC: (_D.AWAIT_JOIN, _S.PREPARING),
            _I.JOIN_CHANGED: (_D.AWAIT_JOIN, _S.PREPARING),
            _I.JOIN_LEADER: (_D.AWAIT_JOIN, _S.PREPARING),
            _I.JOIN_KEPT: (_D.AWAIT_JOIN, _S.PREPARING),
            _I.SYNC: (E.REBALANCE_IN_PROGRESS, _S.PREPARING),
            _I.SYNC_LEADER: (E.REBALANCE_IN_PROGRESS, _S.PREPARING),
            _I.HEARTBEAT: (_D.REBALANCING, _S.PREPARING),
            _I.COMMIT: (_D.STORE, _S.PREPARING),
            _I.COMMIT_SIMPLE: (E.UNKNOWN_MEMBER_ID, _S.PREPARING),
            _I.REMOVAL: (_D.CHECK_JOIN, _S.PREPARING),
            _I.JOINED: (_D.GENERATE, _S.COMPLETING),
            _I.DESERTED: (_D.GENERATE, _S.EMPTY),
            _I.DELETE: (E.NON_EMPTY_GROUP, _S.PREPARING),
        },
    ),
    **_row(
        _S.COMPLETING,
        {
            _I.JOIN_NEW: (_D.ADMIT, _S.PREPARING),
            _I.JOIN_STATIC: (_D.ADMIT, _S.PREPARING),
            _I.JOIN_CHANGED: (_D.ADMIT, _S.PREPARING),
            _I.JOIN_LEADER: (_D.CURRENT, _S.COMPLETING),
            _I.JOIN_KEPT: (_D.CURRENT, _S.COMPLETING),
            _I.SYNC: (_D.AWAIT_SYNC, _S.COMPLETING),
            _I.SYNC_LEADER: (_D.ASSIGN, _S.STABLE),
            _I.HEARTBEAT: (_D.ALIVE, _S.COMPLETING),
            _I.COMMIT: (E.REBALANCE_IN_PROGRESS, _S.COMPLETING),
            _I.COMMIT_SIMPLE: (E.UNKNOWN_MEMBER_ID, _S.COMPLETING),
            _I.REMOVAL: (_D.REBALANCE, _S.PREPARING),
            _I.JOINED: (_D.IMPOSSIBLE, _S.COMPLETING),
            _I.DESERTED: (_D.IMPOSSIBLE, _S.COMPLETING),
            _I.DELETE: (E.NON_EMPTY_GROUP, _S.COMPLETING),
        },
    ),
    **_row(
        _S.STABLE,
        {
            _I.JOIN_NEW: (_D.ADMIT, _S.PREPARING),
            _I.JOIN_STATIC: (_D.REPLACE, _S.STABLE),
            _I.JOIN_CHANGED: (_D.ADMIT, _S.PREPARING),
            _I.JOIN_LEADER: (_D.ADMIT, _S.PREPARING),
            _I.JOIN_KEPT: (_D.CURRENT, _S.STABLE),
            _I.SYNC: (_D.ASSIGNMENT, _S.STABLE),
            _I.SYNC_LEADER: (_D.ASSIGNMENT, _S.STABLE),
            _I.HEARTBEAT: (_D.ALIVE, _S.STABLE),
            _I.COMMIT: (_D.STORE, _S.STABLE),
            _I.COMMIT_SIMPLE: (E.UNKNOWN_MEMBER_ID, _S.STABLE),
            _I.REMOVAL: (_D.REBALANCE, _S.PREPARING),
            _I.JOINED: (_D.IMPOSSIBLE, _S.STABLE),
            _I.DESERTED: (_D.IMPOSSIBLE, _S.STABLE),
            _I.DELETE: (E.NON_EMPTY_GROUP, _S.STABLE),
        },
    ),
    **_row(
        _S.DEAD,
        {
            _I.JOIN_NEW: (_DEAD, _S.DEAD, True),
            _I.JOIN_STATIC: (_DEAD, _S.DEAD, True),
            _I.JOIN_CHANGED: (_DEAD, _S.DEAD, True),
            _I.JOIN_LEADER: (_DEAD, _S.DEAD, True),
            _I.JOIN_KEPT: (_DEAD, _S.DEAD, True),
            _I.SYNC: (_DEAD, _S.DEAD, True),
            _I.SYNC_LEADER: (_DEAD, _S.DEAD, True),
            _I.HEARTBEAT: (_DEAD, _S.DEAD, True),
            _I.COMMIT: (_DEAD, _S.DEAD, True),
            _I.COMMIT_SIMPLE: (_DEAD, _S.DEAD, True),
            _I.REMOVAL: (_D.NOTHING, _S.DEAD),
            _I.JOINED: (_D.NOTHING, _S.DEAD),
            _I.DESERTED: (_D.NOTHING, _S.DEAD),
            _I.DELETE: (E.GROUP_ID_NOT_FOUND, _S.DEAD),
        },
    ),
}

_EARLY: Cells = {
    **_LATE,
    (_S.COMPLETING, _I.HEARTBEAT): Cell(E.REBALANCE_IN_PROGRESS, _S.COMPLETING),
    (_S.COMPLETING, _I.COMMIT): Cell(E.REBALANCE_IN_PROGRESS, _S.COMPLETING, True),
    (_S.COMPLETING, _I.COMMIT_SIMPLE): Cell(E.REBALANCE_IN_PROGRESS, _S.COMPLETING, True),
    **{
        (_S.DEAD, given): cell._replace(do=E.UNKNOWN_MEMBER_ID)
        for (state, given), cell in _LATE.items()
        if state is _S.DEAD and cell.do is _DEAD
    },
}


TABLES: dict[bool, Table[State, Input, Cell]] = {
    early: Table(State, Input, cells) for early, cells in ((True, _EARLY), (False, _LATE))
}


def table(*, early: bool) -> Table[State, Input, Cell]:
    return TABLES[early]
