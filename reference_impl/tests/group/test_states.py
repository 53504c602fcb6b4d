"""The table of group states is total, moves only as Kafka's groups do, and differs where it says.

GROUP-01, GROUP-02: the five states and the moves between them; OFFS-06, OFFS-12, GROUP-21: the
cells in which releases up to 2.2 differ.
"""

from __future__ import annotations

import pytest

from touchstone.reference_impl.group.states import Cell, Do, Input, State, table
from touchstone.reference_impl.wire.errors import ErrorCode

ALLOWED = {
    State.EMPTY: {State.PREPARING, State.DEAD},
    State.PREPARING: {State.COMPLETING, State.EMPTY, State.DEAD},
    State.COMPLETING: {State.STABLE, State.PREPARING, State.DEAD},
    State.STABLE: {State.PREPARING, State.DEAD},
    State.DEAD: set(),
}
EARLY_ONLY = {
    (State.COMPLETING, Input.HEARTBEAT),
    (State.COMPLETING, Input.COMMIT),
    (State.COMPLETING, Input.COMMIT_SIMPLE),
} | {
    (State.DEAD, given)
    for given in Input
    if given not in (Input.REMOVAL, Input.JOINED, Input.DESERTED, Input.DELETE)
}


@pytest.mark.parametrize("early", [False, True])
def test_every_move_is_legal(early):
    for (state, _), cell in table(early=early).items():
        assert isinstance(cell, Cell)
        assert isinstance(cell.do, (Do, ErrorCode))
        assert cell.next is state or cell.next in ALLOWED[state]


@pytest.mark.parametrize("early", [False, True])
def test_refusals_faults_and_nothing_do_not_move_a_group(early):
    still = {Do.FAULT, Do.NOTHING, Do.CURRENT, Do.ASSIGNMENT, Do.ALIVE, Do.STORE}
    for (state, _), cell in table(early=early).items():
        if isinstance(cell.do, ErrorCode) or cell.do in still:
            assert cell.next is state


def test_every_state_is_reached_and_every_action_is_used():
    cells = table(early=False)
    assert {cell.next for cell in cells.values()} == set(State)
    assert {cell.do for cell in cells.values() if isinstance(cell.do, Do)} == set(Do)


def test_releases_differ_in_the_named_cells_only():
    early, late = table(early=True), table(early=False)
    assert {key for key in late if early[key] != late[key]} == EARLY_ONLY


def test_nobody_joins_what_is_dead_and_members_keep_a_group():
    cells = table(early=False)
    for state in (State.PREPARING, State.COMPLETING, State.STABLE):
        assert cells[state, Input.DELETE].do is ErrorCode.NON_EMPTY_GROUP
    assert cells[State.EMPTY, Input.DELETE] == Cell(Do.REMOVE, State.DEAD)
    assert cells[State.DEAD, Input.JOIN_NEW].do is ErrorCode.COORDINATOR_NOT_AVAILABLE
