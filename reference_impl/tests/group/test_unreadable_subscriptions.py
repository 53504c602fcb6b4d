"""A member whose metadata cannot be read: the end of the join phase throws, after the generation
has gone up. The next join tries again on 4.3.1; on 3.9.2 nobody does, and the group is stuck.
The errors and who waits were seen on both; later generations, and that nobody watches the session,
are from ClassicGroup.initNextGeneration@4.3.1 and GroupMetadata@2.8.2 and not seen yet.
"""

from __future__ import annotations

import pytest

from touchstone.reference_impl.group.states import State
from touchstone.reference_impl.tests.group.world import World
from touchstone.reference_impl.wire.errors import ErrorCode as E

TOPIC = b"\0\x06fuzz-a" + b"\xff" * 4
READABLE, UNREADABLE = (b"\0\0" + count.to_bytes(4, "big") + TOPIC for count in (1, 0))
DAY_MS = 86_400_000


def by_range(metadata: bytes) -> tuple[tuple[str, bytes], ...]:
    return (("range", metadata),)


@pytest.fixture(params=[True, False], ids=["tries again", "is stuck"])
def left_alone(request):
    """A world where a member is to join again since another has left; and that member's id."""
    world = World(reads_subscriptions=True, tries_again=request.param, initial_delay_ms=0)
    first = world.join(protocols=by_range(READABLE)).answer["member_id"]
    second = world.join(protocols=by_range(READABLE))
    world.join(first, protocols=by_range(READABLE))
    world.leave(second.answer["member_id"])
    return world, first


def test_the_generation_has_gone_up_when_it_throws(left_alone):
    world, first = left_alone
    answer = world.join(first, protocols=by_range(UNREADABLE)).answer
    assert (answer["error_code"], answer["generation_id"]) == (E.UNKNOWN_SERVER_ERROR, -1)
    assert (world.group.state, world.group.generation) == (State.PREPARING, 3)
    assert world.commit(first, 2) == E.ILLEGAL_GENERATION
    world.advance(DAY_MS)  # nobody watches its session any more
    assert first in world.group.members


def test_who_comes_next_is_thrown_at_or_waits_for_ever(left_alone):
    world, first = left_alone
    world.join(first, protocols=by_range(UNREADABLE))
    another = world.join(protocols=by_range(READABLE))
    again = world.join(first, protocols=by_range(READABLE))
    if world.coordinator.rules.tries_again:
        assert another.answer["error_code"] == E.UNKNOWN_SERVER_ERROR
        assert (again.answer["error_code"], again.answer["generation_id"]) == (E.NONE, 5)
        assert len(again.answer["members"]) == 2  # also the one that was thrown at
    else:
        assert (another.answer, again.answer, world.group.generation) == (None, None, 3)


def test_of_a_group_that_all_have_left_meanwhile_nobody_is_a_member(left_alone):
    """Asked of 2.8.2, 3.9.2 and 4.3.1, where a group's first join phase is stuck too."""
    world, first = left_alone
    world.join(first, protocols=by_range(UNREADABLE))
    world.leave(first)
    tries_again = world.coordinator.rules.tries_again
    left = State.EMPTY if tries_again else State.PREPARING
    assert (world.group.state, world.group.members) == (left, {})
    for member_id in (first, "nobody"):
        assert world.heartbeat(member_id, 3) == E.UNKNOWN_MEMBER_ID
        assert world.sync(member_id, 3).answer["error_code"] == E.UNKNOWN_MEMBER_ID
