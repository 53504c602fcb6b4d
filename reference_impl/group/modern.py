"""A consumer group of KIP-848 and its members, as values.

The group has an epoch that rises whenever who takes part or what they subscribe to changes, a
target assignment worked out for one such epoch, and members that walk towards it one by one, each
with an epoch of its own. Offsets stand in `members.Group`, whose `modern` this is, so that an id
is one group whatever its members speak.

Sources: KIP-848; KIP-1251 (each partition remembers the epoch it was assigned in); observed on
4.3.1, where a new group begins at epoch 1, so that the first subscription makes it 2.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from reference_impl.group.ties import java_spread

JOIN_EPOCH, LEAVE_EPOCH, STATIC_LEAVE_EPOCH = 0, -1, -2
Place = tuple[bytes, int]  # topic id, partition
TopicView = dict[str, tuple[bytes, int]]  # name -> id, number of partitions


class MemberState(StrEnum):
    STABLE = "stable"
    UNREVOKED = "unrevoked"  # has been told to give partitions up and has not said it did
    UNRELEASED = "unreleased"  # waits for partitions that others still have


class GroupState(StrEnum):
    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"


@dataclass(slots=True)
class ModernMember:
    id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout: int = -1  # ms
    names: frozenset[str] = frozenset()
    regex: str = ""
    assignor: str | None = None
    epoch: int = JOIN_EPOCH
    previous_epoch: int = -1
    state: MemberState = MemberState.STABLE
    assigned: dict[Place, int] = field(default_factory=dict)  # -> epoch it was assigned in
    revoking: dict[Place, int] = field(default_factory=dict)
    expires: int | None = None  # ms
    revoke_by: int | None = None  # ms

    def walk_to(self, epoch: int) -> None:
        self.previous_epoch, self.epoch = self.epoch, epoch

    def reconciled(self, epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.epoch == epoch

    @property
    def holds(self) -> set[Place]:
        return self.assigned.keys() | self.revoking.keys()


@dataclass(slots=True)
class ModernGroup:
    epoch: int = 1  # what both epochs are before anybody subscribed
    assignment_epoch: int = 1
    assigned_at: int | None = None  # ms; when the target was last worked out
    members: dict[str, ModernMember] = field(default_factory=dict)
    instances: dict[str, str] = field(default_factory=dict)  # instance id -> member id
    target: dict[str, frozenset[Place]] = field(default_factory=dict)
    resolved: dict[str, frozenset[str]] = field(default_factory=dict)  # regex -> topics
    topics: TopicView = field(default_factory=dict)  # what was known of the subscribed ones

    @property
    def state(self) -> GroupState:
        if not self.members:
            return GroupState.EMPTY
        if self.epoch > self.assignment_epoch:
            return GroupState.ASSIGNING
        if all(m.reconciled(self.assignment_epoch) for m in self.members.values()):
            return GroupState.STABLE
        return GroupState.RECONCILING

    def names_of(self, member: ModernMember) -> frozenset[str]:
        return member.names | self.resolved.get(member.regex, frozenset())

    def subscribed(self) -> set[str]:
        return {name for member in self.members.values() for name in self.names_of(member)}

    def assignor(self, default: str) -> str:
        """The one that most members prefer; of equals the first in Java's map."""
        votes = Counter(m.assignor for m in self.members.values() if m.assignor is not None)
        return min(votes, key=lambda name: (-votes[name], java_spread(name)), default=default)

    def held_by_others(self, member: ModernMember) -> set[Place]:
        return {
            place
            for other in self.members.values()
            if other is not member
            for place in other.holds
        }

    def remove(self, member: ModernMember) -> None:
        del self.members[member.id]
        self.target.pop(member.id, None)
        if member.instance_id is not None:
            self.instances.pop(member.instance_id, None)
        if not any(other.regex == member.regex for other in self.members.values()):
            self.resolved.pop(member.regex, None)

    def replace(self, old: ModernMember, new_id: str) -> ModernMember:
        """A static member that left for a while is back, perhaps under another id."""
        del self.members[old.id]
        target = self.target.pop(old.id, frozenset())
        old.id, old.epoch, old.previous_epoch = new_id, JOIN_EPOCH, JOIN_EPOCH
        self.members[new_id], self.target[new_id] = old, target
        self.instances[old.instance_id or ""] = new_id
        return old

    def deadline(self) -> int | None:
        instants = [m.expires for m in self.members.values() if m.expires is not None]
        instants += [m.revoke_by for m in self.members.values() if m.revoke_by is not None]
        return min(instants, default=None)
