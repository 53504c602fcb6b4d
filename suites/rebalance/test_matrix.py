"""The matrix: every request to a classic group's coordinator in every state of a group.

One claim per cell, made from two tables: `states.STATES` are the rows, REQUESTS the columns, and a
column names for each row the answer and, behind ">", the state of the group afterwards if it is
another. "waits" is no answer yet: the case looks at the state meanwhile, then everybody else joins
(or the leader assigns) and the answer arrives. Where releases differ a cell holds a word for each.

Sources: GroupCoordinator.scala@1.0.2, 2.2.1, 2.8.2, GroupMetadataManager.java@4.3.1; KIP-229,
KIP-345, KIP-394, KIP-496, KIP-559; all five releases were asked.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer, fits
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Ask, Await
from touchstone.harness.model.steps import a_topic
from touchstone.suites.kit.groups import (
    CLUSTER,
    CODE,
    ID_FIRST,
    JOIN,
    NOBODY,
    OFFSET_CODE,
    OTHERS,
    PREPARING,
    STATE,
    STATIC,
    code,
    commit,
    completing,
    delete,
    delete_offsets,
    describe,
    heartbeat,
    id_of,
    join,
    leave,
    left_code,
    list_groups,
    subscription,
    sync,
    until,
)
from touchstone.suites.kit.in_flight import sent
from touchstone.suites.rebalance.states import PLAN, STATES, State, returned, steps_into

Word = str | Mapping[str, str]


class Asked(NamedTuple):
    """What a request is made of."""

    group: Any
    topic: Any
    state: State
    version: int

    def member(self, wanted: str) -> Any:
        """The member's id; of a group that lost its members the id one had, else a made-up one."""
        if wanted in self.state.members:
            return id_of(wanted)
        return id_of("a") if self.state.name == "empty" else NOBODY


class Request(NamedTuple):
    """A column: the requests (the last is the one that is judged), and a word for each state."""

    name: str
    sentence: str
    api: str
    first: int  # version
    who: str
    asks: Callable[[Asked], list[Ask]]
    words: Mapping[str, Word]
    code: Callable[[int], str] = lambda version: CODE
    needs_topic: bool = False


def _newcomer(s: Asked, **how: Any) -> list[Ask]:
    """A first join; versions that want a member id first get theirs first (KIP-394)."""
    if s.version < ID_FIRST or "instance" in how:
        return [join("n", s.group, version=s.version, name="ask", **how)]
    named = Ref("first", "member_id")
    return [
        join("n", s.group, version=s.version, name="first", **how),
        join("n", s.group, member=named, version=s.version, name="ask", **how),
    ]


def _join(who: str, **how: Any) -> Callable[[Asked], list[Ask]]:
    def asks(s: Asked) -> list[Ask]:
        given = {"member": s.member(who)} | how
        return [join(who, s.group, version=s.version, name="ask", **given)]

    return asks


def _sync(who: str, generation: int = 0, **how: Any) -> Callable[[Asked], list[Ask]]:
    def asks(s: Asked) -> list[Ask]:
        given = {"member": s.member(who)} | how
        plan = PLAN if who == "a" and s.state.members else None
        then = s.state.generation + generation
        return [sync(who, s.group, then, plan, version=s.version, name="ask", **given)]

    return asks


def _beat(generation: int = 0, **how: Any) -> Callable[[Asked], list[Ask]]:
    def asks(s: Asked) -> list[Ask]:
        given = {"member": s.member("b"), "version": s.version, "name": "ask"} | how
        return [heartbeat("b", s.group, s.state.generation + generation, **given)]

    return asks


def _leave(who: str, **how: Any) -> Callable[[Asked], list[Ask]]:
    def asks(s: Asked) -> list[Ask]:
        given = {"member": s.member(who)} | how
        return [leave(who, s.group, version=s.version, name="ask", **given)]

    return asks


