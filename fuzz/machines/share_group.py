"""A share group (KIP-932) of one member: its membership, its share session, what it has acquired.

Every script has a topic of its own, which its group reads from the start; the machine writes one
record at a time and fetches it.

Sources: KIP-932, KIP-1222; SharePartitionManager.newContext and SharePartition at 4.3.1; observed
on 4.3.1.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from touchstone.fuzz.machines import requests
from touchstone.fuzz.machines.machine import (
    Act,
    Batch,
    Cell,
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
    ABSENT = "no such group"
    JOINING = "a is in the group and has no assignment yet"
    JOINED = "a has its assignment and no session"
    OPEN = "a has a session and nothing to read"
    RECORD = "there is a record to read"
    HAS = "a has acquired the record"
    LEFT = "a has left"


class Action(StrEnum):
    JOIN = "a joins"
    HEARTBEAT = "a heartbeats"
    GET_ASSIGNED = "a joins again until it is told its assignment"
    HEARTBEAT_LATER = "a heartbeats in a later epoch"
    LEAVE = "a leaves"
    UNKNOWN_HEARTBEATS = "an unknown member heartbeats"
    OPEN_SESSION = "a fetch that opens a session"
    FETCH = "the next fetch of the session"
    FETCH_RECORD = "the next fetch of the session, which waits for the record"
    FETCH_LATER = "a fetch of a later session epoch"
    ACCEPT = "a accepts the record"
    RELEASE = "a gives the record back"
    ACCEPT_LATER = "a accepts it in a later session epoch"
    ACCEPT_OTHER = "a accepts a record that it has not acquired"
    CLOSE = "a fetch that closes the session"
    PRODUCE = "a record is written"
    DESCRIBE = "the group is described"


_S, _A = State, Action
GROUP, MEMBER, TOPIC = Var("group"), Var("member"), Var("topic")
WAIT_MS = 1500
"""How long a fetch waits for a record that is there: a share partition begins some time after the
first fetch of it."""
EPOCH, SESSION_EPOCH = Var("epoch"), Var("session epoch")
_TAKEN: dict[str, Any] = {"counts": {"session epoch": 1}}
_STATE = "groups[0].group_state"
_ASSIGNED = "assignment.topic_partitions[0].topic_id"
_DELIVERIES = "responses[0].partitions[0].acquired_records[0].delivery_count"
_FIRST = "responses[0].partitions[0].acquired_records[0].first_offset"


def _heartbeat(epoch: Var | int, *, joins: bool = False, member: Any = MEMBER, **how: Any) -> Act:
    body = {
        "group_id": GROUP,
        "member_id": member,
        "member_epoch": epoch,
        "rack_id": None,
        "subscribed_topic_names": [TOPIC] if joins else None,
    }
    return Act(76, (1, 1), body, again=requests.NOT_READY, **how)


def _rows(*batches: dict[str, Any]) -> list[dict[str, Any]]:
    row_ = {
        "partition_index": 0, "partition_max_bytes": 65536, "acknowledgement_batches": [*batches],
    }  # fmt: skip
    return [{"topic_id": Var("topic id"), "partitions": [row_]}]


def _fetch(epoch: Var | int, *, rows: bool = False, wait_ms: int = 0, **how: Any) -> Act:
    body = {
        "group_id": GROUP,
        "member_id": MEMBER,
        "share_session_epoch": epoch,
        "max_wait_ms": wait_ms,
        "min_bytes": 1 if wait_ms else 0,
        "max_bytes": 65536,
        "max_records": 100,
        "batch_size": 100,
        "share_acquire_mode": 0,
        "is_renew_ack": False,
        "topics": _rows() if rows else [],
        "forgotten_topics_data": [],
    }
    return Act(78, (1, 2), body, **how)


def _acknowledge(epoch: Var | int, kind: int, offset: Var, **how: Any) -> Act:
    batch = {"first_offset": offset, "last_offset": offset, "acknowledge_types": [kind]}
    body = {
        "group_id": GROUP,
        "member_id": MEMBER,
        "share_session_epoch": epoch,
        "is_renew_ack": False,
        "topics": _rows(batch),
    }
    return Act(79, (1, 2), body, **how)


def _from_the_start() -> Act:
    """The group reads from the earliest offset, wherever the log ends when it begins."""
    change = {"name": "share.auto.offset.reset", "config_operation": 0, "value": "earliest"}
    resource = {"resource_type": 32, "resource_name": GROUP, "configs": [change]}
    return Act(44, (0, 1), {"resources": [resource], "validate_only": False})


def _state_is_kept() -> Act:
    """The coordinator of share partitions' states serves; any key tells, there is one partition of
    its log on the targets that we start.
    """
    body = {"key_type": 2, "coordinator_keys": ["touchstone:AAAAAAAAAAAAAAAAAAAAAQ:0"]}
    return Act(10, (6, 6), body, again=requests.NOT_READY)


ACCEPT, RELEASE = 1, 2
_NO_SESSION = no(E.SHARE_SESSION_NOT_FOUND)
_LATER = no(E.INVALID_SHARE_SESSION_EPOCH)
_WITHOUT: dict[StrEnum, Cell] = {
    _A.FETCH: _NO_SESSION, _A.FETCH_LATER: _NO_SESSION, _A.ACCEPT: _NO_SESSION,
    _A.RELEASE: _NO_SESSION, _A.ACCEPT_LATER: _NO_SESSION, _A.ACCEPT_OTHER: _NO_SESSION,
    _A.CLOSE: _NO_SESSION,
}  # fmt: skip
# A share partition that has not begun is UNKNOWN_TOPIC_OR_PARTITION to who acknowledges.
_NOT_HIS = no(
    E.INVALID_RECORD_STATE,
    E.INVALID_REQUEST,
    E.UNKNOWN_TOPIC_OR_PARTITION,
    counts={"session epoch": 1},
)
_NEEDS_MEMBER = unasked("a session without a member says nothing of the group")
_LOSES = unasked("whether a member may leave a session open is not in the model")
_UNBEGUN = unasked("a share partition begins when the member has its assignment")
_EARLY = unasked("a record is written to an open session")
_LATE = unasked("one record at a time")
_NOTHING = unasked("it would wait for a record")

MACHINE = Machine(
    "share_group",
    "A share group of one member: membership, session, records acquired, accepted, released.",
    State,
    Action,
    {
        **column(_A.UNKNOWN_HEARTBEATS, _S, no(E.UNKNOWN_MEMBER_ID)),
        **column(_A.JOIN, _S, ok()),
        **column(_A.HEARTBEAT, _S, ok()),
        **column(_A.GET_ASSIGNED, _S, unasked("it has its assignment, or is not in the group")),
        **column(_A.HEARTBEAT_LATER, _S, no(E.FENCED_MEMBER_EPOCH)),
        **column(_A.LEAVE, _S, _LOSES),
        **column(_A.FETCH_RECORD, _S, _NOTHING),
        **column(_A.DESCRIBE, _S, ok(shows={_STATE: "Stable"})),
        **row(_S.ABSENT, _WITHOUT | {
            _A.JOIN: ok(_S.JOINING),
            _A.HEARTBEAT: no(E.GROUP_ID_NOT_FOUND),
            _A.HEARTBEAT_LATER: no(E.GROUP_ID_NOT_FOUND),
            _A.LEAVE: no(E.GROUP_ID_NOT_FOUND),
            _A.UNKNOWN_HEARTBEATS: no(E.GROUP_ID_NOT_FOUND),
            _A.OPEN_SESSION: _NEEDS_MEMBER,
            _A.PRODUCE: _EARLY,
            _A.DESCRIBE: no(E.GROUP_ID_NOT_FOUND),
        }),
        **row(_S.JOINING, dict.fromkeys(_WITHOUT, _UNBEGUN) | {
            _A.GET_ASSIGNED: ok(_S.JOINED, shows={_ASSIGNED: Var("topic id")}),
            _A.LEAVE: ok(_S.LEFT),
            _A.OPEN_SESSION: _UNBEGUN,
            _A.PRODUCE: _EARLY,
        }),
        **row(_S.JOINED, _WITHOUT | {
            _A.LEAVE: ok(_S.LEFT),
            _A.OPEN_SESSION: ok(_S.OPEN),
            _A.PRODUCE: _EARLY,
        }),
        **row(_S.OPEN, {
            _A.OPEN_SESSION: ok(_S.OPEN),
            _A.FETCH: ok(),
            _A.FETCH_LATER: _LATER,
            _A.ACCEPT: unasked("the record may not be the group's"),
            _A.RELEASE: unasked("the record may not be the group's"),
            _A.ACCEPT_LATER: _LATER,
            _A.ACCEPT_OTHER: _NOT_HIS,
            _A.CLOSE: ok(_S.JOINED),
            _A.PRODUCE: ok(_S.RECORD),
        }),
        **row(_S.RECORD, {
            _A.OPEN_SESSION: unasked("it may come back with the record or without"),
            _A.FETCH: unasked("it may come back with the record or without"),
            _A.FETCH_RECORD: ok(
                _S.HAS, shows={_FIRST: Var("last"), _DELIVERIES: Var("deliveries", 1)}
            ),
            _A.FETCH_LATER: _LATER,
            _A.ACCEPT: _NOT_HIS,
            _A.RELEASE: _NOT_HIS,
            _A.ACCEPT_LATER: _LATER,
            _A.ACCEPT_OTHER: _NOT_HIS,
            _A.CLOSE: ok(_S.JOINED),
            _A.PRODUCE: _LATE,
        }),
        **row(_S.HAS, {
            _A.OPEN_SESSION: unasked("the record goes back in between"),
            _A.FETCH: ok(),
            _A.FETCH_LATER: _LATER,
            _A.ACCEPT: ok(_S.OPEN),
            _A.RELEASE: ok(_S.RECORD),
            _A.ACCEPT_LATER: _LATER,
            _A.ACCEPT_OTHER: _NOT_HIS,
            _A.CLOSE: ok(_S.JOINED),
            _A.PRODUCE: _LATE,
        }),
        **row(_S.LEFT, _WITHOUT | {
            _A.JOIN: ok(_S.JOINING),
            _A.HEARTBEAT: no(E.UNKNOWN_MEMBER_ID),
            _A.HEARTBEAT_LATER: no(E.UNKNOWN_MEMBER_ID),
            _A.LEAVE: no(E.UNKNOWN_MEMBER_ID),
            _A.OPEN_SESSION: _NEEDS_MEMBER,
            _A.PRODUCE: _EARLY,
            _A.DESCRIBE: ok(shows={_STATE: "Empty"}),
        }),
    },
    {
        _A.JOIN: _heartbeat(0, joins=True, brings={"epoch": "member_epoch"}),
        _A.HEARTBEAT: _heartbeat(EPOCH, brings={"epoch": "member_epoch"}),
        _A.GET_ASSIGNED: _heartbeat(0, joins=True, brings={"epoch": "member_epoch"}, until=True),
        _A.HEARTBEAT_LATER: _heartbeat(Var("epoch", 9)),
        _A.LEAVE: _heartbeat(-1),
        _A.UNKNOWN_HEARTBEATS: _heartbeat(1, member=requests.UNKNOWN_MEMBER),
        # Before the share coordinator has its log, Kafka answers UNKNOWN_SERVER_ERROR.
        _A.OPEN_SESSION: _fetch(
            0, rows=True, sets={"session epoch": 1},
            again=(E.UNKNOWN_SERVER_ERROR, *requests.TOPIC_NOT_READY),
        ),
        _A.FETCH: _fetch(SESSION_EPOCH, **_TAKEN),
        _A.FETCH_RECORD: _fetch(
            SESSION_EPOCH, wait_ms=WAIT_MS, counts={"session epoch": 1, "deliveries": 1}
        ),
        _A.FETCH_LATER: _fetch(Var("session epoch", 5)),
        _A.ACCEPT: _acknowledge(SESSION_EPOCH, ACCEPT, Var("last"), **_TAKEN),
        _A.RELEASE: _acknowledge(SESSION_EPOCH, RELEASE, Var("last"), **_TAKEN),
        _A.ACCEPT_LATER: _acknowledge(Var("session epoch", 5), ACCEPT, Var("last")),
        _A.ACCEPT_OTHER: _acknowledge(SESSION_EPOCH, ACCEPT, Var("last", 10**6)),
        _A.CLOSE: _fetch(-1),
        _A.PRODUCE: requests.produce(
            TOPIC, Batch(), brings={"last": PRODUCED}, sets={"deliveries": 0}
        ),
        _A.DESCRIBE: Act(77, (1, 1), {"group_ids": [GROUP]}, again=requests.NOT_READY),
    },
    opening=(
        requests.create(TOPIC),
        requests.look_up(TOPIC),
        _from_the_start(),
        _state_is_kept(),
        requests.find_coordinator(GROUP, 0),
    ),
    names=("group", "topic", "member"),
    unbound={"topic id": requests.NO_TOPIC_ID, "epoch": 1, "session epoch": 1, "last": 0,
             "deliveries": 0},
)  # fmt: skip
