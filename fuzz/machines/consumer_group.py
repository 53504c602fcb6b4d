"""A consumer group (KIP-848) of two members, who say by heartbeats that they join, live and leave.

Member ids are the clients' own; epochs are carried from answer to answer, so that the model need
not know when assignments are computed. A topic of its own keeps other scripts' subscriptions away.

Sources: KIP-848; GroupMetadataManager and ConsumerGroup at 4.3.1; observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from touchstone.fuzz.machines import requests
from touchstone.fuzz.machines.machine import Act, Cell, Machine, Var, column, no, ok, unasked
from touchstone.fuzz.machines.requests import LONG_MS, TOPIC, UNKNOWN_MEMBER
from touchstone.reference_impl.wire.errors import ErrorCode as E


class State(StrEnum):
    ABSENT = "no such group"
    ALONE = "a is in the group"
    PAIR = "a and b are in the group"
    B_ALONE = "b is in the group"
    EMPTY = "the group has no member any more"


class Action(StrEnum):
    A_JOINS = "a joins"
    A_HEARTBEATS = "a heartbeats"
    A_HEARTBEATS_LATER = "a heartbeats in a later epoch"
    A_COMMITS = "a commits an offset"
    A_COMMITS_LATER = "a commits in a later epoch"
    A_FETCHES = "a asks for the committed offset"
    A_FETCHES_LATER = "a asks in a later epoch"
    A_LEAVES = "a leaves"
    B_JOINS = "b joins"
    B_HEARTBEATS = "b heartbeats"
    B_LEAVES = "b leaves"
    UNKNOWN_HEARTBEATS = "an unknown member heartbeats"
    UNKNOWN_LEAVES = "an unknown member leaves"
    COMMIT_SIMPLE = "an offset is committed without a member"
    CLASSIC_HEARTBEATS = "a classic member heartbeats"
    CLASSIC_JOINS = "a classic member of another kind joins"
    DESCRIBE = "the group is described"
    DESCRIBE_CLASSIC = "the group is described as a classic one"
    DELETE = "the group is deleted"


_S, _A = State, Action
GROUP = Var("group")
JOIN, LEAVE, FAR = 0, -1, 9
FIRST_EPOCH = 2
"""Of a group whose first member subscribes to a topic that exists: one for the member, one for what
it wants."""
WITH_A, WITH_B = (_S.ALONE, _S.PAIR), (_S.PAIR, _S.B_ALONE)
NOBODY = (_S.ABSENT, _S.EMPTY)
EPOCH = "member_epoch"
OFFSET = "groups[0].topics[0].partitions[0].committed_offset"


def _heartbeat(
    member: str, epoch: Var | int, *, full: bool = False, brings: str | None = None
) -> Act:
    body = {
        "group_id": GROUP,
        "member_id": member,
        "member_epoch": epoch,
        "instance_id": None,
        "rack_id": None,
        "rebalance_timeout_ms": LONG_MS if full else -1,
        "subscribed_topic_names": [TOPIC] if full else None,
        "subscribed_topic_regex": None,
        "server_assignor": None,
        "topic_partitions": [] if full else None,
    }
    brought = {brings: "member_epoch"} if brings else {}
    return Act(68, (0, 1), body, brings=brought, again=requests.NOT_READY)


def _commit(member: str, epoch: Var | int) -> Act:
    partition = {
        "partition_index": 0, "committed_offset": Var("offered", 1),
        "committed_leader_epoch": -1, "committed_metadata": "",
    }  # fmt: skip
    body = {
        "group_id": GROUP,
        "generation_id_or_member_epoch": epoch,
        "member_id": member,
        "group_instance_id": None,
        "topics": [{"name": TOPIC, "partitions": [partition]}],
    }
    kept = {"kept": Var("offered", 1)}
    return Act(8, (9, 9), body, sets=kept, counts={"offered": 1}, again=requests.NOT_READY)


def _fetch(member: str, epoch: Var) -> Act:
    named = [{"name": TOPIC, "partition_indexes": [0]}]
    one = {"group_id": GROUP, "member_id": member, "member_epoch": epoch, "topics": named}
    return Act(9, (9, 9), {"groups": [one], "require_stable": False}, again=requests.NOT_READY)


def _classic_join() -> Act:
    body = {
        "group_id": GROUP,
        "session_timeout_ms": LONG_MS // 2,
        "rebalance_timeout_ms": LONG_MS,
        "member_id": "",
        "group_instance_id": None,
        "protocol_type": "connect",
        "protocols": [{"name": "default", "metadata": b"\0"}],
    }
    return Act(11, (2, 3), body, again=requests.NOT_READY)


def _classic_beat() -> Act:
    body = {
        "group_id": GROUP,
        "generation_id": 1,
        "member_id": UNKNOWN_MEMBER,
        "group_instance_id": None,
    }
    return Act(12, (0, 4), body, again=requests.NOT_READY)


def _mostly(
    action: Action, refused: Cell, states: Iterable[State], cell: Cell
) -> dict[tuple[StrEnum, StrEnum], Cell]:
    """This cell in some states, refused in the others; where there is no group, for that reason."""
    cells = column(action, _S, refused) | column(action, states, cell)
    return cells if _S.ABSENT in states else cells | {(_S.ABSENT, action): _NO_GROUP}


_UNKNOWN, _NO_GROUP = no(E.UNKNOWN_MEMBER_ID), no(E.GROUP_ID_NOT_FOUND)
_CLASSIC = unasked("it would make a classic group")
_A_EPOCH, _B_EPOCH = Var("epoch of a"), Var("epoch of b")

MACHINE = Machine(
    "consumer_group",
    "A consumer group of two members: joins, heartbeats, commits, departures, other kinds.",
    State,
    Action,
    {
        **column(_A.A_JOINS, (_S.ALONE, _S.EMPTY), ok(_S.ALONE)),
        (_S.ABSENT, _A.A_JOINS): ok(_S.ALONE, shows={EPOCH: FIRST_EPOCH}),
        **column(_A.A_JOINS, WITH_B, ok(_S.PAIR)),
        **_mostly(_A.A_HEARTBEATS, _UNKNOWN, WITH_A, ok()),
        **_mostly(_A.A_HEARTBEATS_LATER, _UNKNOWN, WITH_A, no(E.FENCED_MEMBER_EPOCH)),
        **_mostly(_A.A_COMMITS, _UNKNOWN, WITH_A, ok()),
        **_mostly(_A.A_COMMITS_LATER, _UNKNOWN, WITH_A, no(E.STALE_MEMBER_EPOCH)),
        **_mostly(_A.A_FETCHES, _UNKNOWN, WITH_A, ok(shows={OFFSET: Var("kept")})),
        **_mostly(_A.A_FETCHES_LATER, _UNKNOWN, WITH_A, no(E.STALE_MEMBER_EPOCH)),
        (_S.ABSENT, _A.A_FETCHES): ok(shows={OFFSET: -1}),
        (_S.ABSENT, _A.A_FETCHES_LATER): ok(shows={OFFSET: -1}),
        **_mostly(_A.A_LEAVES, _UNKNOWN, (_S.ALONE,), ok(_S.EMPTY)),
        (_S.PAIR, _A.A_LEAVES): ok(_S.B_ALONE),
        **column(_A.B_JOINS, (_S.B_ALONE, _S.EMPTY), ok(_S.B_ALONE)),
        (_S.ABSENT, _A.B_JOINS): ok(_S.B_ALONE, shows={EPOCH: FIRST_EPOCH}),
        **column(_A.B_JOINS, WITH_A, ok(_S.PAIR)),
        **_mostly(_A.B_HEARTBEATS, _UNKNOWN, WITH_B, ok()),
        **_mostly(_A.B_LEAVES, _UNKNOWN, (_S.B_ALONE,), ok(_S.EMPTY)),
        (_S.PAIR, _A.B_LEAVES): ok(_S.ALONE),
        **_mostly(_A.UNKNOWN_HEARTBEATS, _UNKNOWN, (), ok()),
        **_mostly(_A.UNKNOWN_LEAVES, _UNKNOWN, (), ok()),
        **_mostly(_A.COMMIT_SIMPLE, _UNKNOWN, (_S.EMPTY,), ok()),
        (_S.ABSENT, _A.COMMIT_SIMPLE): _CLASSIC,
        **column(_A.CLASSIC_HEARTBEATS, _S, _UNKNOWN),
        **column(_A.CLASSIC_JOINS, _S, no(E.INCONSISTENT_GROUP_PROTOCOL)),
        **column(_A.CLASSIC_JOINS, NOBODY, _CLASSIC),
        **_mostly(_A.DESCRIBE, ok(), (), ok()),
        **column(_A.DESCRIBE_CLASSIC, _S, ok(shows={"groups[0].group_state": "Dead"})),
        **_mostly(_A.DELETE, no(E.NON_EMPTY_GROUP), (_S.EMPTY,), ok(_S.ABSENT)),
    },
    {
        _A.A_JOINS: _heartbeat("a", JOIN, full=True, brings=_A_EPOCH.name),
        _A.A_HEARTBEATS: _heartbeat("a", _A_EPOCH, brings=_A_EPOCH.name),
        _A.A_HEARTBEATS_LATER: _heartbeat("a", Var(_A_EPOCH.name, FAR)),
        _A.A_COMMITS: _commit("a", _A_EPOCH),
        _A.A_COMMITS_LATER: _commit("a", Var(_A_EPOCH.name, FAR)),
        _A.A_FETCHES: _fetch("a", _A_EPOCH),
        _A.A_FETCHES_LATER: _fetch("a", Var(_A_EPOCH.name, FAR)),
        _A.A_LEAVES: _heartbeat("a", LEAVE),
        _A.B_JOINS: _heartbeat("b", JOIN, full=True, brings=_B_EPOCH.name),
        _A.B_HEARTBEATS: _heartbeat("b", _B_EPOCH, brings=_B_EPOCH.name),
        _A.B_LEAVES: _heartbeat("b", LEAVE),
        _A.UNKNOWN_HEARTBEATS: _heartbeat(UNKNOWN_MEMBER, 1),
        _A.UNKNOWN_LEAVES: _heartbeat(UNKNOWN_MEMBER, LEAVE),
        _A.COMMIT_SIMPLE: _commit("", -1),
        _A.CLASSIC_HEARTBEATS: _classic_beat(),
        _A.CLASSIC_JOINS: _classic_join(),
        _A.DESCRIBE: Act(69, (0, 1), {"group_ids": [GROUP]}, again=requests.NOT_READY),
        _A.DESCRIBE_CLASSIC: Act(15, (0, 5), {"groups": [GROUP]}, again=requests.NOT_READY),
        _A.DELETE: Act(
            42, (0, 2), {"groups_names": [GROUP]}, sets={"kept": -1}, again=requests.NOT_READY
        ),
    },
    opening=(requests.look_up(TOPIC), requests.find_coordinator(GROUP, 0)),
    names=("group",),
    unbound={"topic id": requests.NO_TOPIC_ID, _A_EPOCH.name: 1, _B_EPOCH.name: 1, "offered": 0,
             "kept": -1},
)  # fmt: skip
