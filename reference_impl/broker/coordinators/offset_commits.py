"""OffsetCommit and TxnOffsetCommit bring offsets into a group by the same rules.

Both check that the partition exists, find or create the group, compare the metadata with
`offset.metadata.max.bytes` (which counts Java chars, so UTF-16 units, whatever its name says), and
make the stored value from a row. What each asks of members, and how it answers, is its own.

Sources: OFFS-03, OFFS-05, OFFS-16, OFFS-23; GroupMetadataManager.validateOffsetMetadataLength at
1.0.2, 2.8.2; observed on all five releases.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.group.offsets import CommittedOffset
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records.check import wrapped
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.cluster.topology import StoredOffset, Topic
    from touchstone.reference_impl.group.members import Group

UNSET = -1


class OffsetCommits:
    """What OffsetCommit and TxnOffsetCommit have in common."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def present(self, topic: Topic | None, indexes: Iterable[int]) -> Collection[int]:
        """The partitions of a topic whose commits are considered further."""
        if topic is None:
            return ()
        if not self._broker.persona.quirk("offsets.partitions-are-checked"):
            return frozenset(indexes)
        return {index for index in indexes if topic.partition(index) is not None}

    def named(self, indexes: Sequence[int]) -> Sequence[int]:
        """The partitions of a topic in a request, as often as they are answered."""
        once = self._broker.persona.quirk("offsets.partitions-are-answered-once")
        return list(dict.fromkeys(indexes)) if once else indexes

    def group_for(self, group_id: str, now: int, *, missing: int) -> Group | int:
        """The group, which is created if it does not exist; else `missing`, the error for that."""
        coordinator = self._broker.room(Groups).coordinator
        group = coordinator.groups.get(group_id)
        if group is None:
            if missing:
                return missing
            group = coordinator.create(group_id, now)
        self._broker.room(Groups).forget_deleted()
        return group

    def taker(self, now: int, *, retention: int = UNSET) -> Take:
        """Returns what makes the stored offset of a row, its topic and its time, or the error.

        Times are in ms, UNSET for the usual. Made once for a request: what its rows have in common
        is looked up here, and all of them have one age.
        """
        age = self._broker.room(Groups).log.next_age()
        longest = self._broker.room(Groups).number("offset.metadata.max.bytes")
        lives = None if retention == UNSET else retention
        if lives is None and self._broker.persona.quirk("offsets.live-from-their-commit"):
            lives = self._broker.room(Groups).retention_ms()

        def take(row: Struct, topic: Topic, made: int) -> CommittedOffset | int:
            metadata = row["committed_metadata"] or ""
            if 2 * len(metadata) > longest and chars(metadata) > longest:
                return ErrorCode.OFFSET_METADATA_TOO_LARGE
            at = now if made == UNSET else made
            return CommittedOffset(
                row["committed_offset"],
                row["committed_leader_epoch"],
                metadata,
                at,
                None if lives is None else wrapped(at + lives),
                topic,
                age,
            )

        return take

    def in_zookeeper(self, group_id: str) -> dict[tuple[str, int], StoredOffset]:
        """The offsets of a group that version 0 keeps in ZooKeeper; every broker sees the same."""
        return self._broker.cluster.zookeeper_offsets.setdefault(group_id, {})


Take = Callable[[Struct, "Topic", int], CommittedOffset | int]


def chars(text: str) -> int:
    """Java's String.length."""
    return len(text.encode("utf-16-be", "surrogatepass")) // 2
