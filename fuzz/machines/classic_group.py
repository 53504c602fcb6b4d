"""A classic group of two members, a who leads and b: joins that wait for the other, assignments,
heartbeats, commits.

`a` has come first, so b's first join waits until a has joined again; b's sync waits for a's. Joins
and syncs that may wait go over connections of their own (b's over 1, a's returns over 2), all else
over connection 0.

Sources: reference_impl/group/states.py and the sources it names; KIP-394; observed on 4.3.1,
3.9.2, 2.8.2, 1.0.2.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from touchstone.fuzz.machines import requests
from touchstone.fuzz.machines.machine import (
    Act,
    Cell,
    Difference,
    Machine,
    Var,
    column,
    no,
    ok,
    unanswered,
    unasked,
)
from touchstone.fuzz.machines.requests import LONG_MS, SUBSCRIPTION, TOPIC, UNKNOWN_MEMBER
from touchstone.reference_impl.wire.errors import ErrorCode as E


class State(StrEnum):
    ABSENT = "no such group"
    EMPTY = "the group has no member"
    INVITED = "a has a member id and has not joined"
    JOINED = "a is alone and has no assignment"
    STABLE = "a is alone and has its assignment"
    MEETING = "b has come and waits for a"
    PAIR = "both have joined, nobody has an assignment"
    B_SYNCING = "both have joined, b waits for its assignment"
    PAIR_STABLE = "both have their assignments"
    A_WAITING = "a has joined again and waits for b"
    B_GONE = "b has left, a has to join again"


class Action(StrEnum):
    A_COMES = "a joins without a member id"
    A_ASKS = "a asks for a member id"
    A_RETURNS = "a joins as it was"
    A_CHANGES = "a joins with another subscription"
    A_SYNCS = "a syncs and brings the assignments"
    A_HEARTBEATS = "a heartbeats"
    A_HEARTBEATS_OLD = "a heartbeats in an earlier generation"
    A_COMMITS = "a commits an offset"
    A_COMMITS_OLD = "a commits in an earlier generation"
    A_LEAVES = "a leaves"
    B_COMES = "b joins without a member id"
    B_RETURNS = "b joins as it was"
    B_SYNCS = "b syncs"
    B_HEARTBEATS = "b heartbeats"
    B_LEAVES = "b leaves"
    UNKNOWN_HEARTBEATS = "an unknown member heartbeats"
    COMMIT_SIMPLE = "an offset is committed without a member"
    FETCH_OFFSET = "the committed offset is asked for"
    DELETE_OFFSET = "the committed offset is deleted"
    DESCRIBE = "the group is described"
    DELETE = "the group is deleted"


_S, _A = State, Action
GROUP, GENERATION, A, B = Var("group"), Var("generation"), Var("a"), Var("b")
PART_OF_A, PART_OF_B = b"part of a", b"part of b"
OFFSET = "topics[0].partitions[0].committed_offset"
GROUP_STATE = "groups[0].group_state"
NOBODY = (_S.ABSENT, _S.EMPTY)
ALONE = (_S.JOINED, _S.STABLE)
PREPARING = (_S.MEETING, _S.A_WAITING, _S.B_GONE)
COMPLETING = (_S.JOINED, _S.PAIR, _S.B_SYNCING)
SETTLED = (_S.STABLE, _S.PAIR_STABLE)
TOGETHER = (_S.PAIR, _S.B_SYNCING, _S.PAIR_STABLE, _S.A_WAITING)
MEMBERS = (*COMPLETING, *SETTLED, *PREPARING)
KAFKAS_NAMES = {
    "Dead": (_S.ABSENT,),
    "Empty": (_S.EMPTY, _S.INVITED),
    "PreparingRebalance": PREPARING,
    "CompletingRebalance": COMPLETING,
    "Stable": SETTLED,
}


RANGE = [{"name": "range", "metadata": SUBSCRIPTION}]
TWO = [*RANGE, {"name": "roundrobin", "metadata": SUBSCRIPTION}]
# What a says of itself, and what it says when it changes that: then the two change places.
PROTOCOLS, OTHER = Var("a's protocols"), Var("a's other protocols")

EARLY = (_A.A_HEARTBEATS, _A.A_HEARTBEATS_OLD, _A.A_COMMITS_OLD, _A.COMMIT_SIMPLE)
"""What releases up to 2.2 answer before they look at the member and its generation."""


def _join(member: Var | str, protocols: Any, versions: tuple[int, int], **how: Any) -> Act:
    body = {
        "group_id": GROUP,
        "session_timeout_ms": LONG_MS // 2,
        "rebalance_timeout_ms": LONG_MS,
        "member_id": member,
        "group_instance_id": None,
        "protocol_type": "consumer",
        "protocols": protocols,
        "reason": None,
    }
    return Act(11, versions, body, again=requests.NOT_READY, **how)


def _sync(member: Var, plan: dict[Var, bytes], **how: Any) -> Act:
    body = {
        "group_id": GROUP,
        "generation_id": GENERATION,
        "member_id": member,
        "group_instance_id": None,
        "protocol_type": "consumer",
        "protocol_name": "range",
        "assignments": [{"member_id": who, "assignment": part} for who, part in plan.items()],
    }
    return Act(14, (0, 5), body, again=requests.NOT_READY, **how)


def _heartbeat(member: Var | str, generation: Var | int = GENERATION) -> Act:
    body = {
        "group_id": GROUP,
        "generation_id": generation,
        "member_id": member,
        "group_instance_id": None,
    }
    return Act(12, (0, 4), body, again=requests.NOT_READY)


def _leave(member: Var) -> Act:
    one = {"member_id": member, "group_instance_id": None, "reason": None}
    body = {"group_id": GROUP, "members": [one], "member_id": member}
    return Act(13, (0, 5), body, again=requests.NOT_READY)


def _commit(member: Var | str, generation: Var | int) -> Act:
    partition = {
        "partition_index": 0, "committed_offset": Var("offered", 1),
        "committed_leader_epoch": -1, "committed_metadata": "note",
    }  # fmt: skip
    body = {
        "group_id": GROUP,
        "generation_id_or_member_epoch": generation,
        "member_id": member,
        "group_instance_id": None,
        "retention_time_ms": -1,
        "topics": [{"name": TOPIC, "partitions": [partition]}],
    }
    kept = {"kept": Var("offered", 1)}
    return Act(8, (2, 9), body, sets=kept, counts={"offered": 1}, again=requests.NOT_READY)


def _fetch_offset() -> Act:
    named = [{"name": TOPIC, "partition_indexes": [0]}]
    body = {"group_id": GROUP, "topics": named, "require_stable": False}
    return Act(9, (1, 7), body, again=requests.NOT_READY)


def _delete_offset() -> Act:
    named = [{"name": TOPIC, "partitions": [{"partition_index": 0}]}]
    body = {"group_id": GROUP, "topics": named}
    return Act(47, (0, 0), body, sets={"kept": -1}, again=requests.NOT_READY)


def _like(action: Action, **cells: Cell) -> dict[tuple[StrEnum, StrEnum], Cell]:
    """Cells of one action by the name of their state."""
    return {(_S[state], action): cell for state, cell in cells.items()}


def _in(
    action: Action, states: Iterable[State], cell: Cell, unknown: Cell | None = None
) -> dict[tuple[StrEnum, StrEnum], Cell]:
    """In these states this cell; in others the member is unknown."""
    return column(action, _S, unknown or no(E.UNKNOWN_MEMBER_ID)) | column(action, states, cell)


_REBALANCING = no(E.REBALANCE_IN_PROGRESS)
_NO_GROUP = no(E.GROUP_ID_NOT_FOUND)
_MAY_GO = unasked("a group that loses its last offset is gone")
_LANE = unasked("b has a request under way")
_HERE = unasked("it is in the group, and another member would come")
_MET = ok(_S.PAIR, releases=(_A.B_COMES,), shows={"generation_id": Var("generation", 1)})
_SAME = {"generation_id": GENERATION}
_BOTH = ok(_S.PAIR, releases=(_A.A_RETURNS, _A.A_CHANGES),
           shows={"generation_id": Var("generation", 1)})  # fmt: skip
_WAITS = unanswered(_S.A_WAITING)
_NEXT = ok(_S.JOINED, shows={"generation_id": Var("generation", 1)})
_GENERATION = {"generation": "generation_id"}
_HIS = {"assignment": PART_OF_A}

MACHINE = Machine(
    "classic_group",
    "A classic group of two members: joins, assignments, heartbeats, commits, departures.",
    State,
    Action,
    {
        **column(_A.A_COMES, _S, _HERE),
        **column(_A.A_COMES, NOBODY, ok(_S.JOINED)),
        **column(_A.A_ASKS, _S, _HERE),
        **column(_A.A_ASKS, NOBODY, no(E.MEMBER_ID_REQUIRED, to=_S.INVITED, brings=True)),
        **_in(_A.A_RETURNS, (), no()),
        **_like(
            _A.A_RETURNS, INVITED=ok(_S.JOINED), JOINED=ok(_S.JOINED, shows=_SAME), STABLE=_NEXT,
            MEETING=_MET, PAIR=ok(_S.PAIR, shows=_SAME), B_SYNCING=ok(_S.B_SYNCING, shows=_SAME),
            PAIR_STABLE=_WAITS, A_WAITING=unasked("a has a join under way"), B_GONE=_NEXT,
        ),
        **_in(_A.A_CHANGES, (), no()),
        **_like(
            _A.A_CHANGES, INVITED=ok(_S.JOINED), JOINED=_NEXT, STABLE=_NEXT, MEETING=_MET,
            PAIR=_WAITS, PAIR_STABLE=_WAITS, A_WAITING=unasked("a has a join under way"),
            B_SYNCING=unanswered(
                _S.A_WAITING, releases=(_A.B_SYNCS,), released=E.REBALANCE_IN_PROGRESS
            ),
            B_GONE=_NEXT,
        ),
        **_in(_A.A_SYNCS, PREPARING, _REBALANCING),
        **_like(
            _A.A_SYNCS, JOINED=ok(_S.STABLE, shows=_HIS), STABLE=ok(shows=_HIS),
            PAIR=ok(_S.PAIR_STABLE, shows=_HIS), PAIR_STABLE=ok(shows=_HIS),
            B_SYNCING=ok(_S.PAIR_STABLE, shows=_HIS, releases=(_A.B_SYNCS,)),
        ),
        **_in(_A.A_HEARTBEATS, (*COMPLETING, *SETTLED), ok()),
        **column(_A.A_HEARTBEATS, PREPARING, _REBALANCING),
        **_in(_A.A_HEARTBEATS_OLD, MEMBERS, no(E.ILLEGAL_GENERATION)),
        **_in(_A.A_COMMITS, (*SETTLED, *PREPARING), ok()),
        **column(_A.A_COMMITS, COMPLETING, _REBALANCING),
        **_in(_A.A_COMMITS_OLD, MEMBERS, no(E.ILLEGAL_GENERATION)),
        # Version 9, which consumer groups may use, has a code for groups that are not there.
        **_like(_A.A_COMMITS, ABSENT=no(E.ILLEGAL_GENERATION, E.GROUP_ID_NOT_FOUND)),
        **_like(_A.A_COMMITS_OLD, ABSENT=no(E.ILLEGAL_GENERATION, E.GROUP_ID_NOT_FOUND)),
        **_in(_A.A_LEAVES, (*ALONE, _S.INVITED, _S.B_GONE), ok(_S.EMPTY)),
        **column(_A.A_LEAVES, (_S.MEETING, *TOGETHER), unasked("b would lead")),
        **column(_A.B_COMES, _S, _HERE),
        **column(_A.B_COMES, (*ALONE, _S.B_GONE), unanswered(_S.MEETING)),
        **_in(_A.B_RETURNS, (), no()),
        **_like(
            _A.B_RETURNS, MEETING=_LANE, PAIR=ok(shows=_SAME), B_SYNCING=_LANE,
            PAIR_STABLE=ok(shows=_SAME), A_WAITING=_BOTH,
        ),
        **_in(_A.B_SYNCS, (), no()),
        **_like(
            _A.B_SYNCS, MEETING=_LANE, PAIR=unanswered(_S.B_SYNCING), B_SYNCING=_LANE,
            PAIR_STABLE=ok(shows={"assignment": PART_OF_B}), A_WAITING=_REBALANCING,
        ),
        **_in(_A.B_HEARTBEATS, (_S.PAIR, _S.B_SYNCING, _S.PAIR_STABLE), ok()),
        **_like(_A.B_HEARTBEATS, A_WAITING=_REBALANCING, MEETING=unasked("b has no member id yet")),
        **_in(_A.B_LEAVES, (_S.PAIR, _S.PAIR_STABLE), ok(_S.B_GONE)),
        **_like(
            _A.B_LEAVES, MEETING=unasked("b has no member id yet"), B_SYNCING=_LANE,
            A_WAITING=ok(_S.JOINED, releases=(_A.A_RETURNS, _A.A_CHANGES)),
        ),
        **_in(_A.UNKNOWN_HEARTBEATS, (), no()),
        **_in(_A.COMMIT_SIMPLE, NOBODY, ok(_S.EMPTY)),
        **_like(_A.COMMIT_SIMPLE, INVITED=ok()),
        **column(_A.FETCH_OFFSET, _S, ok(shows={OFFSET: Var("kept")})),
        **column(_A.DELETE_OFFSET, _S, no(E.GROUP_SUBSCRIBED_TO_TOPIC)),
        **_like(_A.DELETE_OFFSET, ABSENT=_NO_GROUP, EMPTY=ok(), INVITED=ok()),
        **{
            (state, _A.DESCRIBE): ok(shows={GROUP_STATE: name})
            for name, states in KAFKAS_NAMES.items() for state in states
        },
        **column(_A.DELETE, _S, no(E.NON_EMPTY_GROUP)),
        **_like(
            _A.DELETE, ABSENT=_NO_GROUP, EMPTY=ok(_S.ABSENT),
            INVITED=unasked("whether a group of invited members is empty, releases differ in"),
        ),
    },
    {
        _A.A_COMES: _join("", PROTOCOLS, (2, 3), brings=_GENERATION | {"a": "member_id"}),
        _A.A_ASKS: _join("", PROTOCOLS, (4, 9), brings={"a": "member_id"}),
        _A.A_RETURNS: _join(
            A, PROTOCOLS, (2, 9), brings=_GENERATION, connection=2
        ),
        _A.A_CHANGES: _join(
            A, OTHER, (2, 9), brings=_GENERATION, connection=2,
            sets={PROTOCOLS.name: OTHER, OTHER.name: PROTOCOLS},
        ),
        _A.A_SYNCS: _sync(A, {A: PART_OF_A, B: PART_OF_B}),
        _A.A_HEARTBEATS: _heartbeat(A),
        _A.A_HEARTBEATS_OLD: _heartbeat(A, Var("generation", -1)),
        _A.A_COMMITS: _commit(A, GENERATION),
        _A.A_COMMITS_OLD: _commit(A, Var("generation", -1)),
        _A.A_LEAVES: _leave(A),
        _A.B_COMES: _join(
            "", RANGE, (2, 3), brings=_GENERATION | {"b": "member_id"}, connection=1
        ),
        _A.B_RETURNS: _join(
            B, RANGE, (2, 9), brings=_GENERATION, connection=1
        ),
        _A.B_SYNCS: _sync(B, {}, connection=1),
        _A.B_HEARTBEATS: _heartbeat(B),
        _A.B_LEAVES: _leave(B),
        _A.UNKNOWN_HEARTBEATS: _heartbeat(UNKNOWN_MEMBER, 1),
        _A.COMMIT_SIMPLE: _commit("", -1),
        _A.FETCH_OFFSET: _fetch_offset(),
        _A.DELETE_OFFSET: _delete_offset(),
        _A.DESCRIBE: Act(
            15, (0, 5), {"groups": [GROUP], "include_authorized_operations": False},
            again=requests.NOT_READY,
        ),
        _A.DELETE: Act(
            42, (0, 2), {"groups_names": [GROUP]}, sets={"kept": -1}, again=requests.NOT_READY
        ),
    },
    opening=(requests.find_coordinator(GROUP, 0),),
    names=("group",),
    unbound={"a": "touchstone-a", "b": "touchstone-b", "generation": 1, "offered": 0, "kept": -1,
             PROTOCOLS.name: RANGE, OTHER.name: TWO},
    differences=(
        Difference(("1.0",), {
            (state, _A.DESCRIBE): ok(shows={GROUP_STATE: "AwaitingSync"}) for state in COMPLETING
        }),
        Difference(("2.8", "3.9"), column(_A.DELETE_OFFSET, (_S.EMPTY, _S.INVITED), _MAY_GO)),
        Difference(
            ("1.0", "2.2"),
            column(_A.B_HEARTBEATS, (_S.PAIR, _S.B_SYNCING), _REBALANCING)
            | {(state, action): _REBALANCING for state in COMPLETING for action in EARLY},
        ),
    ),
)  # fmt: skip