def _commit(generation: int | None = 0, **how: Any) -> Callable[[Asked], list[Ask]]:
    def asks(s: Asked) -> list[Ask]:
        own = {"version": s.version, "name": "ask"}
        if generation is None:
            return [commit("b", s.group, s.topic, **own)]
        given = {"member": s.member("b"), **own} | how
        return [commit("b", s.group, s.topic, s.state.generation + generation, **given)]

    return asks


# The clauses of a column, of a cell where rows differ: its state, or for all others "".
EVIDENCE: Mapping[str, tuple[str, ...] | Mapping[str, tuple[str, ...]]] = {
    "join-new": {"unknown": ("GROUP-05",), "empty": ("GROUP-01",), "preparing": ("GROUP-08",),
                 "completing": ("GROUP-09",), "stable": ("GROUP-10",)},
    "join-unnamed": ("GROUP-12",),
    "join-instance": {"unknown": ("GROUP-05", "KIP-345"), "empty": ("GROUP-01", "KIP-345"),
                      "preparing": ("GROUP-08", "KIP-345"), "completing": ("GROUP-09", "KIP-345"),
                      "stable": ("GROUP-10", "KIP-345")},
    "join-kept": {"unknown": ("GROUP-05",), "empty": ("GROUP-07",), "preparing": ("GROUP-08",),
                  "completing": ("GROUP-09",), "stable": ("GROUP-10",)},
    "join-changed": {"preparing": ("GROUP-08",), "completing": ("GROUP-09",),
                     "stable": ("GROUP-10",)},
    "join-leader": {"preparing": ("GROUP-08",), "completing": ("GROUP-09",),
                    "stable": ("GROUP-10",)},
    "join-stranger": {"unknown": ("GROUP-05",), "": ("GROUP-07",)},
    "join-other-type": ("GROUP-06",),
    "join-nothing-in-common": ("GROUP-06",),
    "join-no-protocol": ("GROUP-06",),
    "sync-follower": {"completing": ("GROUP-18",), "": ("GROUP-17",)},
    "sync-leader": {"completing": ("GROUP-18",), "": ("GROUP-17",)},
    "sync-old": ("GROUP-17",),
    "sync-stranger": ("GROUP-17",),
    "sync-other-type": ("KIP-559",),
    "sync-other-protocol": ("KIP-559",),
    "heartbeat": ("GROUP-21",),
    "heartbeat-old": ("GROUP-21",),
    "heartbeat-stranger": ("GROUP-21",),
    "leave-follower": ("GROUP-24",),
    "leave-leader": ("GROUP-24",),
    "leave-stranger": ("GROUP-24",),
    "commit-member": {"unknown": ("OFFS-05",), "empty": ("OFFS-08",), "completing": ("OFFS-07",),
                      "": ("OFFS-11",)},
    "commit-old": {"completing": ("OFFS-07", "OFFS-09"), "": ("OFFS-09",)},
    "commit-stranger": {"completing": ("OFFS-07", "OFFS-12"), "": ("OFFS-08",)},
    "commit-simple": {"unknown": ("OFFS-05",), "empty": ("OFFS-10",),
                      "completing": ("OFFS-07", "OFFS-13"), "": ("OFFS-13",)},
    "delete": ("KIP-229",),
    "delete-offsets": ("KIP-496",),
    "describe": ("GROUP-31",),
    "list": ("GROUP-31",),
}  # fmt: skip

WAITS, THEN = "waits", " > "
ALONE = "NONE > CompletingRebalance"  # who comes to a group without members is all it waits for
COMES = {"unknown": ALONE, "empty": ALONE, "preparing": WAITS,
         "completing": "waits > PreparingRebalance",
         "stable": "waits > PreparingRebalance"}  # fmt: skip
NOT_THERE = {"unknown": "UNKNOWN_MEMBER_ID", "empty": "UNKNOWN_MEMBER_ID"}
ANYBODY = {**NOT_THERE, "preparing": "UNKNOWN_MEMBER_ID", "completing": "UNKNOWN_MEMBER_ID",
           "stable": "UNKNOWN_MEMBER_ID"}  # fmt: skip
OLD = {"preparing": "ILLEGAL_GENERATION", "completing": "ILLEGAL_GENERATION",
       "stable": "ILLEGAL_GENERATION"}  # fmt: skip
