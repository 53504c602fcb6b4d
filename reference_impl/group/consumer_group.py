"""A consumer group of KIP-848 and its members, as values.

The group has an epoch that rises whenever who takes part or what they subscribe to changes, a
target assignment worked out for one such epoch, and members that walk towards it one by one, each
with an epoch of its own. Offsets stand in `members.Group`, which has this as its `consumer_group`,
so that an id is one group whatever its members speak; a member may speak the classic protocol here
too.

`journal` holds what the last operation changed, as records in Kafka's order; who owns the group
takes them out and keeps them (`consumer_records.py`).

Sources: KIP-848; KIP-1251 (each partition remembers the epoch it was assigned in); observed on
3.9.2, where a new group begins at epoch 0, and on 4.3.1, where it begins at 1, so that the first
subscription makes it 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from touchstone.reference_impl.group.consumer_rules import NEWEST, ConsumerRules
from touchstone.reference_impl.group.protocol_tie_break import Order
from touchstone.reference_impl.wire.schema import Struct

JOIN_EPOCH, LEAVE_EPOCH, STATIC_LEAVE_EPOCH = 0, -1, -2
NEVER = -1  # the epoch before that of somebody who was never told one
TopicIdPartition = tuple[bytes, int]  # topic id, partition
Entry = tuple[int, Struct, Struct | None]  # type, key, value or tombstone


class MemberState(StrEnum):
    STABLE = "stable"
    UNREVOKED = "unrevoked"  # has been told to give partitions up and has not said it did
    UNRELEASED = "unreleased"  # waits for partitions that others still have


class GroupState(StrEnum):
    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"


class Topic(NamedTuple):
    id: bytes
    partitions: int
    hash: int = 0  # `xxh3.topic_hash`
    racks: tuple[tuple[str, ...], ...] = ()  # of each partition's replicas


class View(NamedTuple):
    """The topics there are: `version` grows with any change, `created` is the last new topic's."""

    topics: dict[str, Topic]
    version: int = 0
    created: int = 0


class RegexResolution(NamedTuple):
    """The topics that a regular expression stood for."""

    topics: frozenset[str]
    version: int  # of the view
    at: int  # ms


@dataclass(frozen=True, slots=True)
class Classic:
    """The fields of a member that speaks the classic protocol."""

    session_timeout: int  # ms
    protocols: tuple[tuple[str, bytes], ...]


