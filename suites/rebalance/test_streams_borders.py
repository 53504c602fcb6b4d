"""Streams groups: several members at once, where one alone would not show who is meant.

Sources: KIP-1071; GroupMetadataManager.streamsGroupHeartbeat@4.3.1; observed there.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer
from touchstone.suites.kit.streams_groups import (
    DETAIL,
    EPOCH,
    GIVEN,
    GROUP_EPOCH,
    HEARTBEATS,
    LEAVE,
    MEMBERS,
    SHUTDOWN,
    STATE,
    STATUS,
    STATUSES,
    beat,
    configure,
    describe,
    join,
    owning,
    reading,
    started,
    until,
)
from touchstone.suites.rebalance.test_streams_groups import two_members

ASKS = {"shutdown_application": True}


@claim("rebalance.streams-shutdowns-name-who-asked-first", **HEARTBEATS)
def test_streams_shutdowns_name_who_asked_first(case):
    """When two members ask for a shutdown, the status SHUTDOWN_APPLICATION names the first of them
    to every member; it stays after that one has left."""
    group, _, steps = two_members(case)
    first = "Streams group member m2 encountered a fatal error.*"
    return case.scenario(
        *steps,
        beat(group, "m2", 3, name="asks", **ASKS),
        beat(group, "m1", 2, name="asks too", version=case.version, **ASKS),
        beat(group, "m2", LEAVE, name="m2 leaves"),
        beat(group, "m1", 2, name="stays", version=case.version, **owning({"0": [0, 1, 2, 3]})),
        expect=all_of(
            answer("asks too", STATUS).is_(SHUTDOWN),
            answer("asks too", DETAIL).matches(first),
            answer("stays", STATUS).is_(SHUTDOWN),
            answer("stays", DETAIL).matches(first),
        ),
    )


@claim("rebalance.who-leaves-a-streams-group-may-ask-for-a-shutdown", **HEARTBEATS)
def test_who_leaves_a_streams_group_may_ask_for_a_shutdown(case):
    """A heartbeat of epoch -1 with shutdown_application has the other members told
    SHUTDOWN_APPLICATION.
    """
    group, _, steps = two_members(case)
    return case.scenario(
        *steps,
        beat(group, "m2", LEAVE, name="leaves", version=case.version, **ASKS),
        beat(group, "m1", 2, name="hears", version=case.version, **owning({"0": [0, 1, 2, 3]})),
        expect=all_of(answer("leaves", EPOCH).is_(-1), answer("hears", STATUS).is_(SHUTDOWN)),
    )


@claim("rebalance.a-streams-member-that-leaves-leaves-its-tasks", **HEARTBEATS)
def test_a_streams_member_that_leaves_leaves_its_tasks(case):
    """When one of two streams members leaves, the group epoch rises by one and the other gets all
    tasks with its next heartbeat."""
    group, topic = case.group(), case.topic()
    told = reading(topic)
    return case.scenario(
        *started(group, topic),
        join(group, "m1", told, name="m1 joins"),
        join(group, "m2", told, name="m2 joins"),
        beat(group, "m1", 2, name="is told"),
        beat(group, "m1", 2, name="gives up", **owning({"0": [0, 1]})),
        beat(group, "m2", 3, name="gets", version=case.version),
        beat(group, "m1", LEAVE, name="m1 leaves", version=case.version),
        describe(group, name="between"),
        beat(group, "m2", 3, name="gets more", version=case.version, **owning({"0": [2, 3]})),
        describe(group, name="then"),
        expect=all_of(
            answer("gets", GIVEN).is_([2, 3]),
            answer("between", GROUP_EPOCH).is_(4),
            answer("between", MEMBERS).has_length(1),
            answer("gets more", EPOCH).is_(4),
            answer("gets more", GIVEN).is_([0, 1, 2, 3]),
            answer("then", STATE).is_("Stable"),
        ),
    )


@claim("rebalance.streams-heartbeats-lengthen-the-session", **HEARTBEATS)
def test_streams_heartbeats_lengthen_the_session(case):
    """A member whose heartbeats go on longer than streams.session.timeout.ms stays: another that
    joined later and falls silent is removed before it."""
    group, topic = case.group(), case.topic()
    told = reading(topic)
    settings = {"streams.session.timeout.ms": "1500", "streams.heartbeat.interval.ms": "100"}
    turns = []
    for turn in (1, 2, 3):
        other = case.group(f"other{turn}")
        turns += [
            configure(other, settings | {"streams.session.timeout.ms": "600"}, f"brief {turn}"),
            join(other, "clock", told, name=f"clock {turn}"),
            until(other, "Empty", f"tick {turn}", members=0),
            beat(group, "m1", 2, name=f"beat {turn}", version=case.version),
        ]
    return case.scenario(
        configure(group, settings, "configured"),
        started(group, topic),
        join(group, "m1", told, name="joins", version=case.version),
        *turns,
        describe(group, name="then"),
        expect=all_of(
            answer("beat 3", EPOCH).is_(2),
            answer("beat 3", STATUSES).has_length(0),
            answer("then", f"{MEMBERS}[*].member_id").is_(["m1"]),
        ),
    )
