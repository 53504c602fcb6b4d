"""Members of a streams group join, walk to their tasks and leave.

The numbers are those that 4.3.1 answered to the same heartbeats.
"""

from __future__ import annotations

import pytest

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.group.streams import records
from touchstone.reference_impl.group.streams.group import (
    Endpoint,
    GroupState,
    MemberState,
    StreamsGroup,
)
from touchstone.reference_impl.group.streams.reconciliation import MEMBERS, Report, Step
from touchstone.reference_impl.tests.group.streams.world import (
    World,
    owned,
    reads,
    shown,
    topology,
)
from touchstone.reference_impl.wire.errors import ErrorCode as E

ONE = topology(reads("0", "in"))


def refused(call, *args, **more) -> int:
    with pytest.raises(ApiError) as caught:
        call(*args, **more)
    return caught.value.code


def test_a_first_member_gets_every_task_at_once():
    world = World({"in": 3}, ONE)
    told = world.join("a")
    assert (told.epoch, shown(told), told.statuses) == (2, ({"0": [0, 1, 2]}, {}, {}), ())
    assert world.group.state is GroupState.STABLE
    assert world.kinds() == [
        records.MEMBER, records.TOPOLOGY, records.EPOCH, records.TARGET, records.TARGET_EPOCH,
        records.CURRENT,
    ]  # fmt: skip
    assert shown(world.beat("a", 2)) is None
    assert world.kinds() == []


def test_a_second_member_waits_until_the_first_has_given_up_what_it_is_to_get():
    world = World({"in": 4}, ONE)
    world.join("a")
    assert (world.join("b").epoch, world.group.state) == (3, GroupState.RECONCILING)
    told = world.beat("a", 2)
    assert (told.epoch, shown(told)) == (2, ({"0": [0, 1]}, {}, {}))
    assert world.beat("b", 3).assigned is None, "nobody has given anything up"
    assert world.beat("a", 2, owned=owned(active={"0": [0, 1, 2, 3]})).epoch == 2
    assert world.beat("a", 2, owned=owned(active={"0": [0, 1]})).epoch == 3
    assert shown(world.beat("b", 3)) == ({"0": [2, 3]}, {}, {})
    assert world.group.state is GroupState.STABLE


def test_epochs_fence_all_but_one_that_may_have_missed_its_answer():
    world = World({"in": 2}, ONE)
    world.join("a")
    world.join("b")
    world.beat("a", 2, owned=owned(active={"0": [0]}))
    assert refused(world.beat, "a", 4) == E.FENCED_MEMBER_EPOCH
    assert refused(world.beat, "a", 2) == E.FENCED_MEMBER_EPOCH, "it does not say what it owns"
    assert refused(world.beat, "a", 2, owned=owned(active={"0": [1]})) == E.FENCED_MEMBER_EPOCH
    assert world.beat("a", 2, owned=owned(active={"0": [0]})).epoch == 3
    assert refused(world.beat, "c", 2) == E.UNKNOWN_MEMBER_ID


def test_tasks_that_the_topology_does_not_have_are_refused():
    world = World({"in": 2}, ONE)
    world.join("a")
    assert refused(world.beat, "a", 2, owned=owned(active={"0": [2]})) == E.INVALID_REQUEST
    assert refused(world.beat, "a", 2, owned=owned(standby={"9": [0]})) == E.INVALID_REQUEST
    assert world.group.members["a"].epoch == 2


def test_a_first_assignment_waits_for_more_members():
    world = World({"in": 2}, ONE, initial_delay_ms=3000)
    told = world.join("a")
    assert (told.epoch, [status.code for status in told.statuses]) == (1, [5])
    world.beat("a", 1)
    world.join("b")
    world.wait(2999)
    assert world.group.state is GroupState.ASSIGNING
    world.wait(1)
    told = world.beat("a", 1)
    assert (told.epoch, shown(told)) == (3, ({"0": [0]}, {}, {}))


def test_a_delay_that_ends_before_a_second_heartbeat_assigns_nothing_yet():
    """The first heartbeat's configured topology is lost with the group that was not there yet."""
    world = World({"in": 2}, ONE, initial_delay_ms=3000)
    world.join("a")
    world.wait(3000)
    assert (world.group.state, world.group.assignment_epoch) == (GroupState.ASSIGNING, 1)
    assert shown(world.beat("a", 1)) == ({"0": [0, 1]}, {}, {})


def test_assignments_are_not_made_more_often_than_the_interval_allows():
    world = World({"in": 2}, ONE, assignment_interval_ms=1000)
    world.join("a")
    told = world.join("b")
    assert (told.epoch, [status.code for status in told.statuses]) == (2, [5])
    world.now += 1000
    assert world.beat("b", 2).epoch == 3


def test_sessions_and_rebalances_end():
    world = World({"in": 2}, ONE)
    world.join("a")
    world.join("b")
    world.now += 44_000
    world.beat("a", 2)  # is told to give one task up, and does not within a minute
    world.wait(1000)
    assert list(world.group.members) == ["a"], "b was silent for a session"
    for _ in range(2):
        world.now += 29_500
        world.beat("a", 2, owned=owned(active={"0": [0, 1]}))
    world.wait(1000)
    assert world.group.state is GroupState.EMPTY
    assert world.group.epoch == 5


