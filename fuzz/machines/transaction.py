"""A transaction of version 1: partitions are added by request, one epoch for many transactions.

What readers of committed records may read up to (the last stable offset) is part of the model:
every script has a topic of its own, so nobody else's transaction holds them back. After an end,
the coordinator answers CONCURRENT_TRANSACTIONS until the markers are written; such steps are sent
again, and `...ING` are the states in which that may still be going on.

Sources: KIP-98, KIP-360, KIP-588, KIP-890; TransactionCoordinator at 1.0.2, 2.8.2, 4.3.1; observed
on 4.3.1, 3.9.2, 2.8.2, 1.0.2.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from touchstone.fuzz.machines import requests
from touchstone.fuzz.machines.machine import (
    Act,
    Batch,
    Cell,
    Difference,
    Machine,
    Var,
    column,
    no,
    ok,
    row,
    unasked,
)
from touchstone.fuzz.machines.requests import PRODUCED
from touchstone.reference_impl.wire.errors import ErrorCode as E


class State(StrEnum):
    NEW = "nobody has used the transactional id"
    READY = "a producer has it, before its first transaction"
    ADDED = "a partition was added"
    SENT = "the partition has records"
    COMMITTING = "the commit is decided"
    COMMITTED = "the commit is over"
    ABORTING = "the abort is decided"
    ABORTED = "the abort is over"
    FENCED = "another producer has the transactional id"


class Action(StrEnum):
    INIT = "the producer begins with the id"
    TAKE_OVER = "another producer begins with the id"
    ADD = "a partition is added"
    ADD_OLD = "a partition is added with a later epoch"
    SEND = "a record is sent"
    COMMIT = "the transaction is committed"
    ABORT = "the transaction is aborted"
    COMMIT_OTHER = "somebody else's producer id commits"
    STABLE = "the last stable offset is asked for"
    DESCRIBE = "the transaction is described"


_S, _A = State, Action
TRANSACTION, TOPIC = Var("transaction"), Var("topic")
PRODUCER, EPOCH = Var("producer"), Var("epoch")
STABLE_OFFSET = "topics[0].partitions[0].offset"
STATE = "transaction_states[0].transaction_state"
FENCED = (E.INVALID_PRODUCER_EPOCH, E.PRODUCER_FENCED)
OUTSIDE = (E.INVALID_TXN_STATE, E.TRANSACTION_ABORTABLE)
BUSY = (*requests.NOT_READY, E.CONCURRENT_TRANSACTIONS)
# What Produce answers while nobody can say whether the partition is in the transaction.
UNVERIFIED = (E.CONCURRENT_TRANSACTIONS, E.NOT_ENOUGH_REPLICAS)
# What readers may read up to when the transaction is over: behind its marker.
AFTER_RECORDS = {"stable": Var("last", 2)}
AFTER_NOTHING = {"stable": Var("stable", 1)}


def _add(epoch: Var) -> Act:
    body = {
        "v3_and_below_transactional_id": TRANSACTION,
        "v3_and_below_producer_id": PRODUCER,
        "v3_and_below_producer_epoch": epoch,
        "v3_and_below_topics": [{"name": TOPIC, "partitions": [0]}],
    }
    return Act(24, (0, 3), body, again=(*BUSY, E.UNKNOWN_TOPIC_OR_PARTITION))


def end(committed: bool, versions: tuple[int, int], *, epoch: Var = EPOCH, producer: Any = PRODUCER,
        **how: Any) -> Act:  # fmt: skip
    body = {
        "transactional_id": TRANSACTION,
        "producer_id": producer,
        "producer_epoch": epoch,
        "committed": committed,
    }
    return Act(26, versions, body, again=BUSY, **how)


def describe() -> Act:
    return Act(65, (0, 0), {"transactional_ids": [TRANSACTION]}, again=requests.NOT_READY)


BATCH = Batch((b"one",), PRODUCER, EPOCH, Var("sequence"), transactional=True)
NAMED = {
    _S.READY: "Empty", _S.ADDED: "Ongoing", _S.SENT: "Ongoing", _S.COMMITTED: "CompleteCommit",
    _S.ABORTED: "CompleteAbort", _S.FENCED: "Empty",
}  # fmt: skip
OPENING = (
    requests.create(TOPIC),
    requests.look_up(TOPIC),
    requests.look_up_end(TOPIC),
    requests.find_coordinator(TRANSACTION, 1),
)
UNBOUND: dict[str, Any] = {
    "topic id": requests.NO_TOPIC_ID, "producer": 1 << 40, "epoch": 0, "sequence": 0, "stable": 0,
    "last": 0, "end": 0,
}  # fmt: skip


def _unfinished(state: State, records: bool) -> dict[tuple[StrEnum, StrEnum], Cell]:
    """During a transaction."""
    after = AFTER_RECORDS if records else AFTER_NOTHING
    return row(state, {
        _A.INIT: ok(_S.READY, sets=after),
        _A.TAKE_OVER: ok(_S.FENCED, sets=after),
        _A.ADD: ok(state),
        _A.ADD_OLD: no(*FENCED),
        _A.SEND: ok(_S.SENT),
        _A.COMMIT: ok(_S.COMMITTING, sets=after),
        _A.ABORT: ok(_S.ABORTING, sets=after),
    })  # fmt: skip


def _finished(state: State, again: StrEnum, over: State) -> dict[tuple[StrEnum, StrEnum], Cell]:
    """Between transactions; the same end `again` is taken for a retry."""
    return row(state, {
        _A.INIT: ok(_S.READY),
        _A.TAKE_OVER: ok(_S.FENCED),
        _A.ADD: ok(_S.ADDED),
        _A.ADD_OLD: no(*FENCED),
        _A.SEND: no(*OUTSIDE) if state == over else unasked("the markers may be on their way"),
        _A.COMMIT: no(E.INVALID_TXN_STATE),
        _A.ABORT: no(E.INVALID_TXN_STATE),
    } | {again: ok(over)})  # fmt: skip


MACHINE = Machine(
    "transaction",
    "A transaction of version 1: begun, filled, ended, fenced.",
    State,
    Action,
    {
        **column(_A.STABLE, _S, ok(shows={STABLE_OFFSET: Var("stable")})),
        **column(_A.COMMIT_OTHER, _S, no(E.INVALID_PRODUCER_ID_MAPPING)),
        **{(state, _A.DESCRIBE): ok(shows={STATE: name}) for state, name in NAMED.items()},
        **row(_S.NEW, {
            _A.INIT: ok(_S.READY),
            _A.TAKE_OVER: unasked("there is nobody to take it from"),
            _A.ADD: no(E.INVALID_PRODUCER_ID_MAPPING),
            _A.ADD_OLD: no(E.INVALID_PRODUCER_ID_MAPPING),
            _A.SEND: no(E.INVALID_PRODUCER_ID_MAPPING),
            _A.COMMIT: no(E.INVALID_PRODUCER_ID_MAPPING),
            _A.ABORT: no(E.INVALID_PRODUCER_ID_MAPPING),
            _A.DESCRIBE: no(E.TRANSACTIONAL_ID_NOT_FOUND),
        }),
        **row(_S.READY, {
            _A.INIT: ok(_S.READY),
            _A.TAKE_OVER: ok(_S.FENCED),
            _A.ADD: ok(_S.ADDED),
            _A.ADD_OLD: no(*FENCED),
            _A.SEND: no(*OUTSIDE),
            _A.COMMIT: no(E.INVALID_TXN_STATE),
            _A.ABORT: no(E.INVALID_TXN_STATE),
        }),
        **_unfinished(_S.ADDED, records=False),
        **_unfinished(_S.SENT, records=True),
        **_finished(_S.COMMITTING, _A.COMMIT, _S.COMMITTED),
        **_finished(_S.COMMITTED, _A.COMMIT, _S.COMMITTED),
        **_finished(_S.ABORTING, _A.ABORT, _S.ABORTED),
        **_finished(_S.ABORTED, _A.ABORT, _S.ABORTED),
        **row(_S.FENCED, {
            _A.INIT: ok(_S.READY),
            _A.TAKE_OVER: ok(_S.FENCED),
            _A.ADD: no(*FENCED),
            _A.ADD_OLD: unasked("the later epoch is the other producer's"),
            _A.SEND: no(E.INVALID_PRODUCER_EPOCH),
            _A.COMMIT: no(*FENCED),
            _A.ABORT: no(*FENCED),
        }),
        **{
            (state, action): unasked("the markers may be on their way")
            for state in (_S.COMMITTING, _S.ABORTING) for action in (_A.STABLE, _A.DESCRIBE)
        },
    },
    {
        _A.INIT: requests.init_producer_id(TRANSACTION, sets={"sequence": 0}),
        _A.TAKE_OVER: requests.init_producer_id(TRANSACTION, brings={}),
        _A.ADD: _add(EPOCH),
        _A.ADD_OLD: _add(Var("epoch", 7)),
        _A.SEND: requests.produce(
            TOPIC, BATCH, (3, 11), transaction=TRANSACTION, brings={"last": PRODUCED},
            counts={"sequence": 1}, again=UNVERIFIED,
        ),
        _A.COMMIT: end(True, (0, 4)),
        _A.ABORT: end(False, (0, 4)),
        _A.COMMIT_OTHER: end(True, (0, 4), producer=1 << 41),
        _A.STABLE: requests.list_offsets(TOPIC, requests.READ_COMMITTED),
        _A.DESCRIBE: describe(),
    },
    opening=OPENING,
    names=("transaction", "topic"),
    unbound=UNBOUND,
    differences=(
        Difference(("1.0", "2.2", "2.8"), {
            (state, _A.SEND): unasked("it would open a transaction that nobody ends")
            for state in (_S.NEW, _S.READY, _S.COMMITTED, _S.ABORTED, _S.FENCED)
        }),
    ),
)  # fmt: skip
