"""A member that names a protocol twice: as 2.2.1 to 4.3.1 do, its group counts it twice, and then
nobody has what all of them have; 1.0.2 takes it for one.
"""

from __future__ import annotations

import pytest

from touchstone.reference_impl.group.states import State
from touchstone.reference_impl.tests.broker.one_broker import WAITING, OneBroker
from touchstone.reference_impl.tests.group.test_over_the_wire import ready
from touchstone.reference_impl.tests.group.world import RANGE, ROUND, World
from touchstone.reference_impl.wire.errors import ErrorCode as E

TWICE = (RANGE, RANGE)
DAY_MS = 86_400_000


def test_the_first_phase_of_its_group_never_ends():
    world = World(new_members_lapse=False)
    ticket = world.join(protocols=TWICE)
    world.advance(DAY_MS)
    assert (ticket.answer, world.group.state) == (None, State.PREPARING)
    assert world.join().answer["error_code"] == E.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize("synced", [True, False])
def test_a_static_member_that_comes_back_with_it_is_told_what_was_thrown(synced):
    """In a stable group, and in one whose assignments are awaited."""
    world = World(initial_delay_ms=0)
    world.stable(instance="i") if synced else world.join(instance="i")
    answer = world.join(instance="i", protocols=TWICE).answer
    assert (answer["error_code"], answer["member_id"], answer["generation_id"]) == (-1, "", -1)
    assert world.group.state is (State.STABLE if synced else State.PREPARING)
    world.advance(DAY_MS)  # nobody watches its session any more
    assert len(world.group.members) == 1
    refused = world.join(instance="i").answer["error_code"]
    assert refused == E.INCONSISTENT_GROUP_PROTOCOL


def test_one_that_names_another_once_is_elected_by_that():
    answer = World(initial_delay_ms=0).join(protocols=(RANGE, ROUND, RANGE)).answer
    assert answer["protocol_name"] == "roundrobin"


def joined(one: OneBroker, *metadata: bytes) -> dict:
    body = {
        "group_id": "g",
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 10_000,
        "member_id": "",
        "protocol_type": "x",
        "protocols": [{"name": "range", "metadata": each} for each in metadata],
    }
    return one.ask("JoinGroup", 2, body)


def test_1_0_takes_the_first():
    answer = joined(ready("1.0"), b"a", b"b")
    assert [row["metadata"] for row in answer["members"]] == [b"a"]


@pytest.mark.parametrize("release", ["2.2", "2.8", "3.9", "4.3"])
def test_later_releases_count_both(release):
    assert joined(ready(release), b"a", b"b") == WAITING
