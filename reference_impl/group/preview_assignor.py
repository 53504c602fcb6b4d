"""The assignor `uniform` as 3.9 has it: the one of the preview of KIP-848.

Members that subscribe alike keep what fits in their share; the first members may keep one more. The
others are levelled as the sticky assignor of clients does it: one partition after the other goes to
the member that has least and may have it, each at most once, until no move makes it more even. It
remembers its moves, so that a partition goes back rather than another one comes; but to move one a
second time is an error there, and the heartbeat which asked for the assignment fails
(`AssignmentFailed`; 12 in 1000 random groups, whose targets were uneven).

Sources: UniformHomogeneousAssignmentBuilder, UniformHeterogeneousAssignmentBuilder@3.9.0; observed
on 3.9.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.group.assignors import (
    ASSIGNORS,
    Assign,
    Before,
    Taker,
    Target,
    frozen,
    in_java_order,
    places_of,
)
from touchstone.reference_impl.group.consumer_group import TopicIdPartition
from touchstone.reference_impl.group.java_maps import java_order, place_order
from touchstone.reference_impl.wire.errors import ErrorCode

Move = tuple[str, str]  # from a member to a member


class AssignmentFailed(ApiError):
    """No target could be worked out; nothing of the request counts."""

    def __init__(self) -> None:
        super().__init__(ErrorCode.UNKNOWN_SERVER_ERROR)


def uniform(
    takers: list[Taker], topics: Mapping[bytes, int], before: Before, alike: bool
) -> Target:
    """As `assignors.uniform`. Raises AssignmentFailed."""
    ordered = in_java_order(takers)
    if alike:
        return _evenly(ordered, topics, before)
    return frozen(_Levelling(ordered, topics, before).levelled())


def _evenly(takers: list[Taker], topics: Mapping[bytes, int], before: Before) -> Target:
    places, free = places_of(takers, topics, before)
    least, extra = divmod(len(places), len(takers) or 1)
    given: dict[str, set[TopicIdPartition]] = {}
    room: dict[str, int] = {}
    for at, taker in enumerate(takers):
        quota = least + (at < extra)
        mine = [place for place in places if place in before.get(taker.id, ())]
        given[taker.id] = set(mine[:quota])
        free += mine[quota:]
        room[taker.id] = max(quota - len(mine), 0)
    for taker_id, places_left in room.items():
        given[taker_id].update(free[:places_left])
        del free[:places_left]
    return frozen(given)


class _Levelling:
    def __init__(self, takers: list[Taker], topics: Mapping[bytes, int], before: Before) -> None:
        self._takers = {taker.id: taker for taker in takers}
        self._topics = {topic: topics[topic] for topic in java_order(topics)}
        self._readers = {
            topic: [taker.id for taker in takers if topic in taker.topics] for topic in topics
        }
        self._most = {
            taker.id: sum(topics[topic] for topic in taker.topics if topic in topics)
            for taker in takers
        }
        self._given: dict[str, set[TopicIdPartition]] = {taker.id: set() for taker in takers}
        self._owner: dict[TopicIdPartition, str] = {}
        self._open = {each for each in self._takers if self._most[each]}  # may get another
        self._moves = _Moves()
        for taker in takers:
            for place in sorted(before.get(taker.id, ())):
                if place[0] in taker.topics:
                    self._give(place, taker.id)

    def levelled(self) -> dict[str, set[TopicIdPartition]]:
        if not any(self._readers.values()):
            return self._given
        every = [(topic, index) for topic, count in self._topics.items() for index in range(count)]
        for place in self._in_order(place for place in every if place not in self._owner):
            takes = (each for each in self._readers[place[0]] if each in self._open)
            taker = min(takes, key=self._by_size, default=None)
            if taker is None:
                raise AssignmentFailed
            self._give(place, taker)
        self._open = {each for each in self._open if self._takes_part(each)}
        still = [place for place in every if len(self._readers[place[0]]) > 1]
        while still and self._round(self._in_order(still)):
            still = [place for place in still if not self._moves.has(place)]
        return self._given

    def _round(self, places: list[TopicIdPartition]) -> bool:
        """Move what makes it more even; whether that has to be tried again."""
        moved_any = moved = False
        for place in places:
            if moved and self._balanced():
                return False
            owner = self._owner[place]
            size = self._size(owner)
            moved = any(size > self._size(each) + 1 for each in self._readers[place[0]])
            if moved:
                moved_any = True
                self._move(place)
        return moved_any

    def _move(self, place: TopicIdPartition) -> None:
        """This partition, or one of its topic that came the other way before."""
        able = (each for each in self._open if place[0] in self._takers[each].topics)
        taker = min(able, key=self._by_size, default=None)
        if taker is None:
            raise AssignmentFailed
        place = self._moves.instead(place, self._owner[place], taker)
        owner = self._owner[place]
        self._moves.note(place, owner, taker)
        self._given[owner].discard(place)
        del self._owner[place]
        self._reopen(owner)
        self._give(place, taker)

    def _give(self, place: TopicIdPartition, to: str) -> None:
        self._given[to].add(place)
        self._owner[place] = to
        self._reopen(to)

    def _reopen(self, member: str) -> None:
        if self._size(member) < self._most[member]:
            self._open.add(member)
        else:
            self._open.discard(member)

    def _size(self, member: str) -> int:
        return len(self._given[member])

    def _by_size(self, member: str) -> tuple[int, str]:
        return self._size(member), member

    def _takes_part(self, member: str) -> bool:
        if self._size(member) < self._most[member]:
            return True
        return any(len(self._readers[place[0]]) > 1 for place in self._given[member])

    def _balanced(self) -> bool:
        sizes = [self._size(each) for each in self._open]
        if min(sizes) >= max(sizes) - 1:
            return True
        return not any(
            self._size(member) + 1 < self._size(self._owner[topic, index])
            for member in self._open
            for topic in self._takers[member].topics & self._topics.keys()
            for index in range(self._topics[topic])
            if (topic, index) not in self._given[member]
        )

    def _in_order(self, places: Iterable[TopicIdPartition]) -> list[TopicIdPartition]:
        """Most partitions per reader first, then fewest readers, then the lowest number."""

        def key(place: TopicIdPartition) -> tuple[float, int, int]:
            readers = len(self._readers[place[0]])
            return -self._topics[place[0]] / readers, readers, place[1]

        return sorted(place_order(places, sum(self._topics.values())), key=key)


class _Moves:
    """What went from whom to whom, by topic."""

    def __init__(self) -> None:
        self._by_topic: dict[bytes, dict[Move, list[TopicIdPartition]]] = {}
        self._by_place: dict[TopicIdPartition, Move] = {}

    def has(self, place: TopicIdPartition) -> bool:
        return place in self._by_place

    def instead(self, place: TopicIdPartition, owner: str, taker: str) -> TopicIdPartition:
        """The partition to move: one that went from the taker to the owner goes back."""
        moves = self._by_topic.get(place[0])
        if not moves:
            return place
        if place in self._by_place:
            came_from, came_to = self._by_place[place]
            if came_to != owner:
                raise AssignmentFailed
            owner = came_from
        reverse = moves.get((taker, owner))
        return place_order(reverse, len(reverse))[0] if reverse else place

    def note(self, place: TopicIdPartition, owner: str, taker: str) -> None:
        if place in self._by_place:
            _, came_to = self._by_place[place]
            if came_to == owner:  # Kafka's check has the wrong sign, and any second move fails it
                raise AssignmentFailed
        self._by_place[place] = owner, taker
        self._by_topic.setdefault(place[0], {}).setdefault((owner, taker), []).append(place)


PREVIEW: dict[str, Assign] = ASSIGNORS | {"uniform": uniform}