MIXED = {"preparing": "INCONSISTENT_GROUP_PROTOCOL", "completing": "INCONSISTENT_GROUP_PROTOCOL",
         "stable": "INCONSISTENT_GROUP_PROTOCOL"}  # fmt: skip
GOES = {"preparing": "NONE", "completing": "NONE > PreparingRebalance",
        "stable": "NONE > PreparingRebalance"}  # fmt: skip
SEEN = dict.fromkeys(STATES, "NONE")
FULL = dict.fromkeys(("preparing", "completing", "stable"), "NON_EMPTY_GROUP")

REQUESTS = (
    Request("join-new", "a first JoinGroup", "JoinGroup", 0, "n", _newcomer, COMES),
    Request(
        "join-unnamed", "a first JoinGroup without a member id (version 4 and later)", "JoinGroup",
        ID_FIRST, "n",
        lambda s: [join("n", s.group, version=s.version, name="ask")],
        {"unknown": "MEMBER_ID_REQUIRED > Empty", **dict.fromkeys(
            ("empty", "preparing", "completing", "stable"), "MEMBER_ID_REQUIRED")},
    ),
    Request(
        "join-instance", "a first JoinGroup with an instance id", "JoinGroup", 5, "n",
        lambda s: _newcomer(s, instance="instance-n"),
        COMES,
    ),
    Request(
        "join-kept", "JoinGroup of the unchanged follower", "JoinGroup", 0, "b",
        _join("b"),
        NOT_THERE | {"preparing": WAITS, "completing": "NONE", "stable": "NONE"},
    ),
    Request(
        "join-changed", "JoinGroup of the follower with other metadata", "JoinGroup", 0, "b",
        _join("b", protocols=OTHERS),
        {"preparing": WAITS, "completing": "waits > PreparingRebalance",
         "stable": "waits > PreparingRebalance"},
    ),
    Request(
        "join-leader", "JoinGroup of the unchanged leader", "JoinGroup", 0, "a",
        _join("a"),
        {"preparing": WAITS, "completing": "NONE", "stable": "waits > PreparingRebalance"},
    ),
    Request(
        "join-stranger", "JoinGroup with an unknown member id", "JoinGroup", 0, "x",
        _join("x", member=NOBODY),
        ANYBODY,
    ),
    Request(
        "join-other-type", "a first JoinGroup of another protocol type", "JoinGroup", 0, "n",
        lambda s: _newcomer(s, kind="connect"),
        MIXED | {"empty": ALONE},
    ),
    Request(
        "join-nothing-in-common", "a first JoinGroup without a common protocol", "JoinGroup",
        0, "n",
        lambda s: _newcomer(s, protocols=(("other", subscription("wanted")),)),
        MIXED,
    ),
    Request(
        "join-no-protocol", "a first JoinGroup without protocols", "JoinGroup", 0, "n",
        lambda s: _newcomer(s, protocols=()),
        MIXED | {"unknown": "INCONSISTENT_GROUP_PROTOCOL > Empty",
                 "empty": "INCONSISTENT_GROUP_PROTOCOL"},
    ),
    Request(
        "sync-follower", "SyncGroup of the follower", "SyncGroup", 0, "b", _sync("b"),
        NOT_THERE | {"preparing": "REBALANCE_IN_PROGRESS", "completing": WAITS, "stable": "NONE"},
    ),
    Request(
        "sync-leader", "SyncGroup of the leader with assignments", "SyncGroup", 0, "a", _sync("a"),
        {"preparing": "REBALANCE_IN_PROGRESS", "completing": "NONE > Stable", "stable": "NONE"},
    ),
    Request(
        "sync-old", "SyncGroup with an older generation", "SyncGroup", 0, "b", _sync("b", -1), OLD
    ),
    Request(
        "sync-stranger", "SyncGroup with an unknown member id", "SyncGroup", 0, "b",
        _sync("b", member=NOBODY), ANYBODY,
    ),
    Request(
        "sync-other-type", "SyncGroup with another protocol type", "SyncGroup", 5, "b",
        _sync("b", kind="connect"), MIXED,
    ),
    Request(
        "sync-other-protocol", "SyncGroup with a protocol that was not chosen", "SyncGroup", 5, "b",
        _sync("b", protocol="other"), MIXED,
    ),
    Request(
        "heartbeat", "Heartbeat of a member", "Heartbeat", 0, "b", _beat(),
        NOT_THERE | {
            "preparing": "REBALANCE_IN_PROGRESS",
            "completing": {"1.0-2.2": "REBALANCE_IN_PROGRESS", "2.8+": "NONE"},
            "stable": "NONE",
        },
    ),
    Request(
        "heartbeat-old", "Heartbeat with an older generation", "Heartbeat", 0, "b", _beat(-1),
        OLD | {"completing": {"1.0-2.2": "REBALANCE_IN_PROGRESS", "2.8+": "ILLEGAL_GENERATION"}},
    ),
    Request(
        "heartbeat-stranger", "Heartbeat with an unknown member id", "Heartbeat", 0, "b",
        _beat(member=NOBODY), ANYBODY,
    ),
    Request(
        "leave-follower", "LeaveGroup of the follower", "LeaveGroup", 0, "b", _leave("b"),
        NOT_THERE | GOES,
    ),
    Request(
        "leave-leader", "LeaveGroup of the leader", "LeaveGroup", 0, "a", _leave("a"), GOES
    ),
    Request(
        "leave-stranger", "LeaveGroup with an unknown member id", "LeaveGroup", 0, "b",
        _leave("b", member=NOBODY), ANYBODY,
    ),
    Request(
        "commit-member", "OffsetCommit of a member", "OffsetCommit", 1, "b", _commit(),
        {"unknown": {"4.0+ v9": "GROUP_ID_NOT_FOUND", "1.0+": "ILLEGAL_GENERATION"},
         "empty": "UNKNOWN_MEMBER_ID", "preparing": "NONE",
         "completing": "REBALANCE_IN_PROGRESS", "stable": "NONE"},
    ),
    Request(
        "commit-old", "OffsetCommit with an older generation", "OffsetCommit", 1, "b", _commit(-1),
        OLD | {"completing": {"1.0-2.2": "REBALANCE_IN_PROGRESS", "2.8+": "ILLEGAL_GENERATION"}},
    ),
    Request(
        "commit-stranger", "OffsetCommit with an unknown member id", "OffsetCommit", 1, "b",
        _commit(member=NOBODY),
        {name: word for name, word in ANYBODY.items() if name not in NOT_THERE}
        | {"completing": {"1.0-2.2": "REBALANCE_IN_PROGRESS", "2.8+": "UNKNOWN_MEMBER_ID"}},
    ),
    Request(
        "commit-simple", "OffsetCommit without a member", "OffsetCommit", 1, "b", _commit(None),
        {"unknown": "NONE > Empty", "empty": "NONE", "preparing": "UNKNOWN_MEMBER_ID",
         "completing": {"1.0-2.2": "REBALANCE_IN_PROGRESS", "2.8+": "UNKNOWN_MEMBER_ID"},
         "stable": "UNKNOWN_MEMBER_ID"},
    ),
    Request(
        "delete", "DeleteGroups", "DeleteGroups", 0, "b",
        lambda s: [delete(s.group, version=s.version, name="ask")],
        FULL | {"unknown": "GROUP_ID_NOT_FOUND", "empty": "NONE > Dead"},
        lambda version: "results[0].error_code",
    ),
    Request(
        "delete-offsets", "OffsetDelete", "OffsetDelete", 0, "b",
        lambda s: [delete_offsets(s.group, s.topic, name="ask")],
        SEEN | {"unknown": "GROUP_ID_NOT_FOUND",
                "empty": {"2.8-3.9": "NONE > Dead", "4.0+": "NONE"}},
        needs_topic=True,
    ),
    Request(
        "describe", "DescribeGroups", "DescribeGroups", 0, "b",
        lambda s: [describe(s.group, version=s.version, name="ask")],
        SEEN | {"unknown": {"4.0+ v6": "GROUP_ID_NOT_FOUND", "1.0+": "NONE"}},
        lambda version: "groups[0].error_code",
    ),
    Request(
        "list", "ListGroups", "ListGroups", 0, "b",
        lambda s: [list_groups(version=s.version, name="ask")],
        SEEN,
    ),
)  # fmt: skip


