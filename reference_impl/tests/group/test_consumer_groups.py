"""Consumer groups of KIP-848 as values: epochs, who gives up what, and who is refused.

The numbers are those that 4.3.1 answered to the same heartbeats.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from random import Random

import pytest

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.group.assignors import ASSIGNORS, Taker
from touchstone.reference_impl.group.consumer_coordinator import ConsumerCoordinator
from touchstone.reference_impl.group.consumer_group import ConsumerGroup, GroupState, Topic, View
from touchstone.reference_impl.group.consumer_requests import (
    REQUESTS,
    Do,
    check_commit,
    check_fetch,
)
from touchstone.reference_impl.group.heartbeat import Beat, Settings, check
from touchstone.reference_impl.group.java_maps import java_order
from touchstone.reference_impl.wire.errors import ErrorCode as E

A, B = b"a" * 16, b"b" * 16
TOPICS = {"a": Topic(A, 4, 1), "b": Topic(B, 2, 2)}
SETTINGS = Settings(
    session_ms=45_000, assignment_interval_ms=1000, max_size=3, assignors=("uniform", "range")
)
JOIN = Beat(
    group_id="g",
    member_id="m1",
    epoch=0,
    rebalance_timeout=10_000,
    names=frozenset({"a"}),
    owned=frozenset(),
)


def places(topic: bytes, *indexes: int) -> frozenset:
    return frozenset((topic, index) for index in indexes)


class World:
    """One group, and an instant that goes past the assignment interval with each step."""

    def __init__(self, **settings: int) -> None:
        self.topics = dict(TOPICS)
        self.settings = replace(SETTINGS, **settings)
        self.version = 0
        self.coordinator = ConsumerCoordinator(self.view, lambda _: self.settings)
        self.group = ConsumerGroup("g")
        self.now = 0

    def view(self):
        self.version += 1
        return View(self.topics, self.version, self.version)

    def join(self, member_id: str = "m1", *, wait: int = 1000, **changes):
        return self.send(replace(JOIN, member_id=member_id, **changes), wait=wait)

    def beat(self, member_id: str, epoch: int, owned=None, *, wait: int = 1000, **changes):
        beat = Beat(group_id="g", member_id=member_id, epoch=epoch, owned=owned, **changes)
        return self.send(beat, wait=wait)

    def leave(self, member_id: str, epoch: int = -1, instance_id: str | None = None):
        beat = Beat(group_id="g", member_id=member_id, epoch=epoch, instance_id=instance_id)
        return self.coordinator.leave(self.group, beat)

    def send(self, beat: Beat, *, wait: int):
        self.now += wait
        told = self.coordinator.beat(self.group, beat, self.now)
        if told.resolve:
            self.coordinator.resolve(self.group, told.resolve, self.now)
        owners = [place for member in self.group.members.values() for place in member.holds]
        assert len(owners) == len(set(owners)), "two members own a partition"
        given = told.assignment
        return told.epoch, given if given is None else frozenset(given)


def refused(call, *args, **options) -> int:
    with pytest.raises(ApiError) as caught:
        call(*args, **options)
    return caught.value.code


def test_the_first_join_is_epoch_2_and_has_everything():
    assert World().join() == (2, places(A, 0, 1, 2, 3))


def test_a_partition_moves_when_its_owner_gave_it_up():
    world = World()
    world.join("m1")
    assert world.join("m2") == (3, frozenset())
    assert world.beat("m2", 3) == (3, None)
    assert world.beat("m1", 2) == (2, places(A, 0, 1))
    assert world.beat("m1", 2, places(A, 0, 1, 2, 3)) == (2, None)
    assert world.group.state is GroupState.RECONCILING
    assert world.beat("m2", 3) == (3, None)
    assert world.beat("m1", 2, places(A, 0, 1)) == (3, None)
    assert world.beat("m2", 3) == (3, places(A, 2, 3))
    assert world.group.state is GroupState.STABLE


def test_within_the_interval_the_old_target_stays():
    world = World()
    world.join("m1")
    assert world.join("m2", wait=999) == (2, frozenset())
    assert world.group.state is GroupState.ASSIGNING
    assert world.beat("m2", 2, wait=1) == (3, None)


def test_who_leaves_bumps_the_epoch_and_the_rest_gets_all():
    world = World()
    world.join("m1")
    world.join("m2")
    world.beat("m1", 2, places(A, 0, 1))
    world.leave("m2")
    assert (world.group.epoch, world.group.state) == (4, GroupState.ASSIGNING)
    assert world.beat("m1", 3) == (4, places(A, 0, 1, 2, 3))
    world.leave("m1")
    assert (world.group.epoch, world.group.state) == (5, GroupState.EMPTY)


def test_a_session_and_a_revocation_run_out():
    world = World()
    world.join("m1")
    world.join("m2")
    world.beat("m1", 2)
    due = world.group.deadline()
    assert due == world.now + 10_000, "the rebalance timeout"
    world.coordinator.tick(world.group, due - 1)
    assert set(world.group.members) == {"m1", "m2"}
    world.coordinator.tick(world.group, due)
    assert set(world.group.members) == {"m2"}
    world.coordinator.tick(world.group, world.group.deadline())
    assert not world.group.members


@pytest.mark.parametrize(
    ("epoch", "owned", "code"),
    [
        (4, None, E.FENCED_MEMBER_EPOCH),
        (1, frozenset(), E.FENCED_MEMBER_EPOCH),
        (2, None, E.FENCED_MEMBER_EPOCH),
        (2, places(A, 0, 1, 2), E.FENCED_MEMBER_EPOCH),
        (2, places(A, 0, 1), None),
        (3, None, None),
    ],
)
def test_only_the_epoch_before_is_forgiven_and_only_with_what_one_has(epoch, owned, code):
    world = World()
    world.join("m1")
    world.join("m2")
    world.beat("m1", 2, places(A, 0, 1))
    if code is None:
        assert world.beat("m1", epoch, owned) == (3, None)
    else:
        assert refused(world.beat, "m1", epoch, owned) == code


def test_a_static_member_comes_back_to_what_it_had():
    world = World()
    world.join("s1", instance_id="i")
    assert refused(world.join, "s2", instance_id="i") == E.UNRELEASED_INSTANCE_ID
    assert refused(world.beat, "s2", 2, instance_id="i") == E.FENCED_INSTANCE_ID
    assert refused(world.beat, "s1", 2, instance_id="j") == E.UNKNOWN_MEMBER_ID
    world.leave("s1", -2, "i")
    assert refused(world.beat, "s1", 2, instance_id="i") == E.FENCED_MEMBER_EPOCH
    assert world.join("s2", instance_id="i") == (2, places(A, 0, 1, 2, 3))
    assert list(world.group.members) == ["s2"]


def test_a_full_group_takes_only_whom_it_knows():
    world = World(max_size=1)
    world.join("m1")
    assert refused(world.join, "m2") == E.GROUP_MAX_SIZE_REACHED
    assert world.join("m1") == (2, places(A, 0, 1, 2, 3))


def test_a_topic_that_appears_or_grows_is_another_epoch():
    world = World()
    world.join("m1", names=frozenset({"a", "new"}))
    world.topics["new"] = Topic(b"n" * 16, 1, 3)
    assert world.beat("m1", 2) == (3, places(A, 0, 1, 2, 3) | places(b"n" * 16, 0))
    world.topics["a"] = Topic(A, 5, 4)
    assert world.beat("m1", 3)[0] == 4


def test_an_expression_is_resolved_after_the_answer():
    world = World()
    assert world.join("m1", names=None, regex="[ab]") == (1, frozenset())
    assert world.beat("m1", 1) == (2, places(A, 0, 1, 2, 3) | places(B, 0, 1))
    assert world.join("m2", names=None, regex="[ab]") == (3, frozenset())
    bad = replace(JOIN, member_id="m3", names=None, regex="[")
    assert refused(world.send, bad, wait=0) == E.INVALID_REGULAR_EXPRESSION
    assert "m3" not in world.group.members


def test_a_narrower_subscription_gives_up_at_once():
    world = World()
    world.join("m1", names=frozenset({"a", "b"}))
    assert world.beat("m1", 2, names=frozenset({"b"}), wait=0) == (2, places(B, 0, 1))
    assert world.group.members["m1"].holds == places(A, 0, 1, 2, 3) | places(B, 0, 1)
    assert world.beat("m1", 2, places(B, 0, 1), wait=0) == (2, None)
    assert world.group.members["m1"].holds == places(B, 0, 1)
    assert world.beat("m1", 2, places(B, 0, 1)) == (3, None)


def test_commits_need_the_epoch_or_an_older_one_of_the_partition():
    world = World()
    world.join("m1")
    world.join("m2")
    world.beat("m1", 2, places(A, 0, 1))
    group, place = world.group, places(A, 0)
    given = {epoch: check_commit(group, "m1", epoch, place) for epoch in (1, 2, 3, 4, -1)}
    stale = E.STALE_MEMBER_EPOCH
    assert given == {1: stale, 2: E.NONE, 3: E.NONE, 4: stale, -1: stale}
    assert check_commit(group, "m2", 2, place) == stale
    assert check_commit(group, "", -1, place) == E.UNKNOWN_MEMBER_ID
    assert check_commit(ConsumerGroup(), "", -1, place) == E.NONE
    assert check_fetch(group, None, -1) == E.NONE
    assert check_fetch(group, "", -1) == E.UNKNOWN_MEMBER_ID
    assert check_fetch(group, "m1", 2) == stale


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"group_id": ""}, E.INVALID_REQUEST),
        ({"member_id": ""}, E.INVALID_REQUEST),
        ({"instance_id": ""}, E.INVALID_REQUEST),
        ({"rack_id": ""}, E.INVALID_REQUEST),
        ({"epoch": -3}, E.INVALID_REQUEST),
        ({"epoch": -2}, E.INVALID_REQUEST),
        ({"rebalance_timeout": -1}, E.INVALID_REQUEST),
        ({"owned": None}, E.INVALID_REQUEST),
        ({"owned": places(A, 0)}, E.INVALID_REQUEST),
        ({"names": None}, E.INVALID_REQUEST),
        ({"assignor": "nope"}, E.UNSUPPORTED_ASSIGNOR),
    ],
)
def test_what_no_group_takes(changes, code):
    assert refused(check, replace(JOIN, **changes), ("uniform",), ids_are_given=False) == code


def test_version_0_lets_the_broker_name_a_new_member():
    check(replace(JOIN, member_id=""), ("uniform",), ids_are_given=True)


def test_ids_stand_in_the_order_of_javas_map():
    assert java_order(["range", "uniform"]) == ["uniform", "range"]
    assert java_order(["m2", "zz", "m1"]) == ["zz", "m1", "m2"]


@pytest.mark.parametrize("name", sorted(ASSIGNORS))
@pytest.mark.parametrize("narrow", [False, True])
def test_everything_is_given_once_to_who_wants_it_and_evenly(name, narrow):
    counts = {A: 7, B: 5}
    target: dict = {}
    for size in (1, 4, 3, 5, 2):
        takers = [
            Taker(f"m{i}", None, frozenset({A} if narrow and i % 2 else {A, B}))
            for i in range(size)
        ]
        target = ASSIGNORS[name](takers, counts, target, not narrow or size == 1)
        given = [place for owned in target.values() for place in owned]
        assert sorted(given) == sorted((t, i) for t, count in counts.items() for i in range(count))
        assert all(place[0] in t.topics for t in takers for place in target[t.id])
        sizes = [len(target[taker.id]) for taker in takers]
        if name == "uniform" and not narrow:  # Kafka stops before these are as even
            assert max(sizes) - min(sizes) <= 1


def test_uniform_leaves_in_place_what_fits():
    takers = [Taker(f"m{i}", None, frozenset({A})) for i in range(3)]
    two = ASSIGNORS["uniform"](takers[:2], {A: 4}, {}, True)
    three = ASSIGNORS["uniform"](takers, {A: 4}, two, True)
    assert three["m0"] == two["m0"]
    assert three["m1"] < two["m1"]


def test_no_heartbeat_meets_a_cell_that_cannot_happen():
    """Whoever says whatever in whichever epoch: it is refused or it is done."""
    draw, walked = Random(7), {}
    for _ in range(30):
        world = World(assignment_interval_ms=draw.choice((0, 5000)), max_size=9)
        for _ in range(40):
            member, instance = draw.choice("abc"), draw.choice((None, None, "i", "j"))
            epoch = draw.choice((-2, -1, 0, 0, 1, 2, 3, 4, 5, 6, 7))
            owned = draw.choice((None, frozenset(), places(A, 0, 1), places(A, 0, 1, 2, 3)))
            say = partial(world.beat, member, epoch, owned, instance_id=instance)
            if epoch == 0:
                names = frozenset(draw.sample(sorted(TOPICS), draw.randrange(3)))
                say = partial(world.join, member, instance_id=instance, names=names)
            elif epoch < 0:
                say = partial(world.leave, member, epoch, instance)
            with watching(REQUESTS, walked), suppress(ApiError):
                say()
            with watching(REQUESTS, walked):
                check_commit(world.group, member, epoch, places(A, draw.randrange(4)))
                check_fetch(world.group, draw.choice((None, member)), epoch)
    cells = {key: REQUESTS.peek(*key).do for key in walked}
    assert len(cells) > 35 and Do.IMPOSSIBLE not in cells.values()


@contextmanager
def watching(table, walked):
    table.walked = walked
    yield
    table.walked = None
