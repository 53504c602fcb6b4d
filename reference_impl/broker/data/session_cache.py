"""A broker keeps a bounded number of fetch sessions (KIP-227, FETCH-19, FETCH-20).

A full cache takes a newcomer in two cases only. A session that nobody used for two minutes is
stale and goes. Else the least valuable session goes if it is worth no more than the newcomer, where
followers are worth more than consumers and many partitions more than few; but only sessions that
are two minutes old may be pushed out so, or a consumer's by a follower at any age. Otherwise the
newcomer is served without a session. From 3.7 on the slots are dealt to eight caches, and chance
says which of them a newcomer asks, so a cache may refuse while others have room.

Source: FetchSessionCache.maybeCreateSession, tryEvict and touch at 2.2.1; FetchSessionCacheShard at
3.9; observed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from touchstone.reference_impl.cluster.random_ids import RandomSource

EVICTION_MS = 120_000
_IDS = 2**31 - 1


class CachedSession(Protocol):
    """The fields of a session that the cache needs. Instants are milliseconds."""

    id: int
    created: int
    last_used: int

    @property
    def privileged(self) -> bool: ...

    @property
    def size(self) -> int: ...


S = TypeVar("S", bound=CachedSession)


class SessionCache(Generic[S]):
    """Sessions by id, in `shards` parts of `slots // shards` places each."""

    def __init__(self, slots: int, shards: int, random: RandomSource) -> None:
        self._places = slots // shards
        self._shards: list[dict[int, S]] = [{} for _ in range(shards)]
        self._random = random

    def __len__(self) -> int:
        return sum(map(len, self._shards))

    def __iter__(self) -> Iterator[S]:
        return (session for shard in self._shards for session in shard.values())

    def has_part_for(self, number: int) -> bool:
        """Whether a session with this id would be in one of the parts: they share out the ids."""
        each = _IDS // len(self._shards)
        return len(self._shards) == 1 or -each < number < each * len(self._shards)

    def get(self, number: int) -> S | None:
        return next((shard[number] for shard in self._shards if number in shard), None)

    def remove(self, number: int) -> None:
        """End this session; harmless if it does not exist."""
        for shard in self._shards:
            shard.pop(number, None)

    def make_room(self) -> None:
        """Drop the oldest of every full part: what no real broker does, for a planted defect."""
        for shard in self._shards:
            if shard and len(shard) >= self._places:
                del shard[next(iter(shard))]

    def admit(self, newcomer: S) -> bool:
        """Keep it under an id of its own, if there is room or somebody makes room."""
        shard = self._shards[0]
        if len(self._shards) > 1:
            shard = self._shards[self._random.randrange(len(self._shards))]
        if len(shard) >= self._places:
            loser = _loser(shard, newcomer)
            if loser is None:
                return False
            del shard[loser.id]
        while True:
            newcomer.id = 1 + self._random.randrange(_IDS - 1)
            if self.get(newcomer.id) is None:
                break
        shard[newcomer.id] = newcomer
        return True


def _loser(shard: dict[int, S], newcomer: S) -> S | None:
    """The session that makes room for the newcomer, if any does."""
    if not shard:
        return None
    oldest = min(shard.values(), key=lambda session: session.last_used)
    if newcomer.created - oldest.last_used > EVICTION_MS:
        return oldest
    open_to_it = [
        session
        for session in shard.values()
        if session.last_used - session.created > EVICTION_MS
        or (newcomer.privileged and not session.privileged)
    ]
    least = min(open_to_it, key=_worth, default=None)
    if least is None or (newcomer.privileged, newcomer.size, 0) < _worth(least):
        return None
    return least


def _worth(session: CachedSession) -> tuple[bool, int, int]:
    return session.privileged, session.size, session.id
