"""Membership of share groups: a heartbeat joins, goes on, leaves and is told what to read.

A heartbeat is checked; its member takes over what it says; the group's epoch rises if that changes
who reads what, if a subscribed topic is not what it was, or if share partitions were initialised
since the last assignment; the target is worked out for the newest epoch, but not more often than
the assignment interval allows; and the member comes to it. What is subscribed to and not known to
the share coordinator is to be initialised: `HeartbeatResult.initialise` says which.

Refusals are `ApiError`, a code and Kafka's words.

Sources: GroupMetadataManager.shareGroupHeartbeat, GroupCoordinatorService@4.3.1; KIP-932;
observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.group.xxh3 import group_hash
from touchstone.reference_impl.share.assignor import simple
from touchstone.reference_impl.share.group import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    Initials,
    Member,
    ShareGroup,
    TopicIdPartition,
    TopicPartitions,
    Topics,
    joined,
    without,
)
from touchstone.reference_impl.wire.errors import ErrorCode as E

_REJOIN = "The member must abandon all its partitions and rejoin."
_LONGEST_ID = 36


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a group, from configs; durations in ms."""

    session_ms: int
    assignment_interval_ms: int
    max_size: int
    retry_ms: int  # an initialisation that was not heard of for so long is tried again


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """A ShareGroupHeartbeat; None stands for what did not change."""

    group_id: str
    member_id: str
    epoch: int
    rack_id: str | None = None
    names: frozenset[str] | None = None
    client_id: str = ""
    client_host: str = ""


@dataclass(frozen=True, slots=True)
class HeartbeatResult:
    epoch: int
    assignment: frozenset[TopicIdPartition] | None = None
    initialise: Initials | None = None


def check(beat: Beat) -> None:
    """Raise ApiError for what no group would take."""
    if not 0 < len(beat.member_id) <= _LONGEST_ID:
        raise ApiError(E.INVALID_REQUEST, "")
    for text, field in ((beat.group_id, "GroupId"), (beat.rack_id, "RackId")):
        if text == "":
            raise ApiError(E.INVALID_REQUEST, f"{field} can't be empty.")
    if beat.epoch == JOIN_EPOCH and not beat.names:
        raise ApiError(E.INVALID_REQUEST, "SubscribedTopicNames must be set in first request.")
    if beat.epoch < LEAVE_EPOCH:
        raise ApiError(E.INVALID_REQUEST, "MemberEpoch is invalid.")


