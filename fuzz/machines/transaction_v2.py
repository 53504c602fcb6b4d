"""A transaction of version 2 (KIP-890): Produce and TxnOffsetCommit add what they write to, and
every end raises the producer's epoch, which its answer tells.

Sources: KIP-890; TransactionCoordinator and TransactionMetadata at 4.3.1; observed on 4.3.1.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Any

from touchstone.fuzz.machines import requests
from touchstone.fuzz.machines.machine import Act, Machine, Var, column, no, ok, row, unasked
from touchstone.fuzz.machines.requests import PRODUCED
from touchstone.fuzz.machines.transaction import (
    AFTER_RECORDS,
    BATCH,
    BUSY,
    EPOCH,
    FENCED,
    OPENING,
    PRODUCER,
    STABLE_OFFSET,
    STATE,
    TOPIC,
    TRANSACTION,
    UNBOUND,
    UNVERIFIED,
    describe,
    end,
)
from touchstone.reference_impl.wire.errors import ErrorCode as E


class State(StrEnum):
    NEW = "nobody has used the transactional id"
    READY = "a producer has it, before its first transaction"
    SENT = "records were sent"
    OFFSETS = "offsets were sent"
    COMMITTED = "a commit is decided or over"
    ABORTED = "an abort is decided or over"
    FENCED = "another producer has the transactional id"


class Action(StrEnum):
    INIT = "the producer begins with the id"
    TAKE_OVER = "another producer begins with the id"
    SEND = "a record is sent"
    SEND_OLD = "a record of an earlier epoch is sent"
    SEND_OFFSETS = "offsets are sent"
    COMMIT = "the transaction is committed"
    ABORT = "the transaction is aborted"
    COMMIT_AGAIN = "it is committed with the epoch before"
    ABORT_AGAIN = "it is aborted with the epoch before"
    STABLE = "the last stable offset is asked for"
    OFFSET = "the committed offset is asked for"
    DESCRIBE = "the transaction is described"


_S, _A = State, Action
GROUP = Var("group")
COMMITTED_OFFSET = "topics[0].partitions[0].committed_offset"
_KEPT = {"kept": Var("offered")}
_NEXT = {"producer": "producer_id", "epoch": "producer_epoch"}
_END: dict[str, Any] = {"brings": _NEXT, "sets": {"sequence": 0}}


def _commit_offset() -> Act:
    partition = {
        "partition_index": 0, "committed_offset": Var("offered", 1),
        "committed_leader_epoch": -1, "committed_metadata": "",
    }  # fmt: skip
    body = {
        "transactional_id": TRANSACTION,
        "group_id": GROUP,
        "producer_id": PRODUCER,
        "producer_epoch": EPOCH,
        "generation_id": -1,
        "member_id": "",
        "group_instance_id": None,
        "topics": [{"name": TOPIC, "partitions": [partition]}],
    }
    return Act(28, (5, 5), body, counts={"offered": 1}, again=BUSY)


def _fetch_offset() -> Act:
    body = {
        "group_id": GROUP,
        "topics": [{"name": TOPIC, "partition_indexes": [0]}],
        "require_stable": True,
    }
    again = (*requests.NOT_READY, E.UNSTABLE_OFFSET_COMMIT)
    return Act(9, (7, 7), body, again=again)


_UNSTABLE = unasked("the transaction's own offsets are not stable")
_UNMARKED = unasked("the markers may be on their way")

MACHINE = Machine(
    "transaction_v2",
    "A transaction of version 2: begun by what is sent, ended with another epoch, ended again.",
    State,
    Action,
    {
        **column(_A.INIT, _S, ok(_S.READY)),
        **column(_A.TAKE_OVER, _S, ok(_S.FENCED)),
        **column(_A.SEND, _S, ok(_S.SENT)),
        **column(_A.SEND_OLD, _S, no(E.INVALID_PRODUCER_EPOCH)),
        **column(_A.SEND_OFFSETS, _S, ok(_S.OFFSETS)),
        **column(_A.STABLE, _S, ok(shows={STABLE_OFFSET: Var("stable")})),
        **column(_A.OFFSET, _S, ok(shows={COMMITTED_OFFSET: Var("kept")})),
        **column(_A.COMMIT_AGAIN, _S, no(*FENCED)),
        **column(_A.ABORT_AGAIN, _S, no(*FENCED)),
        **row(_S.NEW, {
            _A.TAKE_OVER: unasked("there is nobody to take it from"),
            _A.SEND: no(E.INVALID_PRODUCER_ID_MAPPING),
            _A.SEND_OLD: no(E.INVALID_PRODUCER_ID_MAPPING),
            _A.SEND_OFFSETS: no(E.INVALID_PRODUCER_ID_MAPPING),
            _A.COMMIT: no(E.INVALID_PRODUCER_ID_MAPPING),
            _A.ABORT: no(E.INVALID_PRODUCER_ID_MAPPING),
            _A.COMMIT_AGAIN: no(E.INVALID_PRODUCER_ID_MAPPING),
            _A.ABORT_AGAIN: no(E.INVALID_PRODUCER_ID_MAPPING),
            _A.DESCRIBE: no(E.TRANSACTIONAL_ID_NOT_FOUND),
        }),
        **row(_S.READY, {
            _A.COMMIT: no(E.INVALID_TXN_STATE),
            _A.ABORT: ok(_S.ABORTED),
            _A.DESCRIBE: ok(shows={STATE: "Empty"}),
        }),
        **row(_S.SENT, {
            _A.INIT: ok(_S.READY, sets=AFTER_RECORDS),
            _A.TAKE_OVER: ok(_S.FENCED, sets=AFTER_RECORDS),
            _A.SEND_OFFSETS: unasked("a transaction has records or offsets"),
            _A.COMMIT: ok(_S.COMMITTED, sets=AFTER_RECORDS),
            _A.ABORT: ok(_S.ABORTED, sets=AFTER_RECORDS),
            _A.DESCRIBE: ok(shows={STATE: "Ongoing"}),
        }),
        **row(_S.OFFSETS, {
            _A.SEND: unasked("a transaction has records or offsets"),
            _A.COMMIT: ok(_S.COMMITTED, sets=_KEPT),
            _A.ABORT: ok(_S.ABORTED),
            _A.OFFSET: _UNSTABLE,
            _A.DESCRIBE: ok(shows={STATE: "Ongoing"}),
        }),
        **row(_S.COMMITTED, {
            _A.COMMIT: no(E.INVALID_TXN_STATE),
            _A.ABORT: ok(_S.ABORTED),
            _A.COMMIT_AGAIN: ok(_S.COMMITTED),
            _A.ABORT_AGAIN: no(E.INVALID_TXN_STATE),
            _A.SEND_OLD: _UNMARKED,
            _A.STABLE: _UNMARKED,
            _A.DESCRIBE: _UNMARKED,
        }),
        **row(_S.ABORTED, {
            _A.COMMIT: no(E.INVALID_TXN_STATE),
            _A.ABORT: ok(_S.ABORTED),
            _A.COMMIT_AGAIN: no(E.INVALID_TXN_STATE),
            _A.ABORT_AGAIN: ok(_S.ABORTED),
            _A.SEND_OLD: _UNMARKED,
            _A.STABLE: _UNMARKED,
            _A.DESCRIBE: _UNMARKED,
        }),
        **row(_S.FENCED, {
            _A.SEND: no(E.INVALID_PRODUCER_EPOCH),
            _A.SEND_OFFSETS: no(E.INVALID_PRODUCER_EPOCH),
            _A.COMMIT: no(*FENCED),
            _A.ABORT: no(*FENCED),
            _A.DESCRIBE: ok(shows={STATE: "Empty"}),
        }),
    },
    {
        _A.INIT: requests.init_producer_id(TRANSACTION, sets={"sequence": 0}),
        _A.TAKE_OVER: requests.init_producer_id(TRANSACTION, brings={}),
        _A.SEND: requests.produce(
            TOPIC, BATCH, (12, 13), transaction=TRANSACTION, brings={"last": PRODUCED},
            counts={"sequence": 1}, again=UNVERIFIED,
        ),
        _A.SEND_OLD: requests.produce(
            TOPIC, replace(BATCH, producer_epoch=Var("epoch", -1)), (12, 13),
            transaction=TRANSACTION, again=UNVERIFIED,
        ),
        _A.SEND_OFFSETS: _commit_offset(),
        _A.COMMIT: end(True, (5, 5), **_END),
        _A.ABORT: end(False, (5, 5), **_END),
        _A.COMMIT_AGAIN: end(True, (5, 5), epoch=Var("epoch", -1), **_END),
        _A.ABORT_AGAIN: end(False, (5, 5), epoch=Var("epoch", -1), **_END),
        _A.STABLE: requests.list_offsets(TOPIC, requests.READ_COMMITTED),
        _A.OFFSET: _fetch_offset(),
        _A.DESCRIBE: describe(),
    },
    opening=(*OPENING, requests.find_coordinator(GROUP, 0)),
    names=("transaction", "topic", "group"),
    unbound=UNBOUND | {"offered": 0, "kept": -1},
)  # fmt: skip
