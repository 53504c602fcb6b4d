"""Members with an instance id: they return without a rebalance and fence who they were (KIP-345).

GROUP-32; KIP-814 for the leader that may skip its assignment.
"""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.control.internal_topics import OFFSETS
from touchstone.reference_impl.group.states import State
from touchstone.reference_impl.tests.group.town import GROUP, WANTS, Town
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


class Log:
    """A group's log that takes what it is given when a test says so."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.kept: list[tuple[dict[str, bytes], list[str | None]]] = []
        self.waiting: list = []
        world.coordinator._keep = self._keep

    def _keep(self, group, assignments, now, then) -> None:
        self.kept.append((assignments, list(group.instances.values())))
        self.waiting.append(then)

    def end(self, code: int = E.NONE) -> None:
        self.waiting.pop(0)(code, self.world.now)


def test_a_returning_member_is_answered_once_its_new_id_is_kept():
    world = _stable()
    log = Log(world)
    ticket = world.join(instance="i")
    assert ticket.answer is None
    assert log.kept == [({"i-2": b"i-1"}, ["i-2"])]
    log.end()
    assert (ticket.answer["error_code"], ticket.answer["member_id"]) == (E.NONE, "i-2")


@pytest.mark.parametrize("reverts", [True, False])
def test_a_member_whose_new_id_is_not_kept_is_who_it_was(reverts):
    world = World(initial_delay_ms=0, reverts_protocols=reverts)
    world.stable(instance="i", protocols=(RANGE, ROUND))
    log = Log(world)
    asked = {"protocols": (RANGE,), "session_timeout_ms": 20_000, "rebalance_timeout_ms": 90_000}
    ticket = world.join(instance="i", **asked)
    log.end(E.COORDINATOR_NOT_AVAILABLE)
    answer = ticket.answer
    assert (answer["error_code"], answer["member_id"]) == (E.COORDINATOR_NOT_AVAILABLE, "")
    assert (answer["generation_id"], answer["leader"]) == (1, "i-1")
    assert world.heartbeat("i-2", 1, "i") == E.FENCED_INSTANCE_ID
    assert world.heartbeat("i-1", 1, "i") == E.NONE
    (member,) = world.group.members.values()
    assert (member.session_timeout_ms, member.rebalance_timeout_ms) == (10_000, 60_000)
    assert member.names() == (["range", "roundrobin"] if reverts else ["range"])


def test_a_member_that_is_replaced_again_before_it_is_kept_is_fenced():
    world = _stable()
    log = Log(world)
    first, second = world.join(instance="i"), world.join(instance="i")
    assert first.answer["error_code"] == E.FENCED_INSTANCE_ID
    log.end()
    assert second.answer is None
    log.end()
    assert second.answer["member_id"] == "i-3"


def test_a_member_that_waits_for_the_log_has_joined_a_rebalance_that_begins():
    world = _stable()
    log = Log(world)
    returning = world.join(instance="i")
    other = world.join()
    assert returning.answer["generation_id"] == other.answer["generation_id"] == 2
    log.end(E.COORDINATOR_NOT_AVAILABLE)
    assert world.group.instances == {"i": "i-2"}


@pytest.mark.parametrize("release", ["2.8", "3.9", "4.3"])
def test_the_next_coordinator_knows_who_replaced_whom(release):
    town = Town(release)
    body = {
        "group_id": GROUP, "session_timeout_ms": 200_000, "rebalance_timeout_ms": 200_000,
        "protocol_type": "consumer", "protocols": [{"name": "range", "metadata": WANTS}],
        "group_instance_id": "i", "member_id": "",
    }  # fmt: skip
    town.member = _member(town.say(0, "JoinGroup", 5, body))
    old = dict(town.member)
    town.sync()
    new = _member(town.say(0, "JoinGroup", 5, body, 100))
    assert new["generation_id"] == old["generation_id"] and new["member_id"] != old["member_id"]
    town.elect(1, (0, 1, 2), OFFSETS)
    town.run(100)
    codes = []
    for member in (old, new):
        beat = {"group_id": GROUP, "group_instance_id": "i", **member}
        codes.append(town.say(1, "Heartbeat", 3, beat)["error_code"])
    assert codes == [E.FENCED_INSTANCE_ID, E.NONE]


def _member(answer):
    return {name: answer[name] for name in ("member_id", "generation_id")}
