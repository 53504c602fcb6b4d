"""A streams group of KIP-1071 and its members, as values.

A group has an epoch that rises when its members, its topology, its topics or the configs of its
assignment change; a target worked out for one such epoch; and members that walk towards it, each
with an epoch of its own. Offsets stand in `members.Group`, which has this as its `streams_group`.

What is not in the log (the configured topology, the epoch of endpoint information, who asked for a
shutdown) begins anew when a coordinator loads the group, and also when the group's first record is
written: until then there is no group whose fields could stay (seen on 4.3.1).

`journal` holds what the last operation changed, as records in Kafka's order.

Sources: KIP-1071; StreamsGroup, StreamsGroupMember@4.3.1; observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from typing import NamedTuple

from touchstone.reference_impl.group.streams.configured import ConfiguredTopology
from touchstone.reference_impl.group.streams.holders import Holders
from touchstone.reference_impl.group.streams.tasks import HeldTasks, Tasks
from touchstone.reference_impl.group.streams.topology import Topology
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

JOIN_EPOCH, LEAVE_EPOCH, STATIC_LEAVE_EPOCH = 0, -1, -2
UNVALIDATED = -1  # the epoch of a topology that is not ready
STREAMS = "streams"
Entry = tuple[int, Struct, Struct | None]  # type, key, value or tombstone


class MemberState(IntEnum):
    """The numbers are those of the record."""

    STABLE = 1
    UNREVOKED = 2  # has been told to give tasks up and has not said it did
    UNRELEASED = 3  # waits for tasks that others still have


class GroupState(StrEnum):
    EMPTY = "Empty"
    NOT_READY = "NotReady"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"


class Endpoint(NamedTuple):
    """Where a member answers interactive queries."""

    host: str
    port: int


@dataclass(slots=True)
class StreamsMember:
    id: str
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout: int = -1  # ms
    topology_epoch: int = -1
    process_id: str = ""
    endpoint: Endpoint | None = None
    tags: dict[str, str] = field(default_factory=dict)
    epoch: int = JOIN_EPOCH
    previous_epoch: int = JOIN_EPOCH
    state: MemberState = MemberState.STABLE
    assigned: HeldTasks = field(default_factory=HeldTasks)
    revoking: HeldTasks = field(default_factory=HeldTasks)
    # ms; instants are no part of what a member is
    expires: int | None = field(default=None, compare=False)
    revoke_by: int | None = field(default=None, compare=False)

    def reconciled(self, epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.epoch == epoch

    def walked_to(
        self, epoch: int, state: MemberState, assigned: HeldTasks, revoking: HeldTasks
    ) -> StreamsMember:
        return replace(
            self,
            epoch=epoch,
            previous_epoch=self.epoch,
            state=state,
            assigned=assigned,
            revoking=revoking,
        )

    @property
    def deadlines(self) -> list[int]:
        return [at for at in (self.expires, self.revoke_by) if at is not None]


@dataclass(slots=True)
class StreamsGroup:
    id: str
    epoch: int = 1  # what both epochs are before anybody joined
    assignment_epoch: int = 1
    assigned_at: int = 0  # ms; when the target was last worked out
    validated_epoch: int = 0  # of the topology that was ready, or UNVALIDATED
    hash: int = 0  # of the required topics
    configs: dict[str, str] = field(default_factory=dict)  # of the last assignment
    topology: Topology | None = None
    members: dict[str, StreamsMember] = field(default_factory=dict)
    target: dict[str, Tasks] = field(default_factory=dict)  # by member
    configured: ConfiguredTopology | None = None
    seen: int | None = None  # version of the view that `hash` was compared with
    endpoint_epoch: int = 0
    shutdown_by: str | None = None  # the member that asked for it
    delayed_until: int | None = None  # ms; the first assignment waits for more members
    holders: Holders = field(default_factory=Holders)
    watched: bool = False
    journal: list[Entry] = field(default_factory=list)

    @property
    def state(self) -> GroupState:
        if not self.members:
            return GroupState.EMPTY
        if self.topology is None or self.topology.epoch != self.validated_epoch:
            return GroupState.NOT_READY
        if self.epoch > self.assignment_epoch:
            return GroupState.ASSIGNING
        arrived = all(m.reconciled(self.assignment_epoch) for m in self.members.values())
        return GroupState.STABLE if arrived else GroupState.RECONCILING

    def subscribed(self) -> set[str]:
        """The topics that its members read; of a group without members nothing is kept for them."""
        if not self.members or self.topology is None:
            return set()
        return set(self.topology.reader_of)

    def put(self, member: StreamsMember) -> None:
        """A record of this member was written."""
        self.holders.move(self.members.get(member.id), member)
        self.members[member.id] = member

    def remove(self, member_id: str) -> None:
        """Whoever asked for a shutdown is forgotten with the last member."""
        self.holders.move(self.members.pop(member_id, None), None)
        self.target.pop(member_id, None)
        if not self.members:
            self.shutdown_by = None

    def forget_unwritten(self) -> None:
        """Fields that no record has: the group was not there before its first one."""
        self.configured = self.seen = self.shutdown_by = None
        self.endpoint_epoch = 0

    # --- offsets -----------------------------------------------------------------------------

    def check_commit(self, member_id: str, epoch: int, places: Iterable[tuple[str, int]]) -> int:
        """The error of a commit of these (topic, partition), NONE if it is taken.

        An older epoch will do where each task was the member's in it already, so that a commit
        that was under way when the epoch rose is not lost (KIP-1251).
        """
        if epoch < 0 and not self.members:
            return E.NONE
        member = self.members.get(member_id)
        if member is None:
            return E.UNKNOWN_MEMBER_ID
        if epoch == member.epoch:
            return E.NONE
        stale = epoch > member.epoch or not all(
            self._had(member, topic, index, epoch) for topic, index in places
        )
        return E.STALE_MEMBER_EPOCH if stale else E.NONE

    def check_fetch(self, member_id: str | None, epoch: int) -> int:
        """The error of a fetch of offsets with this id and epoch, NONE if it is answered."""
        if member_id is None and epoch < 0:
            return E.NONE
        member = self.members.get(member_id or "")
        if member is None:
            return E.UNKNOWN_MEMBER_ID
        return E.NONE if epoch == member.epoch else E.STALE_MEMBER_EPOCH

    def _had(self, member: StreamsMember, topic: str, index: int, epoch: int) -> bool:
        """Whether the partition's task has been the member's since this epoch."""
        if self.topology is None or topic not in self.topology.reader_of:
            return False
        task = (self.topology.reader_of[topic], index)
        since = member.assigned.active.get(task, member.revoking.active.get(task))
        return since is not None and since <= epoch

    # --- instants ----------------------------------------------------------------------------

    def deadline(self) -> int | None:
        instants = [at for member in self.members.values() for at in member.deadlines]
        if self.delayed_until is not None:
            instants.append(self.delayed_until)
        return min(instants, default=None)
