"""The coordinator of streams groups answers heartbeats that join, go on and leave.

A heartbeat is checked against its member; then all that it changes is worked out beside the group
and taken over at the end, so that who is refused has changed nothing that is written down. What no
record has changes at once, as in Kafka: the epoch of endpoints rises also where the request fails
(seen on 4.3.1). In Kafka's order: the member's metadata, the group's topology, the topics that this
needs (`configured.py`), the group's epoch, the target for it (`assignor.py`), and the member's step
towards that (`reconciliation.py`). A new group waits a while for more members before its first
assignment; later ones are not made more often than the assignment interval allows.

Every change is written into the group's journal as Kafka's records. Refusals are `ApiError`.

Sources: KIP-1071; GroupMetadataManager.streamsGroupHeartbeat@4.3.1; observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.group.consumer_group import View
from touchstone.reference_impl.group.java_maps import java_order, timeline_order
from touchstone.reference_impl.group.streams import records
from touchstone.reference_impl.group.streams.assignor import Taker, assign
from touchstone.reference_impl.group.streams.configured import ConfiguredTopology, configure
from touchstone.reference_impl.group.streams.endpoints import endpoints_of
from touchstone.reference_impl.group.streams.group import (
    JOIN_EPOCH,
    UNVALIDATED,
    Entry,
    MemberState,
    StreamsGroup,
    StreamsMember,
)
from touchstone.reference_impl.group.streams.heartbeat import (
    UNSET,
    Beat,
    HeartbeatResult,
    Settings,
)
from touchstone.reference_impl.group.streams.reconciliation import reconcile
from touchstone.reference_impl.group.streams.status import (
    ASSIGNMENT_DELAYED,
    SHUTDOWN_APPLICATION,
    STALE_TOPOLOGY,
    Status,
)
from touchstone.reference_impl.group.streams.tasks import Tasks, contained
from touchstone.reference_impl.group.streams.topology import Topology
from touchstone.reference_impl.group.xxh3 import group_hash
from touchstone.reference_impl.wire.errors import ErrorCode as E

_KEPT = (  # what a draft may have changed; the rest is no record's, and changes at once
    "epoch", "assignment_epoch", "assigned_at", "validated_epoch", "hash", "configs", "topology",
    "target", "seen",
)  # fmt: skip
_DELAYED = "Assignment delayed due to the configured"
_REJOIN = "The member must abandon all its partitions and rejoin."


@dataclass(slots=True)
class _Change:
    """What a heartbeat makes of its group, before the group is any different."""

    member: StreamsMember
    topology: Topology
    configured: ConfiguredTopology
    hash: int
    bump: bool
    statuses: list[Status] = field(default_factory=list)
    journal: list[Entry] = field(default_factory=list)


class StreamsCoordinator:
    """`view()` is every topic there is; `settings(group id)` what counts for that group."""

    def __init__(self, view: Callable[[], View], settings: Callable[[str], Settings]) -> None:
        self.view = view
        self.settings = settings

    # --- inputs ------------------------------------------------------------------------------

    def beat(self, group: StreamsGroup, beat: Beat, now: int, *, known: bool) -> HeartbeatResult:
        """A member that joins or goes on. Raises ApiError; then nothing is to be written.

        `known`: a group of this id, of whatever kind, was there before this request.
        """
        settings = self.settings(group.id)
        joins = beat.epoch == JOIN_EPOCH
        if joins and len(group.members) >= settings.max_size:
            words = f"has reached its maximum capacity of {settings.max_size} members."
            raise ApiError(E.GROUP_MAX_SIZE_REACHED, f"The streams group {words}")
        member = self._member(group, beat)
        change = self._change(group, member, beat, settings)
        draft = self._draft(group, change, settings, now)
        target = self._target(group, draft, change, settings, now)
        before, taken = member.assigned, group.holders
        if change.member.reconciled(draft.assignment_epoch):
            reached = change.member
        else:
            epoch, owned = draft.assignment_epoch, beat.owned
            reached = reconcile(change.member, target, epoch, owned=owned, taken=taken)
        if reached != change.member:
            change.journal.append(records.current(draft, reached))
            waits = reached.state is MemberState.UNREVOKED
            reached.revoke_by = now + reached.rebalance_timeout if waits else None
        reached.expires = now + settings.session_ms
        if beat.shutdown:
            group.shutdown_by = group.shutdown_by or reached.id
        tell = joins or reached.assigned != before
        group.endpoint_epoch += tell and reached.endpoint is not None
        ids = [each for each in timeline_order(group.members) if each != reached.id]
        others = [group.members[each] for each in ids]
        told = HeartbeatResult(
            member_id=reached.id,
            epoch=reached.epoch,
            statuses=self._statuses(group, change),
            assigned=reached.assigned if tell else None,
            endpoint_epoch=group.endpoint_epoch if known else 0,
            endpoints=(
                endpoints_of([*others, reached], change.configured, self._counts())
                if group.endpoint_epoch != beat.endpoint_epoch
                else None
            ),
            missing=change.configured.missing,
        )
        _take_over(group, draft)
        if change.member != member:
            group.put(change.member)
        if reached != change.member:
            group.put(reached)
        group.members[reached.id] = reached  # with its instants
        group.journal += change.journal
        return told

    def leave(self, group: StreamsGroup, beat: Beat) -> HeartbeatResult:
        if beat.shutdown:
            group.shutdown_by = group.shutdown_by or beat.member_id
        self._remove(group, _known(group, beat.member_id))
        return HeartbeatResult(member_id=beat.member_id, epoch=beat.epoch)

    def tick(self, group: StreamsGroup, now: int) -> None:
        """Members that were silent for a session, or kept what they had to give up, are out; and a
        first assignment that was waited for is made.
        """
        for member in sorted(group.members.values(), key=lambda m: min(m.deadlines, default=0)):
            if any(at <= now for at in member.deadlines):
                self._remove(group, member)
        if group.delayed_until is not None and group.delayed_until <= now:
            group.delayed_until = None
            due = group.members and group.epoch > group.assignment_epoch
            if due and group.configured is not None:  # as Kafka; else the next heartbeat assigns
                group.journal += self._assign(group, group.configured, group.configs, now)

    def adopt(self, group: StreamsGroup, now: int) -> None:
        """A group that was loaded: sessions begin anew."""
        for member in group.members.values():
            member.expires = now + self.settings(group.id).session_ms
            if member.state is MemberState.UNREVOKED:
                member.revoke_by = now + member.rebalance_timeout

    # --- the steps of a heartbeat ------------------------------------------------------------

    def _member(self, group: StreamsGroup, beat: Beat) -> StreamsMember:
        if beat.epoch == JOIN_EPOCH:
            return group.members.get(beat.member_id) or StreamsMember(beat.member_id)
        member = _known(group, beat.member_id)
        if beat.epoch > member.epoch:
            raise ApiError(E.FENCED_MEMBER_EPOCH, _apart("greater", beat.epoch, member.epoch))
        if beat.epoch < member.epoch:
            lost = beat.epoch == member.previous_epoch and beat.owned is not None
            if not lost or not contained(beat.owned or Tasks(), member.assigned):
                raise ApiError(E.FENCED_MEMBER_EPOCH, _apart("smaller", beat.epoch, member.epoch))
        return member

    def _change(
        self, group: StreamsGroup, member: StreamsMember, beat: Beat, settings: Settings
    ) -> _Change:
        updated = _updated(member, beat)
        journal = [] if updated == member else [records.member(group, updated)]
        topology = _topology_of(group, beat)
        if group.topology is None:
            journal.append(records.topology(group, topology))
        configured, hashed = self._configured(group, topology)
        if configured.ready:
            _check_owned(configured, beat.owned)
        validated = topology.epoch if configured.ready else UNVALIDATED
        bump = (
            updated != member
            or hashed != group.hash
            or validated != group.validated_epoch
            or settings.configs != group.configs
        )
        statuses = []
        if group.topology is not None and updated.topology_epoch < group.topology.epoch:
            words = f"The member's topology epoch {updated.topology_epoch} is behind the group's"
            words = f"{words} topology epoch {group.topology.epoch}."
            statuses.append(Status(STALE_TOPOLOGY, words))
        return _Change(updated, topology, configured, hashed, bump, statuses, journal)

    def _configured(
        self, group: StreamsGroup, topology: Topology
    ) -> tuple[ConfiguredTopology, int]:
        """The configured topology and the hash of its topics, as they were if no topic changed."""
        if group.configured is not None and group.seen == self.view().version:
            return group.configured, group.hash
        topics = self.view().topics
        hashed = group_hash(
            {name: topics[name].hash for name in topology.required if name in topics}
        )
        if group.configured is not None and group.topology is not None and hashed == group.hash:
            return group.configured, hashed
        group.configured = configure(topology, self._counts())
        return group.configured, hashed

    def _draft(
        self, group: StreamsGroup, change: _Change, settings: Settings, now: int
    ) -> StreamsGroup:
        """The group as it is to be, but for its target and the member's step."""
        draft = replace(
            group,
            topology=change.topology,
            configured=change.configured,
            seen=self.view().version,
            members=dict(group.members),
            target=dict(group.target),
            journal=[],
        )
        if change.bump:
            draft.epoch += 1
            draft.hash = change.hash
            ready = change.configured.ready
            draft.validated_epoch = change.topology.epoch if ready else UNVALIDATED
            draft.configs = settings.configs
            change.journal.append(records.epoch(draft))
        if not group.members and settings.initial_delay_ms > 0 and group.delayed_until is None:
            group.delayed_until = now + settings.initial_delay_ms
        return draft

    def _target(
        self,
        group: StreamsGroup,
        draft: StreamsGroup,
        change: _Change,
        settings: Settings,
        now: int,
    ) -> Tasks:
        """The member's target, worked out anew if it is time to."""
        member = change.member
        if group.delayed_until is not None:
            words = f"{_DELAYED} initial rebalance delay."
            change.statuses.append(Status(ASSIGNMENT_DELAYED, words))
            return Tasks()
        if draft.assignment_epoch < draft.epoch:
            interval = settings.assignment_interval_ms
            if draft.assigned_at and interval and now < draft.assigned_at + interval:
                words = f"{_DELAYED} assignment interval."
                change.statuses.append(Status(ASSIGNMENT_DELAYED, words))
            else:
                draft.members[member.id] = member
                change.journal += self._assign(draft, change.configured, settings.configs, now)
        return draft.target.get(member.id, Tasks())

    def _assign(
        self,
        group: StreamsGroup,
        configured: ConfiguredTopology,
        configs: dict[str, str],
        now: int,
    ) -> list[Entry]:
        before = group.target
        if configured.ready and configured.subtopologies is not None:
            takers = [
                Taker(one.id, one.process_id, before.get(one.id, Tasks()))
                for one in group.members.values()
            ]
            replicas = int(configs.get("num.standby.replicas", 0))
            group.target = assign(takers, configured.subtopologies, replicas)
        else:
            group.target = dict.fromkeys(group.members, Tasks())
        group.assignment_epoch, group.assigned_at = group.epoch, now
        changed = [
            each for each in java_order(group.members) if group.target[each] != before.get(each)
        ]
        return [*(records.target(group, each) for each in changed), records.target_epoch(group)]

    def _statuses(self, group: StreamsGroup, change: _Change) -> tuple[Status, ...]:
        found = list(change.statuses)
        if change.configured.status is not None:
            found.append(change.configured.status)
        if group.shutdown_by is not None:
            words = f"Streams group member {group.shutdown_by} encountered a fatal error and"
            words = f"{words} requested a shutdown for the entire application."
            found.append(Status(SHUTDOWN_APPLICATION, words))
        return tuple(found)

    def _counts(self) -> dict[str, int]:
        return {name: topic.partitions for name, topic in self.view().topics.items()}

    def _remove(self, group: StreamsGroup, member: StreamsMember) -> None:
        group.remove(member.id)
        group.epoch += 1
        group.journal += [*records.member_gone(group, member.id), records.epoch(group)]


