"""What groups keep in `__consumer_offsets`, who finds it there, and what must be kept first.

GROUP-18, GROUP-30, OFFS-17, OFFS-25; the versions of values were read from the topics of the five
releases.
"""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.control.internal_topics import OFFSETS
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.tests.group.town import GROUP, WANTS, Town
from touchstone.reference_impl.tests.replication.wires import LAG, WAITING
from touchstone.reference_impl.wire.errors import ErrorCode as E

VERSIONS = {"1.0": (1, 1), "2.2": (3, 2), "2.8": (3, 3), "3.9": (3, 3), "4.3": (4, 3)}


@pytest.mark.parametrize("release", VERSIONS)
def test_values_have_the_versions_of_their_release(release):
    town = Town(release)
    assert town.commit(5) == E.NONE
    assert town.join() == E.NONE
    assert town.sync() == (E.NONE, b"t-0")
    offset, group = VERSIONS[release]
    assert town.kept() == [(1, offset), (2, group)]
    assert town.kept(1) == town.kept(2) == town.kept()


@pytest.mark.parametrize("release", VERSIONS)
def test_another_coordinator_finds_offsets_and_members(release):
    town = Town(release)
    town.join()
    town.sync()
    town.commit(5)  # refused: the group has members
    town.elect(1, (0, 1, 2), OFFSETS)
    assert town.committed(0) is E.NOT_COORDINATOR
    group = town.described(1)
    assert group["group_state"] == "Stable" and group["protocol_data"] == "range"
    (member,) = group["members"]
    assert member["member_id"] == town.member["member_id"]
    assert (member["member_metadata"], member["member_assignment"]) == (WANTS, b"t-0")
    body = {"group_id": GROUP, **town.member}
    assert town.say(1, "Heartbeat", 0, body)["error_code"] == E.NONE


def test_later_commits_win_and_deleted_groups_stay_deleted():
    town = Town()
    town.commit(5)
    town.commit(9)
    town.elect(1, (0, 1, 2), OFFSETS)
    assert town.committed(1) == 9
    assert (
        town.say(1, "DeleteGroups", 0, {"groups_names": [GROUP]})["results"][0]["error_code"]
        == E.NONE
    )
    assert town.kept()[-2:] == [(1, None), (2, None)]
    town.elect(2, (0, 1, 2), OFFSETS)
    assert town.committed(2) == -1


def test_a_commit_is_not_answered_nor_fetched_before_it_is_replicated():
    town = Town()
    town.commit(5)
    town.cut.add(2)
    assert town.commit(9) is WAITING
    assert town.brokers[0].room(Groups).coordinator.groups[GROUP].offsets["t", 0].offset == 5
    town.run(4 * LAG)  # the follower leaves the in-sync set
    assert town.committed() == 9


def test_assignments_wait_until_they_are_kept():
    town = Town()
    town.join()
    town.cut.add(2)
    assert town.sync() is WAITING
    assert town.described(0)["group_state"] == "CompletingRebalance"
    assert town.described(0)["group_state"] == "Stable"  # the follower has left by now


def test_what_cannot_be_kept_is_refused_and_begins_a_rebalance():
    town = Town()
    town.join()
    town.cluster.configure(OFFSETS, {"min.insync.replicas": "3"})
    town.cut.update((1, 2))
    code, assignment = town.sync(ms=4 * LAG)
    assert (code, assignment) == (E.REBALANCE_IN_PROGRESS, b"")
    assert town.described(0)["group_state"] == "PreparingRebalance"


def test_who_waits_at_a_former_coordinator_is_told():
    town = Town()
    body = {
        "group_id": GROUP,
        "session_timeout_ms": 200_000,
        "rebalance_timeout_ms": 200_000,
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": b""}],
    }
    town.join()
    town.sync()
    waiting = town.send(0, "JoinGroup", 2, body)  # the first member has to join again
    town.run(10)
    assert town.answer(waiting, "JoinGroup", 2) is WAITING
    town.elect(1, (0, 1, 2), OFFSETS)
    assert town.answer(waiting, "JoinGroup", 2)["error_code"] == E.NOT_COORDINATOR
