"""A transactional id changes state by a total table: (state, input) -> (what to do, next state).

Every cell is written, also those that refuse and those that cannot happen (`IMPOSSIBLE`: reaching
one is our own error, never the peer's). Who asks, and whether producer id and epoch are right, has
been looked at before; the table only knows what happened. While a transaction is being ended
everything is CONCURRENT_TRANSACTIONS, even an end of the other kind: the decision to complete is
taken with the first marker, and what is pending is asked first (observed on 1.0.2, 2.2.1, 2.8.2).

Transactions of version 2 (KIP-890) end with a higher epoch. Their ends are inputs of their own:
`..._BUMPING` with the epoch that is, `..._AGAIN` with the one before the bump, a retry.

Sources: TransactionMetadata and TransactionCoordinator at 1.0.2, 2.2.1, 2.8.2, trunk of 2024-10;
KIP-98, KIP-360, KIP-890; suites/transactions walks it on all five releases.
"""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import NamedTuple

from touchstone.reference_impl.tables import Table
from touchstone.reference_impl.wire.errors import ErrorCode as E


class State(StrEnum):
    """The states by the names that DescribeTransactions gives them."""

    __hash__ = str.__hash__  # in C: the table is asked for every request

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"
    DEAD = "Dead"


# As the records of __transaction_state number them; 7 is PrepareEpochFence, which is never stored.
NUMBERS: dict[int, State] = dict(enumerate(State))
NUMBER_OF: dict[State, int] = {state: number for number, state in NUMBERS.items()}
NAMES = frozenset({*State, "PrepareEpochFence"})  # what ListTransactions may be asked for


class Input(Enum):
    __hash__ = object.__hash__

    INIT = "a producer begins with this id"
    ADD = "partitions are to be added"
    ADD_KNOWN = "partitions are to be added that are in it already"
    VERIFY = "a broker asks which partitions are in it"
    COMMIT = "the producer commits"
    ABORT = "the producer aborts"
    COMMIT_BUMPING = "the producer commits and wants the next epoch"
    ABORT_BUMPING = "the producer aborts and wants the next epoch"
    COMMIT_AGAIN = "the producer commits with the epoch before its bump"
    ABORT_AGAIN = "the producer aborts with the epoch before its bump"
    TIMEOUT = "the transaction took too long"
    MARKED = "every partition has its marker"
    EXPIRE = "nobody used the id for long"


class Do(Enum):
    RAISE_EPOCH = "give the producer the next epoch"
    FENCE = "abort under a higher epoch; whoever asked shall ask again"
    EXTEND = "put the partitions into the transaction"
    NOTHING = "nothing; that is an answer without error"
    TELL = "say of each partition whether it is in"
    END = "write down the outcome, then have the markers written"
    COMPLETE = "write down that it is over"
    FORGET = "write a tombstone and forget the id"
    IMPOSSIBLE = "cannot happen"


class Cell(NamedTuple):
    do: Do | E
    next: State


_S, _I, _D = State, Input, Do
Cells = dict[tuple[State, Input], Cell]


def _row(state: State, cells: dict[Input, tuple[Do | E, State]]) -> Cells:
    return {(state, given): Cell(*cell) for given, cell in cells.items()}


def _being_ended(state: State, done: State) -> Cells:
    """Everything waits but the news that the markers are written."""
    busy = (E.CONCURRENT_TRANSACTIONS, state)
    return _row(
        state,
        {
            _I.INIT: busy,
            _I.ADD: busy,
            _I.ADD_KNOWN: busy,
            _I.VERIFY: busy,
            _I.COMMIT: busy,
            _I.ABORT: busy,
            _I.COMMIT_BUMPING: busy,
            _I.ABORT_BUMPING: busy,
            _I.COMMIT_AGAIN: busy,
            _I.ABORT_AGAIN: busy,
            _I.TIMEOUT: (_D.NOTHING, state),
            _I.MARKED: (_D.COMPLETE, done),
            _I.EXPIRE: (_D.NOTHING, state),
        },
    )


