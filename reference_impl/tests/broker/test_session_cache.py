"""Who has a fetch session when not everybody can: clauses FETCH-19 and FETCH-20, by instants."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from touchstone.reference_impl.broker.data.session_cache import EVICTION_MS, SessionCache


@dataclass(eq=False)
class One:
    created: int = 0
    privileged: bool = False
    size: int = 1
    last_used: int = 0
    id: int = 0

    def __post_init__(self):
        self.last_used = max(self.last_used, self.created)


def cache(slots=2, shards=1, *kept):
    made = SessionCache(slots, shards, random.Random(1))
    for one in kept:
        assert made.admit(one)
    return made


def test_ids_are_never_zero_and_lead_back():
    first, second = One(), One()
    made = cache(2, 1, first, second)
    assert made.get(first.id) is first
    assert made.get(second.id) is second
    assert 0 not in (first.id, second.id)
    made.remove(first.id)
    made.remove(first.id)
    assert made.get(first.id) is None
    assert len(made) == 1


@pytest.mark.parametrize("idle", [0, EVICTION_MS, EVICTION_MS + 1])
def test_only_the_stale_make_room_for_anybody(idle):
    old, used = One(size=9), One(size=9, last_used=idle)
    made = cache(2, 1, old, used)
    assert made.admit(One(created=idle)) is (idle > EVICTION_MS)
    assert (made.get(old.id) is None) is (idle > EVICTION_MS)
    assert made.get(used.id) is used


def test_a_follower_takes_the_place_of_the_smallest_young_consumer():
    large, small = One(size=2), One(size=1)
    made = cache(2, 1, large, small)
    assert made.admit(One(privileged=True, created=5))
    assert made.get(large.id) is large
    assert made.get(small.id) is None


def test_young_followers_make_room_for_nobody():
    made = cache(2, 1, One(privileged=True), One(privileged=True))
    assert not made.admit(One(privileged=True, size=9, created=5))
    assert not made.admit(One(size=9, created=5))


def test_an_old_session_goes_when_it_is_worth_no_more():
    """In use all the time, but old: sizes decide, and a follower's outweighs every consumer's."""
    now = 2 * EVICTION_MS
    for privileged, size, newcomer, room in (
        (False, 3, One(now, size=2), False),
        (False, 3, One(now, size=4), True),
        (True, 1, One(now, size=9), False),
        (True, 2, One(now, True, 1), False),
        (True, 2, One(now, True, 3), True),
    ):
        made = cache(1, 1, One(privileged=privileged, size=size, last_used=now))
        assert made.admit(newcomer) is room, (privileged, size, newcomer)


def test_parts_share_the_slots_and_chance_deals():
    assert not cache(7, 8).admit(One())
    made = cache(16, 8)
    admitted = sum(made.admit(One()) for _ in range(16))
    assert 8 <= admitted < 16  # some part was full while another had room
    assert len(made) == admitted
