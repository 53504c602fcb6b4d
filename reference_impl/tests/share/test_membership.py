"""Share groups as values: epochs, who reads what, who is refused; and their records.

The numbers are those that 4.3.1 answered to the same heartbeats.
"""

from __future__ import annotations

import pytest

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.group.consumer_group import Topic
from touchstone.reference_impl.share import group_records
from touchstone.reference_impl.share.assignor import simple
from touchstone.reference_impl.share.group import ShareGroup
from touchstone.reference_impl.share.membership import Beat, Membership, Settings, check
from touchstone.reference_impl.wire.errors import ErrorCode as E

A, B = b"a" * 16, b"b" * 16


class World:
    """One group whose share partitions are initialised as soon as somebody wants them."""

    def __init__(self, **settings: int) -> None:
        self.topics = {"a": Topic(A, 2, 5), "b": Topic(B, 1, 6)}
        rules = {"session_ms": 45_000, "assignment_interval_ms": 0, "max_size": 3, "retry_ms": 30}
        self.settings = Settings(**(rules | settings))
        self.membership = Membership(lambda: self.topics, lambda _: self.settings)
        self.group = ShareGroup("g")
        self.kept: dict[str, ShareGroup] = {}
        self.now = 0

    def beat(self, member: str, epoch: int, *names: str, starts: bool = True):
        before = group_records.stand(self.kept.get("g"))
        beat = Beat(
            group_id="g", member_id=member, epoch=epoch, names=frozenset(names) if names else None
        )
        told = self.membership.beat(self.group, beat, self.now)
        if told.initialise and starts:
            done = {topic: row.partitions for topic, row in told.initialise.items()}
            self.membership.initialised(self.group, done, self.now)
        self.keep(before)
        return told.epoch, told.assignment

    def keep(self, before) -> None:
        """The log says what the group is."""
        records = group_records.difference(before, group_records.stand(self.group), 5)
        if records:
            group_records.read(records, self.kept, self.now)
        assert group_records.stand(self.kept["g"]) == group_records.stand(self.group)


def refused(call, *args) -> int:
    with pytest.raises(ApiError) as caught:
        call(*args)
    return caught.value.code


def test_partitions_are_assigned_once_they_are_initialised():
    world = World()
    assert world.beat("m", 0, "a") == (2, frozenset())
    assert world.beat("m", 2) == (3, {(A, 0), (A, 1)})
    assert world.beat("m", 3) == (3, None)
    assert world.beat("m", 2, "a") == (3, {(A, 0), (A, 1)})  # the answer was lost


def test_members_share():
    world = World()
    world.beat("m", 0, "b")
    world.beat("m", 2)
    assert world.beat("n", 0, "b") == (4, {(B, 0)})
    assert world.beat("m", 3) == (4, None)


def test_what_is_not_initialised_is_wanted_again():
    world = World()
    world.beat("m", 0, "b", starts=False)
    beat = Beat(group_id="g", member_id="m", epoch=2)
    assert world.membership.beat(world.group, beat, 29).initialise is None
    assert world.membership.beat(world.group, beat, 30).initialise is not None


def test_epochs_are_fenced():
    world = World()
    world.beat("m", 0, "b")
    world.beat("m", 2)
    for epoch in (1, 4):
        assert refused(world.beat, "m", epoch) == E.FENCED_MEMBER_EPOCH
    assert refused(world.beat, "n", 3) == E.UNKNOWN_MEMBER_ID
    assert refused(world.membership.leave, world.group, "n") == E.UNKNOWN_MEMBER_ID


def test_sessions_end_and_members_leave():
    world = World()
    world.beat("m", 0, "b")
    world.beat("n", 0, "b")
    before = group_records.stand(world.group)
    world.membership.leave(world.group, "n")
    world.keep(before)
    before, epoch = group_records.stand(world.group), world.group.epoch
    assert [m.id for m in world.membership.tick(world.group, 45_000)] == ["m"]
    world.keep(before)
    assert (world.group.state, world.group.epoch) == ("Empty", epoch + 1)


def test_full_groups_take_nobody():
    world = World(max_size=1)
    world.beat("m", 0, "b")
    assert refused(world.beat, "n", 0, "b") == E.GROUP_MAX_SIZE_REACHED


def test_the_target_is_not_made_too_often():
    world = World(assignment_interval_ms=100)
    world.beat("m", 0, "b")
    assert world.beat("m", 2) == (2, None)
    world.now = 100
    assert world.beat("m", 2) == (3, {(B, 0)})


@pytest.mark.parametrize(
    "changes",
    [{"group_id": ""}, {"member_id": ""}, {"member_id": "m" * 37}, {"rack_id": ""},
     {"names": None}, {"epoch": -2}],
)  # fmt: skip
def test_heartbeats_are_checked(changes):
    fields = {"group_id": "g", "member_id": "m", "epoch": 0, "names": frozenset({"a"})}
    assert refused(check, Beat(**(fields | changes))) == E.INVALID_REQUEST


@pytest.mark.parametrize("members", range(1, 7))
@pytest.mark.parametrize("partitions", range(1, 5))
def test_the_simple_assignor_is_fair(members, partitions):
    """Every partition has as many readers as needed that everybody reads something."""
    places = {(A, index) for index in range(partitions)}
    target: dict = {}
    for count in range(1, members + 1):  # they come one by one
        wishes = {f"m{at}": frozenset({A}) for at in range(count)}
        target = simple(wishes, places, target)
        readers = [sum(place in got for got in target.values()) for place in places]
        sharing = -(-count // partitions)
        assert all(readers) and max(readers) <= sharing
        assert all(target.values())


def test_the_simple_assignor_gives_what_is_wanted():
    wishes = {"m": frozenset({A}), "n": frozenset({A, B}), "o": frozenset({B})}
    target = simple(wishes, {(A, 0), (A, 1), (B, 0)}, {})
    assert {place[0] for place in target["m"]} == {A}
    assert {place[0] for place in target["o"]} == {B}
