"""The range assignor: each topic cut into consecutive pieces, by racks first where that matters.

Without racks the first members have the larger pieces. With them (KIP-881) a member first has, up
to its piece, partitions with a replica in its own rack; topics with the same members and the same
number of partitions go together, so that who has partition 0 of one has it of all. What is left is
cut as without racks. Racks matter where a member's rack has a replica of something, and not every
partition is in every rack.

Source: RangeAssignor at 4.3.1; `harness/tests/clients` divides with both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from .assignment import Given, Racks, Taker, ranked
from .flow import TopicPartition

_May = Callable[[Taker, int], bool]


def by_range(takers: list[Taker], topics: Mapping[str, int], racks: Racks | None = None) -> Given:
    """`topics` are numbers of partitions, `racks` those of each partition's replicas."""
    given: Given = {taker.id: [] for taker in takers}
    cuts = [_Cut(topic, count, takers, racks or {}) for topic, count in sorted(topics.items())]
    by_rack = any(cut.racks_matter for cut in cuts)
    if by_rack:
        for together in _co_partitioned(cuts):
            _match_racks(together, given)
    for cut in cuts:
        cut.cut(given, lambda taker, index: True)
    if by_rack:
        for places in given.values():
            places.sort()
    return given


class _Cut:
    """One topic: its readers in order, what is left of it, and how much each may have."""

    def __init__(self, topic: str, count: int, takers: Iterable[Taker], racks: Racks):
        self.topic = topic
        self.count = count
        self.readers = [taker for taker in ranked(takers) if topic in taker.topics]
        self.left = list(range(count))
        self._had = dict.fromkeys((reader.id for reader in self.readers), 0)
        self._size, self._larger = divmod(count, len(self.readers)) if self.readers else (0, 0)
        self._racks = [racks.get((topic, index), frozenset()) for index in range(count)]

    @property
    def racks_matter(self) -> bool:
        everywhere = frozenset().union(*self._racks)
        some_reader = any(reader.rack in everywhere for reader in self.readers if reader.rack)
        return some_reader and any(racks != everywhere for racks in self._racks)

    def room(self, taker: Taker) -> int:
        return max(0, self._size + (self._larger > 0) - self._had[taker.id])

    def near(self, taker: Taker, index: int) -> bool:
        """Who has no rack is near everything."""
        return not taker.rack or taker.rack in self._racks[index]

    def cut(self, given: Given, may: _May) -> None:
        for reader in self.readers:
            fits = [index for index in self.left if may(reader, index)]
            self.give(reader, fits[: self.room(reader)], given)

    def give(self, taker: Taker, indexes: list[int], given: Given) -> None:
        if not indexes:
            return
        given[taker.id] += [(self.topic, index) for index in indexes]
        self._had[taker.id] += len(indexes)
        self._larger -= self._had[taker.id] > self._size
        self.left = [index for index in self.left if index not in indexes]


def _co_partitioned(cuts: Iterable[_Cut]) -> Iterable[list[_Cut]]:
    """Topics of the same readers and as many partitions; those without racked readers count as 0
    partitions, as they do in Kafka.
    """
    groups: dict[tuple[object, int], list[_Cut]] = {}
    for cut in cuts:
        readers = tuple((reader.id, reader.rack) for reader in cut.readers)
        racked = any(reader.rack for reader in cut.readers)
        groups.setdefault((readers, cut.count if racked else 0), []).append(cut)
    return groups.values()


def _match_racks(together: list[_Cut], given: Given) -> None:
    first = together[0]
    if len(together) == 1:
        if first.racks_matter:
            first.cut(given, first.near)
        return
    if not any(reader.rack for reader in first.readers):
        return
    for index in range(first.count):
        for reader in first.readers:
            if all(cut.near(reader, index) and cut.room(reader) for cut in together):
                for cut in together:
                    cut.give(reader, [index], given)
                break


def racks_of(
    partitions: Mapping[TopicPartition, Iterable[int]], racks: Mapping[int, str | None]
) -> Racks:
    """The racks of each partition's replicas, from their broker ids."""
    return {
        place: frozenset(rack for node in replicas if (rack := racks.get(node)))
        for place, replicas in partitions.items()
    }
