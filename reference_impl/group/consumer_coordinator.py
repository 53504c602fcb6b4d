"""The coordinator of consumer groups (KIP-848): a heartbeat joins, reports, leaves and is told.

Each heartbeat does four things in this order: it is checked, it changes what its member subscribes
to, the target is worked out anew if the group's epoch is past it, and the member takes one step
towards it (`reconciliation.py`). The target is not worked out more often than the assignment
interval allows; until then members walk towards the old one. A regular expression is resolved
after the answer, as in Kafka, where another thread does it.

Refusals are `Refused`, a code and Kafka's words. Groups are values of `modern.py`; who keeps them
under which id, and their offsets, is the owner's.

Sources: KIP-848, KIP-1251; GroupMetadataManager@4.0, 4.3.1 (facts); observed on 4.3.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from reference_impl.group.assignors import ASSIGNORS, Taker
from reference_impl.group.modern import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    MemberState,
    ModernGroup,
    ModernMember,
    Place,
    TopicView,
)
from reference_impl.group.reconciliation import reconcile
from reference_impl.wire.errors import ErrorCode as E

UNSET = -1
_FAULTS = {
    "unterminated character set": "missing closing ]",
    "missing ), unterminated subpattern": "missing closing )",
}
_REJOIN = "The member must abandon all its partitions and rejoin."


class Refused(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


@dataclass(frozen=True, slots=True)
class Settings:
    """What configs decide about a group; instants and durations in ms."""

    session_ms: int
    assignment_interval_ms: int
    max_size: int
    assignors: tuple[str, ...]  # the first is the default


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """One ConsumerGroupHeartbeat; None stands for what did not change."""

    group_id: str
    member_id: str
    epoch: int
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout: int = UNSET
    names: frozenset[str] | None = None
    regex: str | None = None
    assignor: str | None = None
    owned: frozenset[Place] | None = None
    client_id: str = ""
    client_host: str = ""

    @property
    def full(self) -> bool:
        told = self.rebalance_timeout != UNSET and self.owned is not None
        return self.epoch == JOIN_EPOCH or (told and self.names is not None)


@dataclass(frozen=True, slots=True)
class Told:
    member_id: str
    epoch: int
    assignment: frozenset[Place] | None = None


def check(beat: Beat, assignors: tuple[str, ...], *, ids_are_given: bool) -> None:
    """Raise Refused for what no group would take; `ids_are_given`: version 0 lets the broker."""
    _not_empty(beat.group_id, "GroupId")
    _not_empty(beat.instance_id, "InstanceId")
    _not_empty(beat.rack_id, "RackId")
    if beat.epoch < STATIC_LEAVE_EPOCH:
        raise Refused(E.INVALID_REQUEST, "MemberEpoch is invalid.")
    if not (ids_are_given and beat.epoch == JOIN_EPOCH):
        _not_empty(beat.member_id, "MemberId")
    if beat.epoch == JOIN_EPOCH:
        _check_join(beat)
    if beat.epoch == STATIC_LEAVE_EPOCH and beat.instance_id is None:
        raise Refused(E.INVALID_REQUEST, "InstanceId can't be null.")
    if beat.assignor is not None and beat.assignor not in assignors:
        known = ", ".join(assignors)
        words = f"ServerAssignor {beat.assignor} is not supported. Supported assignors: {known}."
        raise Refused(E.UNSUPPORTED_ASSIGNOR, words)


def _check_join(beat: Beat) -> None:
    if beat.rebalance_timeout == UNSET:
        why = "RebalanceTimeoutMs must be provided in first request."
    elif beat.owned is None or beat.owned:
        why = "TopicPartitions must be empty when (re-)joining."
    elif beat.names is None and beat.regex is None:
        why = (
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when "
            "(re-)joining."
        )
    else:
        return
    raise Refused(E.INVALID_REQUEST, why)


def _not_empty(text: str | None, field: str) -> None:
    if text == "":
        raise Refused(E.INVALID_REQUEST, f"{field} can't be empty.")


class ConsumerCoordinator:
    """`topics()` is every topic there is; `settings(group id)` what counts for that group."""

    def __init__(
        self, topics: Callable[[], TopicView], settings: Callable[[str], Settings]
    ) -> None:
        self._topics = topics
        self._settings = settings

    # --- inputs ------------------------------------------------------------------------------

    def beat(self, group: ModernGroup, beat: Beat, now: int) -> Told:
        """A member that joins or goes on. Raises Refused; then nothing has changed."""
        settings = self._settings(beat.group_id)
        self._check_room(group, beat, settings)
        self._check_regex(group, beat)
        member = self._member(group, beat)
        before = set(member.assigned)
        narrowed = self._subscribe(group, member, beat)
        self._assign(group, settings, now)
        known = self._topics()
        wanted = {known[name][0] for name in group.names_of(member) if name in known}
        reconcile(
            member,
            group.target.get(member.id, frozenset()),
            group.assignment_epoch,
            owned=beat.owned,
            taken=group.held_by_others(member),
            subscribed=wanted,
            narrowed=narrowed,
        )
        member.expires = now + settings.session_ms
        if member.state is not MemberState.UNREVOKED:
            member.revoke_by = None
        elif member.revoke_by is None:
            member.revoke_by = now + member.rebalance_timeout
        tell = beat.full or member.assigned.keys() != before
        told = Told(member.id, member.epoch, frozenset(member.assigned) if tell else None)
        self._resolve(group)
        return told

    def leave(self, group: ModernGroup, beat: Beat) -> Told:
        member = self._known(group, beat)
        if beat.epoch == STATIC_LEAVE_EPOCH:
            member.epoch, member.revoking = STATIC_LEAVE_EPOCH, {}
            member.revoke_by = None
        else:
            self._fence(group, member)
        return Told(beat.member_id, beat.epoch)

    def tick(self, group: ModernGroup, now: int) -> None:
        """Members that said nothing for a session, or kept what they had to give up, are out."""
        for member in list(group.members.values()):
            if any(at is not None and at <= now for at in (member.expires, member.revoke_by)):
                self._fence(group, member)

    # --- checks ------------------------------------------------------------------------------

    def _check_room(self, group: ModernGroup, beat: Beat, settings: Settings) -> None:
        if len(group.members) >= settings.max_size and beat.member_id not in group.members:
            words = f"maximum capacity of {settings.max_size} members."
            words = f"The consumer group has reached its {words}"
            raise Refused(E.GROUP_MAX_SIZE_REACHED, words)

    def _check_regex(self, group: ModernGroup, beat: Beat) -> None:
        if beat.epoch != JOIN_EPOCH:
            self._checked(group, beat)
        if beat.regex:
            try:
                re.compile(beat.regex)
            except re.error as fault:
                why = _FAULTS.get(fault.msg, fault.msg)
                words = f"`{beat.regex}` is not a valid regular expression: {why}."
                raise Refused(
                    E.INVALID_REGULAR_EXPRESSION, f"SubscribedTopicRegex {words}"
                ) from None

    def _member(self, group: ModernGroup, beat: Beat) -> ModernMember:
        if beat.epoch != JOIN_EPOCH:
            return self._checked(group, beat)
        holder = group.instances.get(beat.instance_id) if beat.instance_id else None
        if holder is not None:
            old = group.members[holder]
            if old.epoch != STATIC_LEAVE_EPOCH:
                words = f"cannot join the group because the instance id is owned by {old.id}"
                words = f"with instance id {beat.instance_id} {words} member."
                raise Refused(
                    E.UNRELEASED_INSTANCE_ID, f"Static member {beat.member_id} {words}"
                )
            return group.replace(old, beat.member_id)
        member = group.members.get(beat.member_id)
        if member is None:
            member = group.members[beat.member_id] = ModernMember(beat.member_id)
            if beat.instance_id is not None:
                member.instance_id = beat.instance_id
                group.instances[beat.instance_id] = member.id
        return member

    def _checked(self, group: ModernGroup, beat: Beat) -> ModernMember:
        """The member, if its epoch may be answered."""
        member = self._known(group, beat)
        if beat.epoch > member.epoch:
            raise Refused(E.FENCED_MEMBER_EPOCH, _apart("greater", beat.epoch, member.epoch))
        lost = (  # the answer with the newer epoch never came
            beat.epoch == member.previous_epoch
            and beat.owned is not None
            and beat.owned <= member.assigned.keys()
        )
        if beat.epoch < member.epoch and not lost:
            raise Refused(E.FENCED_MEMBER_EPOCH, _apart("smaller", beat.epoch, member.epoch))
        return member

    def _known(self, group: ModernGroup, beat: Beat) -> ModernMember:
        if beat.instance_id is not None:
            holder = group.instances.get(beat.instance_id)
            if holder is None:
                raise Refused(E.UNKNOWN_MEMBER_ID, f"Instance id {beat.instance_id} is unknown.")
            if holder != beat.member_id:
                words = f"with instance id {beat.instance_id} was fenced by member {holder}."
                raise Refused(E.FENCED_INSTANCE_ID, f"Static member {beat.member_id} {words}")
            return group.members[holder]
        member = group.members.get(beat.member_id)
        if member is None:
            words = f"Member {beat.member_id} is not a member of group {beat.group_id}."
            raise Refused(E.UNKNOWN_MEMBER_ID, words)
        return member

    # --- changes -----------------------------------------------------------------------------

    def _subscribe(self, group: ModernGroup, member: ModernMember, beat: Beat) -> bool:
        """Take over what the request says; whether the subscription is another one now."""
        names, regex = member.names, member.regex
        member.names = names if beat.names is None else beat.names
        member.regex = regex if beat.regex is None else beat.regex
        member.rack_id = member.rack_id if beat.rack_id is None else beat.rack_id
        member.assignor = member.assignor if beat.assignor is None else beat.assignor
        if beat.rebalance_timeout != UNSET:
            member.rebalance_timeout = beat.rebalance_timeout
        member.client_id, member.client_host = beat.client_id, beat.client_host
        other_regex = member.regex != regex
        if other_regex and not any(m.regex == regex for m in group.members.values()):
            group.resolved.pop(regex, None)
        known = not member.regex or member.regex in group.resolved
        bump = member.names != names or (other_regex and known)
        self._refresh(group, bump=bump)
        return member.names != names or other_regex

    def _refresh(self, group: ModernGroup, *, bump: bool) -> None:
        """Another epoch if asked for, or if a subscribed topic is not what it was."""
        known = self._topics()
        topics = {name: known[name] for name in sorted(group.subscribed()) if name in known}
        if bump or topics != group.topics:
            group.epoch += 1
        group.topics = topics

    def _assign(self, group: ModernGroup, settings: Settings, now: int) -> None:
        if group.epoch <= group.assignment_epoch:
            return
        interval = settings.assignment_interval_ms
        if group.assigned_at is not None and interval and now < group.assigned_at + interval:
            return
        known = self._topics()
        takers = [
            Taker(
                member.id,
                member.instance_id,
                frozenset(known[name][0] for name in group.names_of(member) if name in known),
            )
            for member in group.members.values()
        ]
        counts = dict(group.topics.values())
        assign = ASSIGNORS[group.assignor(settings.assignors[0])]
        group.target = assign(takers, counts, group.target)
        group.assignment_epoch, group.assigned_at = group.epoch, now

    def _resolve(self, group: ModernGroup) -> None:
        changed = False
        for regex in {m.regex for m in group.members.values() if m.regex}:
            pattern = re.compile(regex)
            topics = frozenset(name for name in self._topics() if pattern.fullmatch(name))
            changed |= topics != group.resolved.get(regex, frozenset())
            group.resolved[regex] = topics
        if changed:
            self._refresh(group, bump=True)

    def _fence(self, group: ModernGroup, member: ModernMember) -> None:
        group.remove(member)
        self._refresh(group, bump=True)


def _apart(which: str, received: int, known: int) -> str:
    return (
        f"The consumer group member has a {which} member epoch ({received}) than the one known "
        f"by the group coordinator ({known}). {_REJOIN}"
    )


def commit_fault(
    group: ModernGroup, member_id: str, epoch: int, places: frozenset[Place]
) -> int:
    """Why such a commit is not taken.

    An older epoch will do where every partition was the member's in it already (KIP-1251).
    """
    if epoch < 0 and not group.members:
        return E.NONE
    member = group.members.get(member_id)
    if member is None:
        return E.UNKNOWN_MEMBER_ID
    if epoch == member.epoch:
        return E.NONE
    held = member.assigned | member.revoking
    mine = all(place in held and held[place] <= epoch for place in places)
    return E.NONE if 0 <= epoch < member.epoch and mine else E.STALE_MEMBER_EPOCH


def fetch_fault(group: ModernGroup, member_id: str | None, epoch: int) -> int:
    if member_id is None and epoch < 0:
        return E.NONE
    member = group.members.get(member_id or "")
    if member is None:
        return E.UNKNOWN_MEMBER_ID
    return E.NONE if epoch == member.epoch else E.STALE_MEMBER_EPOCH


__all__ = [
    "LEAVE_EPOCH",
    "Beat",
    "ConsumerCoordinator",
    "Refused",
    "Settings",
    "Told",
    "check",
    "commit_fault",
    "fetch_fault",
]