def test_topology_epochs():
    world = World({"in": 1}, topology(reads("0", "in"), epoch=1))
    world.join("a")
    told = world.join("b", topology=topology(epoch=0))
    assert [(status.code, status.detail) for status in told.statuses] == [
        (0, "The member's topology epoch 0 is behind the group's topology epoch 1.")
    ]
    assert refused(world.join, "c", topology=topology(epoch=1)) == E.INVALID_REQUEST
    assert refused(world.join, "c", topology=topology(epoch=2)) == E.INVALID_REQUEST
    assert sorted(world.group.members) == ["a", "b"]


def test_missing_topics_come_and_the_group_is_ready():
    world = World({}, topology(reads("0", "in", changelogs=("log",))))
    told = world.join("a")
    assert [(s.code, s.detail) for s in told.statuses] == [(1, "Source topics in are missing.")]
    assert (world.group.state, told.epoch) == (GroupState.NOT_READY, 2)
    world.topics(**{"in": 2})
    told = world.beat("a", 2)
    assert [(topic.name, topic.partitions) for topic in told.missing] == [("log", 2)]
    assert [status.code for status in told.statuses] == [3]
    world.topics(log=2)
    assert shown(world.beat("a", 3)) == ({"0": [0, 1]}, {}, {})
    world.topics(**{"in": 3})
    told = world.beat("a", 4)
    assert told.statuses[0].detail == (
        "Existing topic log has different number of partitions: expected 3, found 2"
    )
    assert world.group.state is GroupState.NOT_READY


def test_who_asks_for_a_shutdown_is_told_to_all_until_nobody_is_left():
    world = World({"in": 2}, ONE)
    world.join("a")
    world.join("b")
    told = world.beat("b", 3, shutdown=True)
    assert [status.code for status in told.statuses] == [4]
    assert world.beat("a", 2).statuses[0].detail.startswith("Streams group member b encountered")
    world.beat("a", -1)
    world.beat("b", -1)
    assert world.join("a").statuses == ()


def test_endpoints_are_told_to_who_does_not_know_the_newest():
    world = World({"in": 2}, ONE)
    world.join("a")
    told = world.join("b", endpoint=Endpoint("host", 9))
    assert (told.endpoint_epoch, told.endpoints) == (1, ((("host", 9), (), ()),))
    assert world.beat("b", 3, endpoint_epoch=1).endpoints is None
    world.beat("a", 2, owned=owned(active={"0": [0]}))
    told = world.beat("b", 3, endpoint_epoch=1)
    assert (told.endpoint_epoch, told.endpoints) == (2, ((("host", 9), (("in", (1,)),), ()),))
    missing = World({}, ONE)
    assert refused(missing.join, "a", endpoint=Endpoint("host", 9)) == E.UNKNOWN_SERVER_ERROR


def test_a_group_is_read_from_its_log_as_it_was():
    world = World({"in": 4}, topology(reads("0", "in", changelogs=("log",))), standby_replicas=1)
    world.topics(log=4)
    world.join("a", endpoint=Endpoint("host", 9), tags={"zone": "z"}, rack_id="r")
    world.join("b")
    world.beat("a", 2)
    world.beat("b", -1)
    world.join("b")
    found = world.loaded()
    for name in StreamsGroup.__slots__:
        if name not in ("configured", "seen", "endpoint_epoch", "holders", "journal"):
            assert getattr(found, name) == getattr(world.group, name), name
    assert found.holders.active == world.group.holders.active
    assert found.holders.passive == world.group.holders.passive
    world.beat("a", -1)
    world.beat("b", -1)
    world.group.journal += records.group_tombstones(world.group)
    world.keep()
    assert world.log[-1][1] is None
    assert not records.replay(found, records.EPOCH, {"group_id": "g"}, None)


def test_commits_in_older_epochs_are_of_tasks_that_were_the_members_then():
    world = World({"in": 2}, ONE)
    world.join("a")
    world.join("b")
    world.beat("a", 2, owned=owned(active={"0": [0]}))
    world.beat("b", 3)
    commit, fetch = world.group.check_commit, world.group.check_fetch
    assert commit("a", 3, [("in", 0), ("other", 7)]) == E.NONE
    assert commit("a", 2, [("in", 0)]) == E.NONE
    assert commit("a", 2, [("in", 0), ("in", 1)]) == E.STALE_MEMBER_EPOCH
    assert commit("b", 2, [("in", 1)]) == E.STALE_MEMBER_EPOCH
    assert commit("a", 4, [("in", 0)]) == E.STALE_MEMBER_EPOCH
    assert commit("a", 2, [("other", 0)]) == E.STALE_MEMBER_EPOCH
    assert commit("c", 3, [("in", 0)]) == E.UNKNOWN_MEMBER_ID
    assert commit("", -1, [("in", 0)]) == E.UNKNOWN_MEMBER_ID
    assert [fetch("a", 3), fetch("a", 2), fetch(None, -1), fetch("c", 1)] == [
        E.NONE, E.STALE_MEMBER_EPOCH, E.NONE, E.UNKNOWN_MEMBER_ID,
    ]  # fmt: skip
    world.beat("a", -1)
    world.beat("b", -1)
    assert commit("", -1, [("in", 0)]) == E.NONE


@pytest.mark.parametrize("state", MemberState)
def test_every_report_has_a_step_in_every_state(state):
    steps = {report: MEMBERS[state, report] for report in Report if _can_be(state, report)}
    assert Step.IMPOSSIBLE not in steps.values()


def _can_be(state, report) -> bool:
    return report is not Report.HOLDS or state is MemberState.UNREVOKED
