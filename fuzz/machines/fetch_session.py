"""A fetch session: what a broker remembers of the partitions that a client reads, by epochs.

A cache of sessions is full some time, so a script leaves none behind. The session fetches
partition 0 from the end of its log as it was when the session opened (`end`).

Sources: KIP-227; FetchManager.newContext, FetchSession at 2.8.2 and 4.3.1; observed on 4.3.1,
3.9.2, 2.8.2. Release 1.0 has no sessions.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from touchstone.fuzz.machines import requests
from touchstone.fuzz.machines.machine import Act, Batch, Machine, Var, column, no, ok, row
from touchstone.fuzz.machines.requests import PRODUCED, TOPIC
from touchstone.reference_impl.wire.errors import ErrorCode as E


class State(StrEnum):
    NONE = "no session"
    QUIET = "a session that has read everything"
    NEWS = "a session with records to read"


class Action(StrEnum):
    OPEN = "a full fetch that opens a session in place of the one there was"
    NEXT = "the next fetch of the session"
    ADVANCE = "the next fetch, from the new end on"
    LATER_EPOCH = "a fetch of a later session epoch"
    UNKNOWN = "a fetch of a session that is not there"
    CLOSE = "a full fetch that closes the session"
    FORGET = "a fetch that forgets the partition"
    SESSIONLESS = "a full fetch without a session"
    PRODUCE = "a record is written"


_S, _A = State, Action
_OPENED: dict[str, Any] = {"sets": {"session epoch": 1}, "brings": {"session": "session_id"}}
_TAKEN: dict[str, Any] = {"counts": {"session epoch": 1}}
_NO_ROWS: dict[str, Any] = {"responses": []}
_END = "responses[0].partitions[0].high_watermark"


def _fetch(
    session: Var | int, epoch: Var | int, *, rows: bool = False, forget: bool = False, **how: Any
) -> Act:
    partition = {
        "partition": 0, "current_leader_epoch": -1, "fetch_offset": Var("end"),
        "last_fetched_epoch": -1, "log_start_offset": -1, "partition_max_bytes": 65536,
    }  # fmt: skip
    named = {"topic_id": Var("topic id"), "topic": TOPIC}
    body = {
        "replica_id": -1,
        "max_wait_ms": 0,
        "min_bytes": 0,
        "max_bytes": 65536,
        "isolation_level": 0,
        "session_id": session,
        "session_epoch": epoch,
        "topics": [named | {"partitions": [partition]}] if rows else [],
        "forgotten_topics_data": [named | {"partitions": [0]}] if forget else [],
        "rack_id": "",
    }
    return Act(1, (7, 18), body, **how)


_OWN, _EPOCH = Var("session"), Var("session epoch")
_ALL_ROWS = {_END: Var("end")}

MACHINE = Machine(
    "fetch_session",
    "A fetch session: opened, gone on with, out of step, forgotten, closed.",
    State,
    Action,
    {
        **row(_S.NONE, {
            _A.NEXT: no(E.FETCH_SESSION_ID_NOT_FOUND),
            _A.ADVANCE: no(E.FETCH_SESSION_ID_NOT_FOUND),
            _A.LATER_EPOCH: no(E.FETCH_SESSION_ID_NOT_FOUND),
            _A.FORGET: no(E.FETCH_SESSION_ID_NOT_FOUND),
            _A.CLOSE: ok(_S.NONE),
            _A.PRODUCE: ok(_S.NONE),
        }),
        **row(_S.QUIET, {
            _A.NEXT: ok(_S.QUIET, shows=_NO_ROWS),
            _A.ADVANCE: ok(_S.QUIET),
            _A.LATER_EPOCH: no(E.INVALID_FETCH_SESSION_EPOCH),
            _A.FORGET: ok(_S.NONE, shows=_NO_ROWS),
            _A.CLOSE: ok(_S.NONE),
            _A.PRODUCE: ok(_S.NEWS),
        }),
        **row(_S.NEWS, {
            _A.NEXT: ok(_S.NEWS, shows=_ALL_ROWS),
            _A.ADVANCE: ok(_S.QUIET),
            _A.LATER_EPOCH: no(E.INVALID_FETCH_SESSION_EPOCH),
            _A.FORGET: ok(_S.NONE, shows=_NO_ROWS),
            _A.CLOSE: ok(_S.NONE),
            _A.PRODUCE: ok(_S.NEWS),
        }),
        **column(_A.OPEN, _S, ok(_S.QUIET, shows=_ALL_ROWS)),
        **column(_A.UNKNOWN, _S, no(E.FETCH_SESSION_ID_NOT_FOUND)),
        **column(_A.SESSIONLESS, _S, ok(shows={"session_id": 0, **_ALL_ROWS})),
    },
    {
        _A.OPEN: _fetch(_OWN, 0, rows=True, **_OPENED),
        _A.NEXT: _fetch(_OWN, _EPOCH, **_TAKEN),
        _A.ADVANCE: _fetch(_OWN, _EPOCH, rows=True, **_TAKEN),
        _A.LATER_EPOCH: _fetch(_OWN, Var("session epoch", 5)),
        _A.UNKNOWN: _fetch(0x7FFFFFF0, 1),
        _A.CLOSE: _fetch(_OWN, -1, rows=True),
        _A.FORGET: _fetch(_OWN, _EPOCH, forget=True),
        _A.SESSIONLESS: _fetch(0, -1, rows=True),
        _A.PRODUCE: requests.produce(TOPIC, Batch(), brings={"end": PRODUCED}, counts={"end": 1}),
    },
    opening=(requests.look_up(TOPIC), requests.look_up_end(TOPIC)),
    unbound={"topic id": requests.NO_TOPIC_ID, "session": 0x7FFFFFF0, "session epoch": 1, "end": 0},
    closing={_S.QUIET: _A.CLOSE, _S.NEWS: _A.CLOSE},
)  # fmt: skip
