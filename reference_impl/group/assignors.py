"""The assignors that a broker has: uniform, which moves as little as it can, and range.

Which partition moves depends on the order of Java's hash maps over member and topic ids where
Kafka's does; that order is the same on every broker, so it is kept here (`java_order`). Members
that do not all subscribe to the same topics are balanced by moves from the fullest to the emptiest
that may take it: as even as Kafka's, not always the same partition.

Sources: KIP-848; UniformHomogeneousAssignmentBuilder, RangeAssignor@4.0 (facts); observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from reference_impl.group.modern import Place
from reference_impl.group.placement import java_hash

_MASK = 0xFFFFFFFF


class Taker(NamedTuple):
    """A member as an assignor sees it."""

    id: str
    instance_id: str | None
    topics: frozenset[bytes]


Target = dict[str, frozenset[Place]]
Assign = Callable[[list[Taker], Mapping[bytes, int], Mapping[str, frozenset[Place]]], Target]


def _uuid_hash(raw: bytes) -> int:
    both = int.from_bytes(raw[:8], "big") ^ int.from_bytes(raw[8:], "big")
    return both >> 32 ^ both & _MASK


def java_order(keys: Iterable[str] | Iterable[bytes]) -> list:
    """As a java.util.HashMap of that many would go through them."""
    keys = list(keys)
    buckets = 16
    while len(keys) > buckets * 3 // 4:
        buckets *= 2

    def bucket(key: str | bytes) -> int:
        h = java_hash(key) & _MASK if isinstance(key, str) else _uuid_hash(key)
        return (h ^ h >> 16) & buckets - 1

    return sorted(keys, key=bucket)


def uniform(
    takers: list[Taker], topics: Mapping[bytes, int], before: Mapping[str, frozenset[Place]]
) -> Target:
    by_id = {taker.id: taker for taker in takers}
    ordered = [by_id[each] for each in java_order(by_id)]
    if len({taker.topics for taker in takers}) <= 1:
        return _evenly(ordered, topics, before)
    return _balanced(ordered, topics, before)


def by_range(
    takers: list[Taker], topics: Mapping[bytes, int], before: Mapping[str, frozenset[Place]]
) -> Target:
    """Each topic cut into consecutive pieces; the first members have the larger ones."""
    given: dict[str, set[Place]] = {taker.id: set() for taker in takers}
    ordered = sorted(takers, key=lambda t: (t.instance_id is None, t.instance_id or t.id, t.id))
    for topic, count in topics.items():
        readers = [taker for taker in ordered if topic in taker.topics]
        start = 0
        for place, taker in enumerate(readers):
            size = count // len(readers) + (place < count % len(readers))
            given[taker.id].update((topic, index) for index in range(start, start + size))
            start += size
    return _frozen(given)


def _evenly(
    takers: list[Taker], topics: Mapping[bytes, int], before: Mapping[str, frozenset[Place]]
) -> Target:
    """All want the same: everybody keeps what fits in its share, the rest goes round."""
    order = [topic for topic in java_order(topics) if takers and topic in takers[0].topics]
    places = [(topic, index) for topic in order for index in range(topics[topic])]
    least, extra = divmod(len(places), len(takers) or 1)
    had = {place for taker in takers for place in before.get(taker.id, ())}
    free = [place for place in places if place not in had]
    given: dict[str, set[Place]] = {}
    room: dict[str, int] = {}
    for at, taker in enumerate(takers):
        quota = least + (at < extra)
        mine = [place for place in places if place in before.get(taker.id, ())]
        given[taker.id], room[taker.id] = set(mine[:quota]), quota - len(mine[:quota])
        free += mine[quota:]
    for taker_id, places_left in room.items():
        given[taker_id].update(free[:places_left])
        del free[:places_left]
    return _frozen(given)


def _balanced(
    takers: list[Taker], topics: Mapping[bytes, int], before: Mapping[str, frozenset[Place]]
) -> Target:
    given: dict[str, set[Place]] = {}
    for taker in takers:
        kept = before.get(taker.id, frozenset())
        given[taker.id] = {p for p in kept if p[0] in taker.topics and p[1] < topics[p[0]]}
    had = set().union(*given.values())

    def load(taker: Taker) -> int:
        return len(given[taker.id])

    for topic in java_order(topics):
        readers = [taker for taker in takers if topic in taker.topics]
        for index in range(topics[topic]):
            if readers and (topic, index) not in had:
                given[min(readers, key=load).id].add((topic, index))
    while move := _move(takers, given):
        place, donor, receiver = move
        given[donor].remove(place)
        given[receiver].add(place)
    return _frozen(given)


def _move(
    takers: list[Taker], given: Mapping[str, set[Place]]
) -> tuple[Place, str, str] | None:
    """A partition that a member with at least two fewer may take."""
    for receiver in sorted(takers, key=lambda taker: len(given[taker.id])):
        for donor in sorted(takers, key=lambda taker: -len(given[taker.id])):
            if len(given[donor.id]) - len(given[receiver.id]) < 2:
                break
            fits = [place for place in given[donor.id] if place[0] in receiver.topics]
            if fits:
                return max(fits), donor.id, receiver.id
    return None


def _frozen(given: Mapping[str, set[Place]]) -> Target:
    return {member: frozenset(places) for member, places in given.items()}


ASSIGNORS: dict[str, Assign] = {"uniform": uniform, "range": by_range}
