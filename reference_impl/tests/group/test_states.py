"""The table of group states is total, moves only as Kafka's groups do, and differs where it says.

GROUP-01, GROUP-02: the five states and the moves between them; OFFS-06, OFFS-12, GROUP-21: the
cells in which releases up to 2.2 differ. A wrong next state changes what the coordinator does.
"""

from __future__ import annotations

import pytest

from touchstone.reference_impl.group.states import Cell, Do, Input, State, table
from touchstone.reference_impl.tables import Table
from touchstone.reference_impl.tests.group.world import World
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
    still = {Do.IMPOSSIBLE, Do.NOTHING, Do.CURRENT, Do.ASSIGNMENT, Do.ALIVE, Do.STORE}
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


def planted(world, state, given, then):
    """The coordinator reads a table in which the cell has this next state."""
    cells = dict(world.coordinator.table)
    cells[state, given] = cells[state, given]._replace(next=then)
    world.coordinator.table = Table(State, Input, cells)


@pytest.mark.parametrize("wrong", [False, True])
def test_a_group_that_admits_is_where_the_cell_says(wrong):
    world = World()
    (first,) = world.stable()
    if wrong:
        planted(world, State.STABLE, Input.JOIN_NEW, State.STABLE)
    world.join()
    told = ErrorCode.NONE if wrong else ErrorCode.REBALANCE_IN_PROGRESS
    assert world.heartbeat(first, 1) == told


@pytest.mark.parametrize("wrong", [False, True])
def test_a_group_that_rebalances_is_where_the_cell_says(wrong):
    world = World()
    first, second = world.stable(2)
    if wrong:
        planted(world, State.STABLE, Input.REMOVAL, State.STABLE)
    world.leave(second)
    told = ErrorCode.NONE if wrong else ErrorCode.REBALANCE_IN_PROGRESS
    assert world.heartbeat(first, 1) == told


@pytest.mark.parametrize("wrong", [False, True])
def test_a_group_that_is_removed_is_where_the_cell_says(wrong):
    world = World()
    world.leave(*world.stable())
    world.advance(60_000)
    if wrong:
        planted(world, State.EMPTY, Input.DELETE, State.EMPTY)
    assert world.coordinator.delete("g") == ErrorCode.NONE
    again = ErrorCode.NONE if wrong else ErrorCode.GROUP_ID_NOT_FOUND
    assert world.coordinator.delete("g") == again


@pytest.mark.parametrize("wrong", [False, True])
def test_a_group_that_assigns_is_where_the_cell_says(wrong):
    world = World()
    joined = world.join()
    world.wait_for([joined])
    if wrong:
        planted(world, State.COMPLETING, Input.SYNC_LEADER, State.COMPLETING)
    world.sync(joined.answer["member_id"], 1)
    assert world.group.state is (State.COMPLETING if wrong else State.STABLE)
