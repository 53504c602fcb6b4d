"""Timeouts of classic groups: sessions that expire, members that do not rejoin, and signs of life.

A case waits until a member is gone and never measures time; the state that the group would have
reached otherwise, after a short session, shows that a member is not gone.

Sources: GROUP-13, 21 to 23; KIP-62; DelayedSync@2.8.2; all five releases were asked.
"""

from touchstone.harness.model.claim import claim, every, only
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Await
from touchstone.harness.model.steps import a_topic
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.groups import (
    CLUSTER,
    CODE,
    EMPTY,
    MEMBERS,
    PREPARING,
    STABLE,
    STATE,
    again,
    comes,
    commit,
    completing,
    coordinated,
    describe,
    heartbeat,
    id_of,
    leave,
    sync,
    two,
    until,
)
from touchstone.suites.kit.in_flight import sent
from touchstone.suites.rebalance.states import PLAN, steps_into

SHORT_MS = 1500  # over soon, and not before two members have met on a busy machine


def _settled(group, session_ms):
    """Members a and b with assignments; b has a session of its own."""
    return [
        coordinated(group),
        *two(group, b={"session_ms": session_ms}),
    ]


@claim(
    "rebalance.silent-members-are-removed",
    evidence=("GROUP-22",),
    api="Heartbeat",
    versions=every("Heartbeat"),
    config=CLUSTER,
)
def test_silent_members_are_removed(case):
    """A member that is silent for its session timeout leaves the group: it gets UNKNOWN_MEMBER_ID,
    the others REBALANCE_IN_PROGRESS.
    """
    group = case.group()
    return case.scenario(
        _settled(group, SHORT_MS),
        until(group, PREPARING, "without b", 1),
        heartbeat("a", group, 2, version=case.version, name="ask"),
        heartbeat("b", group, 2, version=case.version, name="late"),
        again("a", group, "alone"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.REBALANCE_IN_PROGRESS),
            answer("late", CODE).is_(ErrorCode.UNKNOWN_MEMBER_ID),
            answer("alone", "generation_id").is_(3),
        ),
    )


@claim(
    "rebalance.silent-members-of-stable-groups-are-removed",
    evidence=("GROUP-22",),
    api="SyncGroup",
    versions=every("SyncGroup"),
    config=CLUSTER,
)
def test_silent_members_of_stable_groups_are_removed(case):
    """A member of a stable group that is silent for its session timeout leaves the group."""
    group = case.group()
    return case.scenario(
        _settled(group, SHORT_MS),
        sent(sync("b", group, 2, name="b synced")),
        sync("a", group, 2, PLAN, version=case.version, name="ask"),
        Await("b synced"),
        until(group, PREPARING, "without b", 1),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            answer("without b", f"{MEMBERS}[*].member_id").is_([id_of("a")]),
        ),
    )


@claim(
    "rebalance.the-last-member-may-be-silent",
    evidence=("GROUP-22", "GROUP-13"),
    api="JoinGroup",
    versions=only("JoinGroup", 2),
    config=CLUSTER,
)
def test_the_last_member_may_be_silent(case):
    """When its only member is silent for its session timeout, the group becomes Empty in a new
    generation.
    """
    group = case.group()
    return case.scenario(
        coordinated(group),
        comes("a", group, session_ms=SHORT_MS),
        sync("a", group, 1, name="synced"),
        until(group, EMPTY, "after"),
        comes("n", group),
        expect=all_of(answer("after", STATE).is_(EMPTY), answer("n comes", "generation_id").is_(3)),
    )


@claim(
    "rebalance.who-waits-for-a-join-is-not-silent",
    evidence=("GROUP-22",),
    api="JoinGroup",
    versions=every("JoinGroup"),
    config=CLUSTER,
)
def test_who_waits_for_a_join_is_not_silent(case):
    """A session does not expire while its member's JoinGroup waits."""
    group = case.group()
    return case.scenario(
        steps_into("stable", group),
        sent(again("a", group, "ask", version=case.version, session_ms=SHORT_MS)),
        until(group, PREPARING, "a waits"),
        sent(comes("c", group, session_ms=SHORT_MS)),
        until(group, PREPARING, "c waits", 3),
        again("b", group),
        describe(group, name="after"),
        Await("ask"),
        Await("c comes"),
        expect=all_of(
            answer("ask", "members").has_length(3),
            answer("after", STATE).is_(completing(case.release)),
        ),
    )


@claim(
    "rebalance.who-does-not-come-back-is-removed",
    evidence=("GROUP-13",),
    api="JoinGroup",
    versions=every("JoinGroup"),
    config=CLUSTER,
)
def test_who_does_not_come_back_is_removed(case):
    """Members that do not rejoin within the longest rebalance timeout are not in the next
    generation (for JoinGroup version 0 the session timeout counts).
    """
    group = case.group()
    short = {"rebalance_ms": SHORT_MS}
    asked = {"version": case.version, **short}
    if case.version == 0:
        asked["session_ms"] = SHORT_MS
    return case.scenario(
        coordinated(group),
        two(group, short, short),
        again("a", group, "ask", **asked, protocols=(("range", b"\0\0\0\0\0\0\xff\xff\xff\xff"),)),
        expect=all_of(
            answer("ask", "generation_id").is_(3),
            answer("ask", "members").has_length(1),
        ),
    )