@dataclass(slots=True)
class ConsumerMember:
    id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout: int = -1  # ms
    names: frozenset[str] = frozenset()
    regex: str = ""
    assignor: str | None = None
    classic: Classic | None = None
    epoch: int = JOIN_EPOCH
    previous_epoch: int = NEVER
    state: MemberState = MemberState.STABLE
    assigned: dict[TopicIdPartition, int] = field(
        default_factory=dict
    )  # -> epoch it was assigned in
    revoking: dict[TopicIdPartition, int] = field(default_factory=dict)
    expires: int | None = None  # ms
    revoke_by: int | None = None  # ms; a member of the consumer protocol
    join_by: int | None = None  # ms; a classic member that was told of a rebalance
    sync_by: int | None = None  # ms; a classic member that joined

    def walk_to(self, epoch: int) -> None:
        self.previous_epoch, self.epoch = self.epoch, epoch

    @property
    def settled(self) -> bool:
        """Whether it had another epoch after that of its join, or is away."""
        return self.previous_epoch != JOIN_EPOCH or self.epoch == STATIC_LEAVE_EPOCH

    def reconciled(self, epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.epoch == epoch

    @property
    def holds(self) -> set[TopicIdPartition]:
        return self.assigned.keys() | self.revoking.keys()

    @property
    def said(self) -> tuple[object, ...]:
        """The fields of the record of its metadata."""
        return (
            self.instance_id, self.rack_id, self.client_id, self.client_host,
            self.rebalance_timeout, self.names, self.regex, self.assignor, self.classic,
        )  # fmt: skip

    @property
    def stands(self) -> tuple[object, ...]:
        """The fields of the record of its current assignment."""
        held = self.assigned.items(), self.revoking.items()
        return self.epoch, self.previous_epoch, self.state, *map(frozenset, held)

    def settle(self) -> None:
        """What it holds in the order of its numbers, as a map that was read from a record."""
        self.assigned = dict(sorted(self.assigned.items()))
        self.revoking = dict(sorted(self.revoking.items()))

    @property
    def deadlines(self) -> list[int]:
        instants = (self.expires, self.revoke_by, self.join_by, self.sync_by)
        return [at for at in instants if at is not None]


class Downgrade(NamedTuple):
    """The group is a classic one from now on."""

    leaving: frozenset[str] = frozenset()
    joining: str | None = None  # a static member that came back with the classic protocol
    rebalances: bool = True
    generation: int | None = None  # else the group's epoch


@dataclass(slots=True)
class ConsumerGroup:
    id: str = ""
    epoch: int = 1  # what both epochs are before anybody subscribed: `rules.first_epoch`
    assignment_epoch: int = 1
    assigned_at: int = 0  # ms; when the target was last worked out
    members: dict[str, ConsumerMember] = field(default_factory=dict)
    # instance id -> member id, which outlives a member that went on under another instance id
    instances: dict[str, str] = field(default_factory=dict)
    target: dict[str, frozenset[TopicIdPartition]] = field(default_factory=dict)
    resolved: dict[str, RegexResolution] = field(default_factory=dict)  # by regular expression
    hash: int = 0  # of the subscribed topics
    topics: int = 0  # the hash of those that the log names, where it names them
    seen: int | None = None  # version of the view that `hash` was compared with
    resolving: bool = False
    watched: bool = False
    rules: ConsumerRules = field(default=NEWEST, compare=False)
    state: GroupState = GroupState.EMPTY
    ending: Downgrade | None = None
    journal: list[Entry] = field(default_factory=list)
    # Whether the member that was heard last may see a topic; its expressions match no other.
    sees: Callable[[str], bool] | None = field(default=None, compare=False)

    def names_of(self, member: ConsumerMember) -> frozenset[str]:
        found = self.resolved.get(member.regex) if member.regex else None
        return member.names | found.topics if found else member.names

    def subscribed(self) -> set[str]:
        return {name for member in self.members.values() for name in self.names_of(member)}

    def alike(self, besides: ConsumerMember | None = None) -> bool:
        """Whether all members but this one subscribe to the same."""
        wanted = [self.names_of(each) for each in self.members.values() if each is not besides]
        return all(names == wanted[0] for names in wanted)

    def readers_of(self, regex: str) -> int:
        return sum(member.regex == regex for member in self.members.values())

    def regexes(self) -> set[str]:
        return {member.regex for member in self.members.values() if member.regex}

    def assignor(self, default: str, order: Order) -> str:
        """The one that most members prefer; of equals the first in this order."""
        votes = Counter(m.assignor for m in self.members.values() if m.assignor is not None)
        return min(votes, key=lambda name: (-votes[name], order(name)), default=default)

    def held_by_others(self, member: ConsumerMember) -> set[TopicIdPartition]:
        return {
            place for other in self.members.values() if other is not member for place in other.holds
        }

    def supports(self, protocol_type: str, protocols: Collection[str]) -> bool:
        """Whether a classic member with these protocols fits in with those that are here."""
        mine = [m.classic for m in self.members.values() if m.classic is not None]
        sets = [{name for name, _ in classic.protocols} for classic in mine]
        return protocol_type == "consumer" and any(
            all(name in names for names in sets) for name in protocols
        )

    def add(self, member: ConsumerMember) -> None:
        self.members[member.id] = member
        if member.instance_id is not None:
            self.instances[member.instance_id] = member.id

    def remove(self, member: ConsumerMember) -> None:
        del self.members[member.id]
        self.target.pop(member.id, None)
        if member.instance_id is not None:
            self.instances.pop(member.instance_id, None)

    def deadline(self) -> int | None:
        return min((at for m in self.members.values() for at in m.deadlines), default=None)