def read(word: Word, state: State, release: str, version: int) -> tuple[str, str]:
    """The answer and the state afterwards that a cell's word means for a version of a release."""
    if isinstance(word, Mapping):
        word = next(one for where, one in word.items() if _fits(where, release, version))
    told, _, then = word.partition(THEN)
    then = then or state.kafkas
    return told, completing(release) if then == "CompletingRebalance" else then


def _fits(where: str, release: str, version: int) -> bool:
    """Whether "1.0-2.2" or "4.0+ v9" (from version 9 on) is about this one."""
    releases, _, first = where.partition(" v")
    return fits(release, releases) and version >= int(first or 0)


def _waited(request: Request, state: State, group: Any) -> list[Any]:
    """What ends the wait of "ask", and its answer."""
    if request.api == "SyncGroup":
        return [sync("a", group, 2, PLAN, name="a assigns"), Await("ask")]
    others = [one for one in state.members if one != request.who]
    waiting = [Await(f"{one} comes") for one in state.waiting]
    # 2.8 cannot tell a leader that asked in an older version of members with instance ids.
    version = STATIC if request.name == "join-instance" else JOIN
    return [returned(group, *others, version=version), Await("ask"), *waiting]


def _outcome(word: Word) -> str:
    """A cell's word as the end of its sentence."""
    if isinstance(word, Mapping):
        said = {where.replace(" v", " from version "): one for where, one in word.items()}
        return "; ".join(f"{_outcome(one)} ({where})" for where, one in said.items())
    told, _, then = word.partition(THEN)
    said = {"NONE": "succeeds", WAITS: "waits for other members"}.get(told, f"answers {told}")
    return f"{said} and the group becomes {then}" if then else said


