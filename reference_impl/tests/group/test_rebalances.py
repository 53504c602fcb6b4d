"""Joins, syncs, heartbeats, departures and silence, at made-up instants (GROUP-05 to GROUP-24)."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.group.states import State
from touchstone.reference_impl.tests.group.world import RANGE, ROUND, World
from touchstone.reference_impl.wire.errors import ErrorCode as E


def test_a_new_group_waits_for_others_and_longer_while_they_come():
    world = World()
    first = world.join()
    world.advance(2_999)
    assert first.answer is None
    second = world.join()
    world.advance(1)
    assert first.answer is None
    world.advance(3_000)
    assert first.answer["generation_id"] == second.answer["generation_id"] == 1
    assert [row["member_id"] for row in first.answer["members"]] == ["c-1", "c-2"]
    assert (second.answer["leader"], second.answer["members"]) == ("c-1", [])
    assert world.group.state is State.COMPLETING


def test_the_first_phase_never_exceeds_the_rebalance_timeout():
    world = World()
    first = world.join(rebalance_timeout_ms=7_000)
    for _ in range(3):
        world.advance(2_000)
        world.join(rebalance_timeout_ms=7_000)
    assert first.answer is None
    world.advance(1_000)
    assert first.answer["generation_id"] == 1


def test_assignments_go_to_all_who_wait_and_nothing_to_those_left_out():
    world = World(initial_delay_ms=0)
    leader = world.join()
    world.advance(0)
    world.sync("c-1", 1, assignments={"c-1": b"all"})
    follower = world.join()
    assert world.heartbeat("c-1", 1) == E.REBALANCE_IN_PROGRESS
    assert world.sync("c-1", 1).answer["error_code"] == E.REBALANCE_IN_PROGRESS
    world.join("c-1")
    assert leader.answer["generation_id"] == 1 and follower.answer["generation_id"] == 2
    waits = world.sync("c-2", 2)
    assert waits.answer is None
    world.sync("c-1", 2, assignments={"c-1": b"half", "ghost": b"x"})
    assert waits.answer["assignment"] == b"" and world.group.state is State.STABLE
    assert world.heartbeat("c-2", 2) == E.NONE


def test_a_rebalance_interrupts_waiting_syncs():
    world = World()
    world.stable(2)
    world.join("c-1")
    world.join("c-2")
    waits = world.sync("c-2", 2)
    world.join("c-1", protocols=(RANGE, ROUND))
    assert waits.answer["error_code"] == E.REBALANCE_IN_PROGRESS
    assert world.group.state is State.PREPARING


def test_who_does_not_rejoin_in_time_is_out():
    world = World()
    world.stable(2)
    rejoined = world.join("c-1")
    world.heartbeat("c-2", 1)
    for _ in range(8):
        world.advance(8_000)
        world.heartbeat("c-2", 1)
    assert rejoined.answer["generation_id"] == 2
    assert [row["member_id"] for row in rejoined.answer["members"]] == ["c-1"]
    assert world.heartbeat("c-2", 2) == E.UNKNOWN_MEMBER_ID


def test_silence_ends_a_session_and_a_heartbeat_prolongs_it():
    world = World()
    world.stable(1)
    world.advance(9_999)
    assert world.heartbeat("c-1", 1) == E.NONE
    world.advance(9_999)
    assert world.group.members
    world.advance(1)
    assert world.group.state is State.EMPTY and world.group.generation == 2
    assert world.heartbeat("c-1", 1) == E.UNKNOWN_MEMBER_ID


def test_who_waits_for_a_join_is_not_silent():
    world = World(new_members_lapse=False)
    world.stable(2)
    waiting = world.join("c-1")
    for _ in range(5):
        world.advance(9_000)
        assert world.heartbeat("c-2", 1) == E.REBALANCE_IN_PROGRESS
    assert waiting.answer is None and "c-1" in world.group.members


def test_a_leader_that_leaves_is_followed_by_another():
    world = World()
    world.stable(2)
    assert world.leave("c-1") == E.NONE
    answer = world.join("c-2").answer
    assert (answer["leader"], answer["generation_id"]) == ("c-2", 2)
    assert world.leave("c-1") == E.UNKNOWN_MEMBER_ID


def test_an_unchanged_follower_gets_the_current_generation_and_a_leader_a_new_one():
    world = World()
    world.stable(2)
    assert world.join("c-2").answer["generation_id"] == 1
    assert world.group.state is State.STABLE
    assert world.join("c-1").answer is None


def test_the_protocol_that_all_support_and_most_prefer_wins():
    world = World()
    first = world.join(protocols=(RANGE, ROUND))
    for _ in range(2):
        world.join(protocols=(("sticky", b""), ROUND, RANGE))
    world.wait_for([first])
    assert first.answer["protocol_name"] == "roundrobin"
    refused = world.join(protocols=(("sticky", b""),))
    assert refused.answer["error_code"] == E.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ({"session_timeout_ms": 5_999}, E.INVALID_SESSION_TIMEOUT),
        ({"session_timeout_ms": 1_800_001}, E.INVALID_SESSION_TIMEOUT),
        ({"member": "who"}, E.UNKNOWN_MEMBER_ID),
        ({"protocol_type": ""}, E.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocols": ()}, E.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_refused_joins(how, code):
    assert World().join(**how).answer["error_code"] == code


def test_a_first_join_is_given_an_id_that_lapses():
    world = World()
    answer = world.join(needs_id=True).answer
    assert (answer["error_code"], answer["member_id"]) == (E.MEMBER_ID_REQUIRED, "c-1")
    world.advance(10_000)
    assert world.join("c-1", needs_id=True).answer["error_code"] == E.UNKNOWN_MEMBER_ID
    second = world.join(needs_id=True).answer["member_id"]
    ticket = world.join(second, needs_id=True)
    world.advance(3_000)
    assert ticket.answer["error_code"] == E.NONE


@pytest.mark.parametrize("protocols", [(RANGE,), (ROUND,)])
def test_who_was_given_an_id_joins_after_the_last_member_has_left(protocols):
    world = World()
    first, last = world.stable(2)
    assert world.leave(first) == E.NONE  # the group waits for the other one from now on
    given = world.join(needs_id=True).answer["member_id"]
    assert world.leave(last) == E.NONE
    assert world.group.state is State.PREPARING  # and for the one who was given an id
    ticket = world.join(given, needs_id=True, protocols=protocols)
    world.wait_for([ticket])
    assert ticket.answer["error_code"] == E.NONE
    assert ticket.answer["leader"] == given


def test_a_full_group_takes_nobody():
    world = World(max_size=1)
    world.stable(1)
    assert world.join().answer["error_code"] == E.GROUP_MAX_SIZE_REACHED
    assert world.heartbeat("c-1", 1) == E.NONE


def test_who_never_syncs_is_out_after_the_rebalance_timeout():
    world = World(initial_delay_ms=0)
    world.join(session_timeout_ms=300_000)
    world.advance(59_999)
    assert world.group.state is State.COMPLETING
    world.advance(1)
    assert world.group.state is State.EMPTY


@pytest.mark.parametrize(("early", "code"), [(True, E.REBALANCE_IN_PROGRESS), (False, E.NONE)])
def test_a_heartbeat_while_assignments_are_awaited(early, code):
    world = World(early=early, initial_delay_ms=0)
    world.join()
    world.advance(0)
    assert world.heartbeat("c-1", 1) == code
    assert world.heartbeat("c-1", 9) == (code if early else E.ILLEGAL_GENERATION)


@pytest.mark.parametrize(
    ("early", "code"), [(True, E.REBALANCE_IN_PROGRESS), (False, E.UNKNOWN_MEMBER_ID)]
)
def test_a_stranger_commits_while_assignments_are_awaited(early, code):
    world = World(early=early, initial_delay_ms=0)
    world.join()
    world.advance(0)
    assert world.commit("stranger", 1) == code
    assert world.commit("c-1", 1) == E.REBALANCE_IN_PROGRESS


def test_who_may_commit_into_a_stable_group():
    world = World()
    world.stable(1)
    assert world.commit("c-1", 1) == E.NONE
    assert world.commit("c-1", 2) == E.ILLEGAL_GENERATION
    assert world.commit("stranger", 1) == E.UNKNOWN_MEMBER_ID
    assert world.commit() == E.UNKNOWN_MEMBER_ID


def test_a_commit_keeps_the_session_alive():
    world = World()
    world.stable(1)
    world.advance(9_000)
    world.commit("c-1", 1)
    world.advance(9_000)
    assert world.group.state is State.STABLE


def test_sessions_and_the_join_may_end_at_one_instant():
    world = World()
    world.stable(3, rebalance_timeout_ms=10_000)
    for silent in ("c-2", "c-3"):
        world.heartbeat(silent, 1)
    waiting = world.join("c-1", rebalance_timeout_ms=10_000)
    world.advance(10_000)
    assert waiting.answer["error_code"] == E.NONE
    assert set(world.group.members) == {"c-1"}