_CELLS: Cells = {
    **_row(
        _S.EMPTY,
        {
            _I.INIT: (_D.RAISE_EPOCH, _S.EMPTY),
            _I.ADD: (_D.EXTEND, _S.ONGOING),
            _I.ADD_KNOWN: (_D.EXTEND, _S.ONGOING),
            _I.VERIFY: (_D.TELL, _S.EMPTY),
            _I.COMMIT: (E.INVALID_TXN_STATE, _S.EMPTY),
            _I.ABORT: (E.INVALID_TXN_STATE, _S.EMPTY),
            _I.COMMIT_BUMPING: (E.INVALID_TXN_STATE, _S.EMPTY),
            _I.ABORT_BUMPING: (_D.END, _S.PREPARE_ABORT),
            _I.COMMIT_AGAIN: (E.PRODUCER_FENCED, _S.EMPTY),
            _I.ABORT_AGAIN: (E.PRODUCER_FENCED, _S.EMPTY),
            _I.TIMEOUT: (_D.NOTHING, _S.EMPTY),
            _I.MARKED: (_D.IMPOSSIBLE, _S.EMPTY),
            _I.EXPIRE: (_D.FORGET, _S.DEAD),
        },
    ),
    **_row(
        _S.ONGOING,
        {
            _I.INIT: (_D.FENCE, _S.PREPARE_ABORT),
            _I.ADD: (_D.EXTEND, _S.ONGOING),
            _I.ADD_KNOWN: (_D.NOTHING, _S.ONGOING),
            _I.VERIFY: (_D.TELL, _S.ONGOING),
            _I.COMMIT: (_D.END, _S.PREPARE_COMMIT),
            _I.ABORT: (_D.END, _S.PREPARE_ABORT),
            _I.COMMIT_BUMPING: (_D.END, _S.PREPARE_COMMIT),
            _I.ABORT_BUMPING: (_D.END, _S.PREPARE_ABORT),
            _I.COMMIT_AGAIN: (E.PRODUCER_FENCED, _S.ONGOING),
            _I.ABORT_AGAIN: (E.PRODUCER_FENCED, _S.ONGOING),
            _I.TIMEOUT: (_D.FENCE, _S.PREPARE_ABORT),
            _I.MARKED: (_D.IMPOSSIBLE, _S.ONGOING),
            _I.EXPIRE: (_D.NOTHING, _S.ONGOING),
        },
    ),
    **_being_ended(_S.PREPARE_COMMIT, _S.COMPLETE_COMMIT),
    **_being_ended(_S.PREPARE_ABORT, _S.COMPLETE_ABORT),
    **_row(
        _S.COMPLETE_COMMIT,
        {
            _I.INIT: (_D.RAISE_EPOCH, _S.EMPTY),
            _I.ADD: (_D.EXTEND, _S.ONGOING),
            _I.ADD_KNOWN: (_D.EXTEND, _S.ONGOING),
            _I.VERIFY: (_D.TELL, _S.COMPLETE_COMMIT),
            _I.COMMIT: (_D.NOTHING, _S.COMPLETE_COMMIT),
            _I.ABORT: (E.INVALID_TXN_STATE, _S.COMPLETE_COMMIT),
            _I.COMMIT_BUMPING: (E.INVALID_TXN_STATE, _S.COMPLETE_COMMIT),
            _I.ABORT_BUMPING: (_D.END, _S.PREPARE_ABORT),
            _I.COMMIT_AGAIN: (_D.NOTHING, _S.COMPLETE_COMMIT),
            _I.ABORT_AGAIN: (E.INVALID_TXN_STATE, _S.COMPLETE_COMMIT),
            _I.TIMEOUT: (_D.NOTHING, _S.COMPLETE_COMMIT),
            _I.MARKED: (_D.IMPOSSIBLE, _S.COMPLETE_COMMIT),
            _I.EXPIRE: (_D.FORGET, _S.DEAD),
        },
    ),
    **_row(
        _S.COMPLETE_ABORT,
        {
            _I.INIT: (_D.RAISE_EPOCH, _S.EMPTY),
            _I.ADD: (_D.EXTEND, _S.ONGOING),
            _I.ADD_KNOWN: (_D.EXTEND, _S.ONGOING),
            _I.VERIFY: (_D.TELL, _S.COMPLETE_ABORT),
            _I.COMMIT: (E.INVALID_TXN_STATE, _S.COMPLETE_ABORT),
            _I.ABORT: (_D.NOTHING, _S.COMPLETE_ABORT),
            _I.COMMIT_BUMPING: (E.INVALID_TXN_STATE, _S.COMPLETE_ABORT),
            _I.ABORT_BUMPING: (_D.END, _S.PREPARE_ABORT),
            _I.COMMIT_AGAIN: (E.INVALID_TXN_STATE, _S.COMPLETE_ABORT),
            _I.ABORT_AGAIN: (_D.NOTHING, _S.COMPLETE_ABORT),
            _I.TIMEOUT: (_D.NOTHING, _S.COMPLETE_ABORT),
            _I.MARKED: (_D.IMPOSSIBLE, _S.COMPLETE_ABORT),
            _I.EXPIRE: (_D.FORGET, _S.DEAD),
        },
    ),
    **{(_S.DEAD, given): Cell(_D.IMPOSSIBLE, _S.DEAD) for given in Input},
}

TABLE = Table(State, Input, _CELLS)
