"""Members with an instance id: they return without a rebalance and fence who they were (KIP-345).

GROUP-32; KIP-814 for the leader that may skip its assignment.
"""

from __future__ import annotations

from touchstone.reference_impl.group.states import State
from touchstone.reference_impl.tests.group.world import RANGE, ROUND, World
from touchstone.reference_impl.wire.errors import ErrorCode as E


def _stable() -> World:
    world = World(initial_delay_ms=0)
    world.stable(instance="i")
    return world


def test_a_static_member_returns_to_its_generation_and_its_assignment():
    world = _stable()
    answer = world.join(instance="i").answer
    assert (answer["member_id"], answer["generation_id"], answer["leader"]) == ("i-2", 1, "i-1")
    assert world.sync("i-2", 1, instance="i").answer["assignment"] == b"i-1"
    assert world.group.state is State.STABLE


def test_a_returning_leader_may_be_told_to_skip_the_assignment():
    answer = _stable().join(instance="i", may_skip=True).answer
    assert answer["skip_assignment"] and answer["leader"] == answer["member_id"] == "i-2"
    assert [row["member_id"] for row in answer["members"]] == ["i-2"]


def test_the_older_of_two_with_one_instance_id_is_fenced():
    world = _stable()
    world.join(instance="i")
    assert world.heartbeat("i-1", 1, "i") == E.FENCED_INSTANCE_ID
    assert world.sync("i-1", 1, instance="i").answer["error_code"] == E.FENCED_INSTANCE_ID
    assert world.join("i-1", instance="i").answer["error_code"] == E.FENCED_INSTANCE_ID
    assert world.commit("i-1", 1, "i") == E.FENCED_INSTANCE_ID
    assert world.leave("i-1", "i") == E.FENCED_INSTANCE_ID


def test_who_waits_under_the_older_id_is_fenced():
    world = World()
    older = world.join(instance="i")
    world.join(instance="i")
    assert older.answer["error_code"] == E.FENCED_INSTANCE_ID


def test_a_return_that_changes_the_protocol_makes_a_rebalance():
    world = World(initial_delay_ms=0)
    world.stable(instance="i", protocols=(RANGE, ROUND))
    answer = world.join(instance="i", protocols=(ROUND, RANGE)).answer
    assert (answer["generation_id"], answer["protocol_name"]) == (2, "roundrobin")


def test_an_unknown_instance_counts_where_the_release_looks_at_it():
    for knows, code in ((True, E.UNKNOWN_MEMBER_ID), (False, E.NONE)):
        world = World(knows_instances=knows)
        world.stable(1)
        assert world.heartbeat("c-1", 1, "nobody") == code


def test_an_administrator_removes_a_static_member_by_its_instance_id():
    world = _stable()
    assert world.leave("", "i") == E.NONE
    assert world.group.state is State.EMPTY
    assert world.leave("", "i") == E.UNKNOWN_MEMBER_ID
