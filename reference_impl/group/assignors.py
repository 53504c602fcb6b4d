"""A broker has two assignors: uniform, which moves as little as it can, and range.

Which partition moves depends on the order of Java's hash maps over member and topic ids where
Kafka's does (`java_maps.py`). Whether all members subscribe alike is told, not looked at: where
they are said to, the first one's topics are everybody's.

Sources: KIP-848; UniformHomogeneousAssignmentBuilder, RangeAssignor@4.3.1; observed there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import NamedTuple

from touchstone.reference_impl.group.consumer_group import TopicIdPartition
from touchstone.reference_impl.group.java_maps import java_order


class Taker(NamedTuple):
    """A member as an assignor sees it."""

    id: str
    instance_id: str | None
    topics: frozenset[bytes]


Target = dict[str, frozenset[TopicIdPartition]]
Before = Mapping[str, frozenset[TopicIdPartition]]
Assign = Callable[[list[Taker], Mapping[bytes, int], Before, bool], Target]


def in_java_order(takers: list[Taker]) -> list[Taker]:
    """As a HashMap by member id goes through them."""
    by_id = {taker.id: taker for taker in takers}
    return [by_id[each] for each in java_order(by_id)]


def places_of(
    takers: list[Taker], topics: Mapping[bytes, int], before: Before
) -> tuple[list[TopicIdPartition], list[TopicIdPartition]]:
    """(every partition that takers who subscribe alike want, those that none of them had)."""
    order = [topic for topic in java_order(topics) if takers and topic in takers[0].topics]
    places = [(topic, index) for topic in order for index in range(topics[topic])]
    had = {place for taker in takers for place in before.get(taker.id, ())}
    return places, [place for place in places if place not in had]


def uniform(
    takers: list[Taker], topics: Mapping[bytes, int], before: Before, alike: bool
) -> Target:
    """`topics`: partitions of each that somebody wants; `before`: the target so far."""
    ordered = in_java_order(takers)
    if alike:
        return _evenly(ordered, topics, before)
    return frozen(Balance(ordered, topics, before).balanced())


def by_range(
    takers: list[Taker], topics: Mapping[bytes, int], before: Before, alike: bool
) -> Target:
    """Each topic cut into consecutive pieces; the first members have the larger ones."""
    given: dict[str, set[TopicIdPartition]] = {taker.id: set() for taker in takers}
    ordered = sorted(takers, key=lambda t: (t.instance_id is None, t.instance_id or t.id, t.id))
    for topic, count in topics.items():
        readers = [t for t in ordered if topic in (ordered[0] if alike else t).topics]
        start = 0
        for place, taker in enumerate(readers):
            size = count // len(readers) + (place < count % len(readers))
            given[taker.id].update((topic, index) for index in range(start, start + size))
            start += size
    return frozen(given)


def _evenly(takers: list[Taker], topics: Mapping[bytes, int], before: Before) -> Target:
    """All want the same: everybody keeps what fits in its share, the rest goes round."""
    places, free = places_of(takers, topics, before)
    least, extra = divmod(len(places), len(takers) or 1)
    given: dict[str, set[TopicIdPartition]] = {}
    room: dict[str, int] = {}
    rank = {place: at for at, place in enumerate(places)}
    for at, taker in enumerate(takers):
        quota = least + (extra > 0)
        mine = sorted(rank.keys() & before.get(taker.id, frozenset()), key=rank.__getitem__)
        given[taker.id] = set(mine[:quota])
        free += mine[quota:]
        left = max(quota - len(mine), 0)
        if extra > 0 and left and len(takers) - at > extra:
            left -= 1  # there are others enough to take what is over
        elif extra > 0:
            extra -= 1
        room[taker.id] = left
    rest = iter(free)
    for taker_id, places_left in room.items():
        given[taker_id].update(islice(rest, places_left))
    return frozen(given)


def frozen(given: Mapping[str, set[TopicIdPartition]]) -> Target:
    return {member: frozenset(places) for member, places in given.items()}


class Balance:
    """Partitions shared out among members of different subscriptions, in rounds over the topics."""

    _ROUNDS = 16

    def __init__(
        self,
        takers: list[Taker],
        topics: Mapping[bytes, int],
        before: Before,
    ) -> None:
        self.takers, self.topics = takers, topics
        self.readers = {
            topic: [at for at, taker in enumerate(takers) if topic in taker.topics]
            for topic in topics
        }
        self.owner: dict[TopicIdPartition, int] = {}
        self.size = [0] * len(takers)
        for at, taker in enumerate(takers):
            for place in before.get(taker.id, ()):
                if place[0] in taker.topics and place[1] < topics[place[0]]:
                    self.owner[place] = at
                    self.size[at] += 1

    def balanced(self) -> dict[str, set[TopicIdPartition]]:
        for topic in self._ordered(self.topics):
            row = Row(self.size, self.readers[topic])
            for index in range(self.topics[topic]):
                if (topic, index) not in self.owner:
                    self._give((topic, index), row.least())
        self._rounds([t for t in self._ordered(self.topics) if len(self.readers[t]) >= 2])
        given: dict[str, set[TopicIdPartition]] = {taker.id: set() for taker in self.takers}
        for place, at in self.owner.items():
            given[self.takers[at].id].add(place)
        return given

    def _ordered(self, topics: Mapping[bytes, int]) -> list[bytes]:
        """Most partitions per reader first, then fewest readers, then by id."""

        def key(topic: bytes) -> tuple[float, int, int, int]:
            readers = len(self.readers[topic])
            high, low = (
                int.from_bytes(part, "big", signed=True) for part in (topic[:8], topic[8:])
            )
            return -topics[topic] / readers, readers, high, low

        return sorted((topic for topic in topics if self.readers[topic]), key=key)

    def _rounds(self, topics: list[bytes]) -> None:
        last = -1
        for _ in range(self._ROUNDS):
            for at, topic in enumerate(topics):
                if at == last:
                    return
                if self._level(topic) > 0 or last == -1:
                    last = at

    def _level(self, topic: bytes) -> int:
        """Move partitions of one topic from the fullest to the emptiest; how many."""
        row = Row(self.size, self.readers[topic])
        if row.gap <= 1:
            return 0
        held: dict[int, list[int]] = {}
        for index in range(self.topics[topic]):
            held.setdefault(self.owner[topic, index], []).append(index)
        moved = 0
        while not row.level:
            donor = row.most()
            while donor != -1 and not held.get(donor):
                row.exclude()
                donor = row.most()
            if donor == -1:
                break
            index = held[donor].pop()
            receiver = row.least()
            if row.level:
                break
            self._give((topic, index), receiver)
            moved += 1
        return moved

    def _give(self, place: TopicIdPartition, to: int) -> None:
        held_by = self.owner.get(place)
        if held_by is not None:
            self.size[held_by] -= 1
        self.owner[place] = to
        self.size[to] += 1


class Row:
    """Members by how much they have: the emptiest and the fullest in turn, level by level."""

    def __init__(self, size: list[int], members: list[int]) -> None:
        self._size = size
        self._row = sorted(members, key=lambda at: (size[at], at))
        self._low_end, self._low_next = 0, 0
        self._low = size[self._row[0]] - 1
        self._high_start = self._high_end = len(self._row)
        self._high = size[self._row[-1]] + 1
        self._high_next = len(self._row) - 1
        self.gap = size[self._row[-1]] - size[self._row[0]]

    @property
    def level(self) -> bool:
        return self._high - self._low <= 1

    def least(self) -> int:
        if self._low_next >= self._low_end:
            self._low += 1
            row, size = self._row, self._size
            while self._low_end < len(row) and size[row[self._low_end]] == self._low:
                self._low_end += 1
            self._low_next = 0
        self._low_next += 1
        return self._row[self._low_next - 1]

    def most(self) -> int:
        """-1 when there is nobody left."""
        row, size = self._row, self._size
        if self._high_next < self._high_start:
            if self._high_end <= self._high_start and self._high_start > 0:
                self._high = size[row[self._high_start - 1]]
            else:
                self._high -= 1
            while self._high_start > 0 and size[row[self._high_start - 1]] == self._high:
                self._high_start -= 1
            self._high_next = self._high_end - 1
        if self._high_next < 0:
            return -1
        self._high_next -= 1
        return row[self._high_next + 1]

    def exclude(self) -> None:
        """The one that `most` just named takes no more part in giving."""
        row, at, end = self._row, self._high_next + 1, self._high_end - 1
        row[at], row[end] = row[end], row[at]
        self._high_end -= 1


ASSIGNORS: dict[str, Assign] = {"uniform": uniform, "range": by_range}