@claim(
    "rebalance.nobody-comes-back",
    evidence=("GROUP-13", "GROUP-01"),
    api="LeaveGroup",
    versions=every("LeaveGroup"),
    config=CLUSTER,
)
def test_nobody_comes_back(case):
    """When no member rejoins within the rebalance timeout, the group becomes Empty in a new
    generation.
    """
    group = case.group()
    short = {"rebalance_ms": SHORT_MS}
    return case.scenario(
        coordinated(group),
        two(group, short, short),
        leave("a", group, name="ask", version=case.version),
        until(group, EMPTY, "after"),
        comes("n", group),
        expect=all_of(answer("after", STATE).is_(EMPTY), answer("n comes", "generation_id").is_(4)),
    )


@claim(
    "rebalance.who-does-not-sync-is-removed",
    evidence=("observed on 2.8.2, 3.9.2 and 4.3.1",),
    api="SyncGroup",
    versions=every("SyncGroup"),
    releases="2.8+",
    config=CLUSTER,
)
def test_who_does_not_sync_is_removed(case):
    """From 2.8 on a member that does not send SyncGroup within the rebalance timeout leaves the
    group.
    """
    group = case.group()
    short = {"rebalance_ms": SHORT_MS}
    return case.scenario(
        coordinated(group),
        two(group, short, short),
        sync("a", group, 2, PLAN, version=case.version, name="ask"),
        until(group, PREPARING, "after", 1),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            answer("after", f"{MEMBERS}[*].member_id").is_([id_of("a")]),
        ),
    )


SESSION_MS, PAUSE_MS, LATER_MS = 3000, 1000, 3500


def sign_of_life(by, group, topic, name):
    return {
        "heartbeat": lambda: heartbeat("b", group, 2, name=name),
        "commit": lambda: commit("b", group, topic, 2, member=id_of("b"), name=name),
        "sync": lambda: sync("b", group, 2, name=name),
        "join": lambda: again("b", group, name, session_ms=SESSION_MS),
    }[by]()


def stable(group):
    """a leads; the session of b, who has its part, begins now."""
    return [
        _settled(group, SESSION_MS),
        sent(sync("b", group, 2, name="b synced")),
        sync("a", group, 2, PLAN, name="a synced"),
        Await("b synced"),
    ]


def paused(case, number):
    """A third of a session: until the only member of another group is over."""
    other = case.group(f"other{number}")
    return [
        comes(f"p{number}", other, session_ms=PAUSE_MS),
        until(other, EMPTY, f"paused {number}"),
    ]


@claim(
    "rebalance.whoever-asks-is-alive",
    evidence=("GROUP-21", "GROUP-23"),
    config=CLUSTER,
    by=("heartbeat", "commit"),
)
def test_whoever_asks_is_alive(case):
    """Heartbeat and OffsetCommit restart a member's session timeout."""
    group, topic = case.group(), case.topic()
    return case.scenario(
        a_topic(topic),
        stable(group),
        [[*paused(case, n), sign_of_life(case.by, group, topic, f"sign {n}")] for n in range(4)],
        describe(group, name="after"),
        expect=answer("after", STATE).is_(STABLE),
    )


@claim(
    "rebalance.whoever-syncs-is-alive",
    evidence=("GROUP-23", "observed on 1.0.2, 2.2.1, 2.8.2 and 3.9.2"),
    releases="1.0-3.9",
    config=CLUSTER,
)
def test_whoever_syncs_is_alive(case):
    """Until 3.9 a repeated SyncGroup restarts a member's session timeout."""
    group, topic = case.group(), case.topic()
    return case.scenario(
        stable(group),
        [[*paused(case, n), sign_of_life("sync", group, topic, f"sign {n}")] for n in range(4)],
        describe(group, name="after"),
        expect=answer("after", STATE).is_(STABLE),
    )


def _is_no_sign(case, by):
    """b's session is over before one that is longer than it and shorter than both together."""
    group, clock = case.group(), case.group("clock")
    return case.scenario(
        stable(group),
        comes("c", clock, session_ms=LATER_MS),
        paused(case, 0),
        sign_of_life(by, group, case.topic(), "sign"),
        until(clock, EMPTY, "later"),
        describe(group, name="after"),
        expect=all_of(
            answer("sign", CODE).is_(ErrorCode.NONE),
            answer("after", STATE).is_(PREPARING),
        ),
    )


@claim(
    "rebalance.joining-again-is-no-sign-of-life",
    evidence=("GROUP-22", "observed on 1.0.2, 2.8.2 and 4.3.1"),
    config=CLUSTER,
)
def test_joining_again_is_no_sign_of_life(case):
    """A follower's JoinGroup that answers the current generation does not restart its session
    timeout.
    """
    return _is_no_sign(case, "join")


@claim(
    "rebalance.syncing-again-is-no-sign-of-life",
    evidence=("GROUP-22", "observed on 4.3.1"),
    releases="4.3",
    config=CLUSTER,
)
def test_syncing_again_is_no_sign_of_life(case):
    """In 4.3 a repeated SyncGroup does not restart a member's session timeout."""
    return _is_no_sign(case, "sync")
