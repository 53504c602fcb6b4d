"""A group and its members are values: who they are, what they wait for, what they agree on.

No decision stands here that depends on the group's state (that is `states.py`) and nothing is
answered (that is `coordinator.py`); this file keeps the books consistent.

Sources: GROUP-11, GROUP-13, GROUP-15; GroupMetadata.scala and MemberMetadata.scala@1.0.2, 2.8.2;
KIP-345 (instance ids), KIP-394 (pending ids).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from touchstone.reference_impl.group.consumer_group import ConsumerGroup
from touchstone.reference_impl.group.protocol_tie_break import Order
from touchstone.reference_impl.group.states import State
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.wire.embedded.consumer_protocol import decode_subscription
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.group.offsets import CommittedOffset
    from touchstone.reference_impl.group.streams.group import StreamsGroup

CONSUMER = "consumer"
Protocols = list[tuple[str, bytes]]
Offsets = dict[tuple[str, int], "CommittedOffset"]  # by topic and partition


OLDEST = bytes(2)  # the version by which a coordinator reads subscriptions


@dataclass(slots=True)
class Member:
    id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: Protocols
    assignment: bytes = b""
    joining: Ticket[Struct] | None = None
    syncing: Ticket[Struct] | None = None
    expires_at_ms: int | None = None
    fresh: bool = False  # its join is its first and nobody but us knows its id

    def metadata(self, protocol: str | None) -> bytes:
        for name, data in self.protocols:
            if name == protocol:
                return data
        return b""

    def names(self) -> list[str]:
        return [name for name, _ in self.protocols]

    def vote(self, candidates: set[str]) -> str:
        return next(name for name, _ in self.protocols if name in candidates)


@dataclass(slots=True)
class Group:
    id: str
    state: State = State.EMPTY
    generation: int = 0
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str | None = None
    members: dict[str, Member] = field(default_factory=dict)
    instances: dict[str, str] = field(default_factory=dict)  # instance id -> member id
    pending: dict[str, int] = field(default_factory=dict)  # ids given out -> when they lapse
    unsynced: set[str] = field(default_factory=set)
    join_deadline: int | None = None
    join_may_grow_ms: int | None = None  # what the first phase may still be extended by
    grown: bool = False  # somebody came since the phase began or was extended
    abandoned: bool = False  # Kafka threw where its join phase ends, and nobody tries again
    sync_deadline: int | None = None
    emptied_at_ms: int = 0
    offsets: Offsets = field(default_factory=dict)
    unstable: dict[int, Offsets] = field(default_factory=dict)  # by producer id
    support: Counter[str] = field(default_factory=Counter)
    """Protocol -> members that have it; one that names it twice counts twice, as in Kafka
    (GroupMetadata.add@2.8.2, ClassicGroup.add@4.3.1), and then nobody has what all of them have."""
    earliest_expiry_ms: int | None = None  # no member's time is up before; None: not known
    absent: str | None = None  # one who had not joined when it was last looked for
    written: bool = False  # it was read from a record of its own, not only from its offsets
    consumer_group: ConsumerGroup | None = None  # its other half if its members speak KIP-848
    streams_group: StreamsGroup | None = None  # its other half if its members speak KIP-1071

    @property
    def newer_half(self) -> ConsumerGroup | StreamsGroup | None:
        """Its other half, if it has one; a group without one is a classic group."""
        return self.streams_group if self.consumer_group is None else self.consumer_group

    @property
    def newer_members(self) -> bool:
        """Whether it has members in its other half."""
        half = self.newer_half
        return half is not None and bool(half.members)

    def add(self, member: Member, protocol_type: str) -> None:
        if not self.members:
            self.protocol_type = protocol_type
        self.members[member.id] = member
        self.support.update(member.names())
        if member.expires_at_ms is not None:
            self.due_by(member.expires_at_ms)
        if member.instance_id is not None:
            self.instances[member.instance_id] = member.id
        if self.leader is None:
            self.leader = member.id

    def remove(self, member_id: str) -> Member:
        member = self.members.pop(member_id)
        self.support.subtract(member.names())
        instance = member.instance_id
        if instance is not None and self.instances.get(instance) == member_id:
            del self.instances[instance]
        self.unsynced.discard(member_id)
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)
        return member

    def clear(self) -> None:
        """Remove all members."""
        self.members.clear()
        self.instances.clear()
        self.support.clear()
        self.leader = None

    def change(self, member: Member, protocols: Protocols) -> None:
        """The member supports other protocols from now on."""
        before, member.protocols = member.names(), protocols
        names = member.names()
        if names != before:
            self.support.subtract(before)
            self.support.update(names)

    def touch(self, member: Member, now: int) -> None:
        """Its session begins anew."""
        member.expires_at_ms = now + member.session_timeout_ms
        self.due_by(member.expires_at_ms)

    def due_by(self, at: int) -> None:
        """Some session ends at this instant (ms): the next look at sessions comes no later."""
        if self.earliest_expiry_ms is not None:
            self.earliest_expiry_ms = min(self.earliest_expiry_ms, at)

    def replace(
        self, old_id: str, new_id: str
    ) -> tuple[Member, Ticket[Struct] | None, Ticket[Struct] | None]:
        """A static member under a new id; and who waited under the old one."""
        member = self.members.pop(old_id)
        waited = member.joining, member.syncing
        member.id, member.joining, member.syncing = new_id, None, None
        self.members[new_id] = member
        if member.instance_id is not None:
            self.instances[member.instance_id] = new_id
        if self.leader == old_id:
            self.leader = new_id
        return member, *waited

    def assignments(self) -> dict[str, bytes]:
        """Return what each member is assigned, by member id."""
        return {member.id: member.assignment for member in self.members.values()}

    def has_room(self, member_id: str, limit: int, *, count_all: bool = False) -> bool:
        """Whether a group of at most `limit` members takes this one.

        With `count_all`, every member counts towards the limit; otherwise, while the group prepares
        a rebalance, only members whose JoinGroup waits.
        """
        if count_all:
            return bool(member_id) or len(self.members) < limit
        if self.state is State.EMPTY or len(self.members) < limit:
            return True
        if self.state is State.PREPARING:
            member = self.members.get(member_id)
            waiting = sum(m.joining is not None for m in self.members.values())
            return (member is not None and member.joining is not None) or waiting < limit
        return member_id in self.members

    def candidates(self) -> set[str]:
        """Protocols that every member supports."""
        everybody = len(self.members)
        return {name for name, count in self.support.items() if count == everybody > 0}

    def supports(self, protocol_type: str, protocols: Protocols) -> bool:
        if self.newer_half is not None:
            return False
        names = {name for name, _ in protocols}
        if self.state is State.EMPTY:
            return bool(protocol_type and names)
        # All of no members support anything: who was given an id joins after the last has left.
        common = any(self.support[name] == len(self.members) for name in names)
        return protocol_type == self.protocol_type and common

    def elected(self, tie: Order) -> str | None:
        """The protocol most members prefer among those all support (GROUP-15); None without one."""
        candidates = self.candidates()
        if not candidates:
            return None
        votes = Counter(member.vote(candidates) for member in self.members.values())
        most = max(votes.values())
        return min((name for name in votes if votes[name] == most), key=tie)

    def is_stuck(self, tie: Order, *, reads: bool) -> bool:
        """Whether Kafka throws where the join phase ends: no protocol can be elected
        (selectProtocol), or with `reads` a consumer's metadata of it cannot be read
        (computeSubscribedTopics).
        """
        chosen = self.elected(tie)
        return bool(self.members) and (chosen is None or (reads and not self.readable(chosen)))

    def abandon_join(self, *, tries_again: bool) -> bool:
        """Kafka throws at the end of the join phase; returns whether a timer was what ended it, so
        that nobody is told. With `tries_again` the next join ends any phase but a group's first.
        """
        by_timer = self.join_may_grow_ms is not None
        self.generation += 1  # before what throws (initNextGeneration)
        self.join_deadline = self.join_may_grow_ms = None
        self.abandoned = by_timer or not tries_again
        return by_timer

    def stop_waiting(self, ticket: Ticket[Struct]) -> None:
        """Whose join ends with what Kafka throws is no longer waited with, nor is its session."""
        for member in self.members.values():
            if member.joining is ticket:
                member.joining = member.expires_at_ms = None

    def answer_apart(self, ticket: Ticket[Struct]) -> None:
        """Whose join is answered with what Kafka throws still counts as one who has joined, though
        nobody hears what else it is answered, and its session is not watched.
        """
        for member in self.members.values():
            if member.joining is ticket:
                member.joining, member.expires_at_ms = Ticket(), None

    def all_joined(self) -> bool:
        if self.pending:
            return False
        absent = self.members.get(self.absent or "")
        if absent is None or absent.joining is not None:
            missing = (m.id for m in reversed(self.members.values()) if m.joining is None)
            self.absent = next(missing, None)
        return self.absent is None

    def longest_rebalance(self) -> int:
        return max((m.rebalance_timeout_ms for m in self.members.values()), default=0)

    def subscribed(self) -> set[str] | None:
        """Topics that consumers of this group subscribe to; None when that cannot be known."""
        half = self.newer_half
        if half is not None:
            return half.subscribed()
        if self.protocol_type != CONSUMER or self.protocol is None:
            return None
        topics: set[str] = set()
        for member in self.members.values():
            try:
                _, subscription, _ = decode_subscription(member.metadata(self.protocol))
            except ValueError:
                return None
            topics.update(subscription["topics"])
        return topics

    def readable(self, protocol: str) -> bool:
        """Whether every consumer's metadata of this protocol is a subscription, or too short."""
        if self.protocol_type != CONSUMER:
            return True
        data = [member.metadata(protocol) for member in self.members.values()]
        if any(len(each) < 2 for each in data):  # no version: Kafka expects that, and gives up
            return True
        try:
            for each in data:
                decode_subscription(OLDEST + each[2:])  # only topics are wanted, whatever follows
        except ValueError:
            return False
        return True

    def deadline(self) -> int | None:
        """The instant at which something of this group may be due.

        Sessions are prolonged by every heartbeat, so the earliest end is only looked for when the
        one known last has come: until then it is a bound, and too early is no harm.
        """
        if self.earliest_expiry_ms is None:
            ends = (m.expires_at_ms for m in self.members.values() if m.expires_at_ms is not None)
            self.earliest_expiry_ms = min(ends, default=None)
        instants = [] if self.earliest_expiry_ms is None else [self.earliest_expiry_ms]
        instants += self.pending.values()
        phases = (self.join_deadline, self.sync_deadline)
        instants += [at for at in phases if at is not None]
        return min(instants, default=None)