class Membership:
    """`topics()` is every topic there is; `settings(group id)` what counts for that group."""

    def __init__(self, topics: Callable[[], Topics], settings: Callable[[str], Settings]) -> None:
        self._topics = topics
        self._settings = settings

    def beat(self, group: ShareGroup, beat: Beat, now: int) -> HeartbeatResult:
        """A member that joins or goes on. Raises ApiError; then nothing has changed."""
        settings = self._settings(group.id)
        if beat.member_id not in group.members and len(group.members) >= settings.max_size:
            words = f"has reached its maximum capacity of {settings.max_size} members."
            raise ApiError(E.GROUP_MAX_SIZE_REACHED, f"The share group {words}")
        member = self._member(group, beat)
        before = member.assigned
        changed = self._subscribe(member, beat)
        if group.assignment_epoch >= group.epoch:
            changed |= group.assignment_is_due()
        changed = self._refresh(group, bump=changed)
        self._assign(group, settings, now)
        self._reconcile(group, member, changed)
        member.expires = now + settings.session_ms
        full = beat.epoch == JOIN_EPOCH or beat.names is not None
        told = member.assigned if full or member.assigned != before else None
        return HeartbeatResult(member.epoch, told, self._initialise(group, settings, now))

    def leave(self, group: ShareGroup, member_id: str) -> None:
        member = group.members.get(member_id)
        if member is None:
            words = f"Member {member_id} is not a member of group {group.id}."
            raise ApiError(E.UNKNOWN_MEMBER_ID, words)
        self._remove(group, member)

    def tick(self, group: ShareGroup, now: int) -> list[Member]:
        """Sessions that are over end; whose they were."""
        late = [m for m in group.members.values() if m.expires is not None and m.expires <= now]
        for member in late:
            self._remove(group, member)
        return late

    def initialised(self, group: ShareGroup, done: dict[bytes, frozenset[int]], now: int) -> None:
        """The share coordinator has these."""
        names = {topic.id: name for name, topic in self._topics().items()}
        rows = {
            t: TopicPartitions(names.get(t, "<UNKNOWN>"), parts, now) for t, parts in done.items()
        }
        group.initialised = joined(group.initialised, rows)
        group.initialising = without(group.initialising, done)

    def failed(self, group: ShareGroup, these: dict[bytes, frozenset[int]]) -> None:
        """The share coordinator did not take these; they are tried again."""
        group.initialising = without(group.initialising, these)

    # --- steps -------------------------------------------------------------------------------

    def _member(self, group: ShareGroup, beat: Beat) -> Member:
        member = group.members.get(beat.member_id)
        if member is None:
            if beat.epoch != JOIN_EPOCH:
                words = f"Member {beat.member_id} is not a member of group {group.id}."
                raise ApiError(E.UNKNOWN_MEMBER_ID, words)
            member = group.members[beat.member_id] = Member(beat.member_id)
        if beat.epoch == JOIN_EPOCH:
            return member
        if beat.epoch > member.epoch:
            raise ApiError(E.FENCED_MEMBER_EPOCH, _apart("greater", beat.epoch, member))
        if beat.epoch < member.epoch and beat.epoch != member.previous_epoch:
            raise ApiError(E.FENCED_MEMBER_EPOCH, _apart("smaller", beat.epoch, member))
        return member

    def _subscribe(self, member: Member, beat: Beat) -> bool:
        before = member.names
        member.names = before if beat.names is None else beat.names
        member.rack_id = member.rack_id if beat.rack_id is None else beat.rack_id
        member.client_id, member.client_host = beat.client_id, beat.client_host
        return member.names != before

    def _refresh(self, group: ShareGroup, *, bump: bool) -> bool:
        """Another epoch if asked for, or if a subscribed topic is not what it was."""
        hashed = self._hash(group)
        bump |= hashed != group.hash
        group.hash = hashed
        group.epoch += bump
        return bump

    def _hash(self, group: ShareGroup) -> int:
        """Worked out anew where the topics or what is wanted of them changed."""
        known, names = self._topics(), group.subscribed()
        if group.hashed is None or group.hashed[0] is not known or group.hashed[1] != names:
            found = group_hash({n: known[n].hash for n in names if n in known})
            group.hashed = known, names, found
        return group.hashed[2]

    def _assign(self, group: ShareGroup, settings: Settings, now: int) -> None:
        if group.assignment_epoch >= group.epoch:
            return
        interval = settings.assignment_interval_ms
        if group.assigned_at is not None and interval and now < group.assigned_at + interval:
            return
        known = self._topics()
        subscriptions = {
            member.id: frozenset(known[name].id for name in member.names if name in known)
            for member in group.members.values()
        }
        group.target = simple(subscriptions, group.assignable(), group.target)
        group.assignment_epoch, group.assigned_at = group.epoch, now

    def _reconcile(self, group: ShareGroup, member: Member, changed: bool) -> None:
        if not changed and member.epoch == group.assignment_epoch:
            return
        known = self._topics()
        wanted = {known[name].id for name in member.names if name in known}
        target = group.target.get(member.id, frozenset())
        member.assigned = frozenset(place for place in target if place[0] in wanted)
        if member.epoch != group.assignment_epoch:
            member.previous_epoch, member.epoch = member.epoch, group.assignment_epoch

    def _initialise(self, group: ShareGroup, settings: Settings, now: int) -> Initials | None:
        recent = {t: r for t, r in group.initialising.items() if now - r.at < settings.retry_ms}
        told = joined(group.initialised, recent)
        fresh = {}
        known = self._topics()
        for name in sorted(group.subscribed() & known.keys()):
            topic_id, count = known[name].id, known[name].partitions
            there = told[topic_id].partitions if topic_id in told else frozenset()
            missing = frozenset(range(count)) - there
            if missing:
                fresh[topic_id] = TopicPartitions(name, missing, now)
        if not fresh:
            return None
        group.initialising = joined(group.initialising, fresh)
        for topic_id in fresh:
            group.deleting.pop(topic_id, None)
        return fresh

    def _remove(self, group: ShareGroup, member: Member) -> None:
        del group.members[member.id]
        group.target.pop(member.id, None)
        group.hash = self._hash(group)
        group.epoch += 1


def _apart(which: str, received: int, member: Member) -> str:
    words = f"The share group member has a {which} member epoch ({received}) than the one known"
    words = f"{words} by the group coordinator ({member.epoch})"
    if which == "smaller":
        previous = f"previous member epoch ({member.previous_epoch})"
        return f"{words}, and it does not match the {previous}. {_REJOIN}"
    return f"{words}. {_REJOIN}"