def _known(group: StreamsGroup, member_id: str) -> StreamsMember:
    member = group.members.get(member_id)
    if member is None:
        words = f"Member {member_id} is not a member of group {group.id}."
        raise ApiError(E.UNKNOWN_MEMBER_ID, words)
    return member


def _updated(member: StreamsMember, beat: Beat) -> StreamsMember:
    """A copy with what the heartbeat says of itself."""
    timeout = beat.rebalance_timeout
    return replace(
        member,
        rack_id=member.rack_id if beat.rack_id is None else beat.rack_id,
        rebalance_timeout=member.rebalance_timeout if timeout == UNSET else timeout,
        topology_epoch=member.topology_epoch if beat.topology is None else beat.topology.epoch,
        client_id=beat.client_id,
        client_host=beat.client_host,
        process_id=member.process_id if beat.process_id is None else beat.process_id,
        tags=member.tags if beat.tags is None else beat.tags,
        endpoint=member.endpoint if beat.endpoint is None else beat.endpoint,
    )


def _topology_of(group: StreamsGroup, beat: Beat) -> Topology:
    """The group's topology after this heartbeat. Raises ApiError for another one."""
    if group.topology is None:
        if beat.topology is None:
            raise ApiError(E.UNKNOWN_SERVER_ERROR)
        return beat.topology
    known, told = group.topology, beat.topology
    if told is not None and known.epoch <= told.epoch and known != told:
        raise ApiError(E.INVALID_REQUEST, "Topology updates are not supported yet.")
    return known


def _check_owned(configured: ConfiguredTopology, owned: Tasks | None) -> None:
    """Raise ApiError for tasks that the topology does not have."""
    known = configured.subtopologies or {}
    for tasks in (owned or Tasks()).of_kinds():
        for subtopology, index in sorted(tasks):
            if subtopology not in known:
                words = f"Subtopology {subtopology} does not exist in the topology."
                raise ApiError(E.INVALID_REQUEST, words)
            count = known[subtopology].tasks
            if not 0 <= index < count:
                words = f"Task {index} for subtopology {subtopology} is invalid. Number of tasks"
                words = f"{words} for this subtopology: {count}"
                raise ApiError(E.INVALID_REQUEST, words)


def _take_over(group: StreamsGroup, draft: StreamsGroup) -> None:
    for name in _KEPT:
        setattr(group, name, getattr(draft, name))


def _apart(which: str, received: int, known: int) -> str:
    words = f"The streams group member has a {which} member epoch ({received}) than the one known"
    return f"{words} by the group coordinator ({known}). {_REJOIN}"