def _clauses(request: str, state: str) -> tuple[str, ...]:
    found = EVIDENCE[request]
    return found if isinstance(found, tuple) else found.get(state) or found[""]


def cell(state: State, request: Request) -> Callable[[Any], None]:
    """The claim of one cell."""
    word = request.words[state.name]
    needs_topic = request.needs_topic or request.api == "OffsetCommit"

    def test(case: Any) -> Any:
        group, topic = case.group(), case.topic()
        told, then = read(word, state, case.release, case.version)
        *before, last = request.asks(Asked(group, topic, state, case.version))
        path = {"LeaveGroup": left_code(case.version), "OffsetCommit": OFFSET_CODE}.get(
            request.api, request.code(case.version)
        )
        held = told == WAITS
        if held and then == PREPARING:
            everybody = {*state.members, *state.waiting, request.who}
            seen: Any = until(group, then, "after", len(everybody))
        else:
            seen = describe(group, name="after")
        return case.scenario(
            a_topic(topic) if needs_topic else [],
            steps_into(state.name, group),
            before,
            sent(last) if held else last,
            seen,
            _waited(request, state, group) if held else [],
            expect=all_of(
                answer("ask", path).is_(code("NONE" if held else told)),
                answer("after", STATE).is_(then),
            ),
        )

    test.__doc__ = f"{state.sentence}, {request.sentence} {_outcome(word)}."
    test.__name__ = test.__qualname__ = f"test_{request.name}_{state.name}".replace("-", "_")
    test.__module__ = __name__
    return claim(
        f"rebalance.{request.name}-{state.name}",
        evidence=_clauses(request.name, state.name)
        + ("observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1",),
        api=request.api,
        versions=range_(request.api, request.first),
        config=CLUSTER,
    )(test)


for _request in REQUESTS:
    for _name in _request.words:
        _test = cell(STATES[_name], _request)
        globals()[_test.__name__] = _test
del _test
