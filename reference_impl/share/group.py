"""A share group and its members, as values.

A share group has members that read the same partitions together; an epoch that rises with whoever
takes part or what they subscribe to; a target worked out for one such epoch; and topics whose
share partitions are initialised, because only those are assigned to anybody. A member takes its
target as a whole: nobody has to give anything up first.

Sources: KIP-932; ShareGroup, ShareGroupMember@4.3.1; observed on 4.3.1, where a new group
begins at epoch 1, so that the first subscription makes it 2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from touchstone.reference_impl.group.consumer_group import Topic

JOIN_EPOCH, LEAVE_EPOCH = 0, -1
EMPTY, STABLE = "Empty", "Stable"
TopicIdPartition = tuple[bytes, int]  # topic id, partition
Topics = dict[str, Topic]  # by name


@dataclass(slots=True)
class Member:
    id: str
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    names: frozenset[str] = frozenset()
    epoch: int = JOIN_EPOCH
    previous_epoch: int = -1
    assigned: frozenset[TopicIdPartition] = frozenset()
    expires: int | None = None  # ms


class TopicPartitions(NamedTuple):
    """Share partitions of one topic of which the share coordinator was told, or is being told."""

    name: str
    partitions: frozenset[int]
    at: int  # ms


Initials = dict[bytes, TopicPartitions]  # by topic id


@dataclass(slots=True)
class ShareGroup:
    id: str
    epoch: int = 1  # what both epochs are before anybody subscribed
    assignment_epoch: int = 1
    assigned_at: int | None = None  # ms
    members: dict[str, Member] = field(default_factory=dict)
    target: dict[str, frozenset[TopicIdPartition]] = field(default_factory=dict)
    hash: int = 0  # of the subscribed topics
    initialising: Initials = field(default_factory=dict)
    initialised: Initials = field(default_factory=dict)
    deleting: dict[bytes, str] = field(default_factory=dict)
    # The topics there were, those that were wanted, and the hash of both.
    hashed: tuple[Topics, set[str], int] | None = field(default=None, compare=False, repr=False)

    @property
    def state(self) -> str:
        return STABLE if self.members else EMPTY

    def subscribed(self) -> set[str]:
        return {name for member in self.members.values() for name in member.names}

    def assignable(self) -> set[TopicIdPartition]:
        return {(topic, at) for topic, row in self.initialised.items() for at in row.partitions}

    def assignment_is_due(self) -> bool:
        """Whether share partitions were initialised, or went, since the target was made."""
        if not self.members or not self.initialised:
            return False
        names: set[str] = self.subscribed()
        had: dict[bytes, set[int]] = {}
        for topic, at in set[TopicIdPartition]().union(*self.target.values()):
            had.setdefault(topic, set()).add(at)
        return any(
            row.name in names and row.partitions != had.get(topic, set())
            for topic, row in self.initialised.items()
        )

    def deadline(self) -> int | None:
        instants = [m.expires for m in self.members.values() if m.expires is not None]
        return min(instants, default=None)


def joined(known: Initials, new: Initials) -> Initials:
    """Both, partition for partition; the newer instants count."""
    merged = dict(known)
    for topic, row in new.items():
        before = known[topic].partitions if topic in known else frozenset()
        merged[topic] = row._replace(partitions=before | row.partitions)
    return merged


def without(known: Initials, gone: dict[bytes, frozenset[int]]) -> Initials:
    left = {
        topic: row._replace(partitions=row.partitions - gone.get(topic, frozenset()))
        for topic, row in known.items()
    }
    return {topic: row for topic, row in left.items() if row.partitions}
