"""The table of transaction states is total and moves only as Kafka's transactions do (KIP-98)."""

from __future__ import annotations

from touchstone.reference_impl.txn.states import (
    NAMES,
    NUMBER_OF,
    NUMBERS,
    TABLE,
    Cell,
    Do,
    Input,
    State,
)
from touchstone.reference_impl.wire.errors import ErrorCode

# TransactionState.validPreviousStates, the other way round.
ALLOWED = {
    State.EMPTY: {State.ONGOING, State.PREPARE_ABORT, State.DEAD},
    State.ONGOING: {State.PREPARE_COMMIT, State.PREPARE_ABORT},
    State.PREPARE_COMMIT: {State.COMPLETE_COMMIT},
    State.PREPARE_ABORT: {State.COMPLETE_ABORT},
    State.COMPLETE_COMMIT: {State.EMPTY, State.ONGOING, State.PREPARE_ABORT, State.DEAD},
    State.COMPLETE_ABORT: {State.EMPTY, State.ONGOING, State.PREPARE_ABORT, State.DEAD},
    State.DEAD: set(),
}
STILL = {Do.NOTHING, Do.TELL, Do.IMPOSSIBLE}


def test_every_move_is_legal():
    for (state, _), cell in TABLE.items():
        assert isinstance(cell, Cell)
        assert cell.next is state or cell.next in ALLOWED[state]


def test_refusals_and_questions_do_not_move_a_transaction():
    for (state, _), cell in TABLE.items():
        if isinstance(cell.do, ErrorCode) or cell.do in STILL:
            assert cell.next is state


def test_every_state_is_reached_and_every_action_is_used():
    assert {cell.next for cell in TABLE.values()} == set(State)
    assert {cell.do for cell in TABLE.values() if isinstance(cell.do, Do)} == set(Do)


def test_nothing_but_the_markers_moves_what_is_being_ended():
    for state in (State.PREPARE_COMMIT, State.PREPARE_ABORT):
        moved = [given for given in Input if TABLE[state, given].next is not state]
        assert moved == [Input.MARKED]


def test_states_are_stored_under_kafkas_numbers():
    assert [NUMBERS[n] for n in range(7)] == list(State)
    assert NUMBER_OF[State.COMPLETE_ABORT] == 5
    assert "PrepareEpochFence" in NAMES
