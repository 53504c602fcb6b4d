"""The coordinator of consumer groups (KIP-848): a heartbeat joins, reports, leaves and is told.

Each heartbeat does four things in this order: it is checked, it changes what its member subscribes
to, the target is worked out anew if the group's epoch is past it, and the member takes one step
towards it (`reconciliation.py`). The target is not worked out more often than the assignment
interval allows; until then members walk towards the old one. A regular expression is resolved
after the answer, as in Kafka, where another thread does it.

Every change is written into the group's journal as Kafka's records. Refusals are `Refused`, a code
and Kafka's words. Groups are values of `modern.py`; who keeps them under which id, and their
offsets, is the owner's. Members that speak the classic protocol come through `classic_members.py`.

Sources: KIP-848, KIP-1251; GroupMetadataManager@4.3.1 (facts); observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from reference_impl.group import consumer_records, regexes
from reference_impl.group.assignors import ASSIGNORS, Taker
from reference_impl.group.consumer_states import stand
from reference_impl.group.heartbeat import DOWNGRADES, Beat, Refused, Settings, Told
from reference_impl.group.java_maps import java_order, timeline_order
from reference_impl.group.modern import (
    JOIN_EPOCH,
    STATIC_LEAVE_EPOCH,
    Ending,
    MemberState,
    ModernGroup,
    ModernMember,
    Place,
    Resolved,
    View,
)
from reference_impl.group.reconciliation import reconcile
from reference_impl.group.xxh3 import group_hash
from reference_impl.wire.errors import ErrorCode as E

_REJOIN = "The member must abandon all its partitions and rejoin."
REGEX_PAUSE_MS = 10_000  # between two times that a group's expressions are resolved


class ConsumerCoordinator:
    """`view()` is every topic there is; `settings(group id)` what counts for that group.

    `defects`: planted ones, see `broker/switches.py`.
    """

    def __init__(
        self,
        view: Callable[[], View],
        settings: Callable[[str], Settings],
        defects: Collection[str] = (),
    ) -> None:
        self.view = view
        self.settings = settings
        self.defects = defects

    # --- inputs ------------------------------------------------------------------------------

    def beat(self, group: ModernGroup, beat: Beat, now: int) -> Told:
        """A member that joins or goes on. Raises Refused; then nothing has changed."""
        settings = self.settings(beat.group_id)
        self.check_room(group, beat.member_id)
        if beat.epoch != JOIN_EPOCH:
            self._checked(group, beat)
        if beat.regex and not group.readers_of(beat.regex):
            regexes.check(beat.regex)
        member = self._member(group, beat)
        before = set(member.assigned)
        old = replace(member)
        member.instance_id = beat.instance_id or member.instance_id
        member.rack_id = member.rack_id if beat.rack_id is None else beat.rack_id
        member.assignor = member.assignor if beat.assignor is None else beat.assignor
        member.names = member.names if beat.names is None else beat.names
        member.regex = member.regex if beat.regex is None else beat.regex
        if beat.rebalance_timeout != -1:
            member.rebalance_timeout = beat.rebalance_timeout
        member.client_id, member.client_host = beat.client_id, beat.client_host
        member.classic = None
        resolve = self.step(group, old, member, beat.owned, now)
        member.expires = now + settings.session_ms
        tell = beat.full or member.assigned.keys() != before
        assignment = tuple(member.assigned) if tell else None
        member.settle()
        stand(group)
        return Told(member.id, member.epoch, assignment, resolve)

    def leave(self, group: ModernGroup, beat: Beat) -> Told:
        member = self._known(group, beat)
        if beat.epoch == STATIC_LEAVE_EPOCH:
            member.epoch, member.revoking = STATIC_LEAVE_EPOCH, {}
            member.assigned = dict.fromkeys(member.assigned, 0)
            member.revoke_by = None
            group.journal.append(consumer_records.current(group, member))
        else:
            self.fence(group, [member])
        stand(group)
        return Told(beat.member_id, beat.epoch)

    def tick(self, group: ModernGroup, now: int) -> None:
        """Members that said nothing for a session, or kept what they had to give up, are out."""
        for member in sorted(group.members.values(), key=lambda m: min(m.deadlines, default=0)):
            if group.ending is None and any(at <= now for at in member.deadlines):
                self.fence(group, [member])

    def resolve(self, group: ModernGroup, expressions: Collection[str], now: int) -> None:
        """What these regular expressions stand for now."""
        view = self.view()
        group.resolving = False
        changed = False
        for text in java_order(expressions):
            if not group.readers_of(text):
                continue
            matches = regexes.compiled(text).fullmatch
            topics = frozenset(name for name in view.topics if matches(name))
            old = group.resolved.get(text)
            changed |= topics != (old.topics if old else frozenset())
            group.resolved[text] = Resolved(topics, view.version, now)
            group.journal.append(consumer_records.regex(group, text))
        if changed or self._hash(group) != group.hash:
            self.refresh(group, bump=True)
        stand(group)

    def adopt(self, group: ModernGroup, now: int) -> None:
        """A group that was loaded: sessions begin anew."""
        for member in group.members.values():
            session = self.settings(group.id).session_ms
            member.expires = now + session
            if member.state is MemberState.UNREVOKED:
                member.revoke_by = now + member.rebalance_timeout
        stand(group)

    # --- checks ------------------------------------------------------------------------------

    def check_room(self, group: ModernGroup, member_id: str) -> None:
        most = self.settings(group.id).max_size
        if len(group.members) >= most and member_id not in group.members:
            words = f"The consumer group has reached its maximum capacity of {most} members."
            raise Refused(E.GROUP_MAX_SIZE_REACHED, words)

    def _member(self, group: ModernGroup, beat: Beat) -> ModernMember:
        if beat.epoch != JOIN_EPOCH:
            return self._checked(group, beat)
        return self.joining(group, beat.member_id, beat.instance_id, classic=False)

    def joining(
        self, group: ModernGroup, member_id: str, instance_id: str | None, *, classic: bool
    ) -> ModernMember:
        """Who joins: a new member, one that is there, or one in the place of a static one."""
        holder = group.instances.get(instance_id) if instance_id else None
        if holder is not None:
            old = group.members[holder]
            if not classic and old.classic is None and old.epoch != STATIC_LEAVE_EPOCH:
                words = f"cannot join the group because the instance id is owned by {old.id}"
                words = f"with instance id {instance_id} {words} member."
                raise Refused(E.UNRELEASED_INSTANCE_ID, f"Static member {member_id} {words}")
            return self._replace(group, old, member_id)
        member = group.members.get(member_id)
        if member is None:
            member = ModernMember(member_id)
            group.members[member_id] = member
        return member

    def _replace(self, group: ModernGroup, old: ModernMember, member_id: str) -> ModernMember:
        """A static member is back, perhaps under another id."""
        group.journal += consumer_records.member_gone(group, old.id)
        member = replace(old, id=member_id, epoch=JOIN_EPOCH, previous_epoch=JOIN_EPOCH)
        target = group.target.get(old.id, frozenset())
        group.remove(old)
        group.add(member)
        group.target[member_id] = target
        group.journal += (
            consumer_records.member(group, member),
            consumer_records.target(group, member_id),
            consumer_records.current(group, member),
        )
        return member

    def _checked(self, group: ModernGroup, beat: Beat) -> ModernMember:
        """The member, if its epoch may be answered."""
        member = self._known(group, beat)
        if "member-epoch-not-fenced" in self.defects:
            return member
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

    def step(
        self,
        group: ModernGroup,
        old: ModernMember,
        member: ModernMember,
        owned: Collection[Place] | None,
        now: int,
    ) -> frozenset[str]:
        """Take over what the member says and move it on; expressions to be resolved."""
        renamed, resolve, known = self.subscribe(group, old, member, now)
        retyped = old.regex != member.regex
        if renamed or known or group.seen != self.view().version:
            self.refresh(group, bump=renamed or known)
        self.assign(group, now)
        self.reconcile(group, member, owned, now, narrowed=renamed or retyped)
        return resolve

    def subscribe(
        self, group: ModernGroup, old: ModernMember, member: ModernMember, now: int
    ) -> tuple[bool, frozenset[str], bool]:
        """Whether names changed; expressions to be resolved; whether a changed one is known."""
        if member.said != old.said:
            group.journal.append(consumer_records.member(group, member))
        if member.instance_id is not None:
            group.instances[member.instance_id] = member.id
        readers = group.readers_of(member.regex) - 1 if member.regex else 0
        known, fresh = False, False
        resolved = dict(group.resolved)
        if member.regex != old.regex:
            if old.regex and not group.readers_of(old.regex):
                group.journal.append(consumer_records.regex_gone(group, old.regex))
                group.resolved.pop(old.regex, None)
            fresh = bool(member.regex) and not readers
            known = not member.regex or (bool(readers) and member.regex in group.resolved)
        due = self._unresolved(group, old, resolved, now, fresh=fresh)
        return member.names != old.names, due, known

    def _unresolved(
        self,
        group: ModernGroup,
        old: ModernMember,
        resolved: dict[str, Resolved],
        now: int,
        *,
        fresh: bool,
    ) -> frozenset[str]:
        """All expressions, if it is time to resolve them; `resolved` are those from before."""
        wanted = frozenset(group.regexes())
        if not (fresh or wanted or old.regex) or group.resolving:
            return frozenset()
        first = next((resolved[each] for each in timeline_order(resolved)), None)
        if first is not None and now <= first.at + REGEX_PAUSE_MS:
            return frozenset()
        due = (
            fresh
            or len(wanted) != len(resolved)
            or first is None
            or first.version < self.view().created
            or now > first.at + self.settings(group.id).regex_refresh_ms
        )
        group.resolving = due and bool(wanted)
        return wanted if due else frozenset()

    def refresh(self, group: ModernGroup, *, bump: bool) -> None:
        """Another epoch if asked for, or if a subscribed topic is not what it was."""
        hashed = self._hash(group)
        changed = bump or hashed != group.hash
        if changed and "group-epoch-not-bumped" not in self.defects:
            group.epoch += 1
            group.hash = hashed
            group.journal.append(consumer_records.epoch(group))
        group.seen = self.view().version

    def _hash(self, group: ModernGroup) -> int:
        topics = self.view().topics
        return group_hash(
            {name: topics[name].hash for name in group.subscribed() if name in topics}
        )

    def assign(self, group: ModernGroup, now: int) -> None:
        settings = self.settings(group.id)
        if group.epoch <= group.assignment_epoch:
            return
        interval = settings.assignment_interval_ms
        if group.assigned_at and interval and now < group.assigned_at + interval:
            return
        topics = self.view().topics
        takers = [
            Taker(
                member.id,
                member.instance_id,
                frozenset(topics[name].id for name in group.names_of(member) if name in topics),
            )
            for member in group.members.values()
        ]
        counts = {topic.id: topic.partitions for topic in topics.values()}
        wanted = frozenset().union(*(taker.topics for taker in takers))
        assign = ASSIGNORS[group.assignor(settings.assignors[0])]
        before = group.target
        group.target = assign(takers, {each: counts[each] for each in wanted}, before)
        group.assignment_epoch, group.assigned_at = group.epoch, now
        for member_id in java_order(group.members):
            if group.target[member_id] != before.get(member_id):
                group.journal.append(consumer_records.target(group, member_id))
        group.journal.append(consumer_records.target_epoch(group))

    def reconcile(
        self,
        group: ModernGroup,
        member: ModernMember,
        owned: Collection[Place] | None,
        now: int,
        *,
        narrowed: bool,
    ) -> None:
        topics, stood = self.view().topics, member.stands
        both = "partition-given-to-two-members" in self.defects
        reconcile(
            member,
            group.target.get(member.id, frozenset()),
            group.assignment_epoch,
            owned=owned,
            taken=set() if both else group.held_by_others(member),
            subscribed={topics[name].id for name in group.names_of(member) if name in topics},
            narrowed=narrowed,
        )
        if member.stands == stood:
            return
        group.journal.append(consumer_records.current(group, member))
        waits = member.state is MemberState.UNREVOKED and member.classic is None
        member.revoke_by = now + member.rebalance_timeout if waits else None

    def fence(self, group: ModernGroup, members: Collection[ModernMember]) -> None:
        """These are out: another epoch for the rest, which may have to go on as a classic group."""
        if not members:
            return
        leaving = frozenset(member.id for member in members)
        if self._may_end(group, leaving):
            group.journal += consumer_records.gone(group)
            group.ending = Ending(leaving=leaving)
            return
        for member in members:
            group.journal += consumer_records.member_gone(group, member.id)
            group.remove(member)
        for text in java_order({m.regex for m in members if m.regex} - group.regexes()):
            group.journal.append(consumer_records.regex_gone(group, text))
            group.resolved.pop(text, None)
        self.refresh(group, bump=True)
        stand(group)

    def _may_end(self, group: ModernGroup, leaving: Collection[str]) -> bool:
        left = [m for m in group.members.values() if m.id not in leaving]
        settings = self.settings(group.id)
        return (
            bool(left)
            and all(member.classic is not None for member in left)
            and settings.migration in DOWNGRADES
            and len(left) <= settings.classic_max_size
        )


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
    return E.NONE if epoch < member.epoch and mine else _stale(member)


def fetch_fault(group: ModernGroup, member_id: str | None, epoch: int) -> int:
    if member_id is None and epoch < 0:
        return E.NONE
    member = group.members.get(member_id or "")
    if member is None:
        return E.UNKNOWN_MEMBER_ID
    return E.NONE if epoch == member.epoch else _stale(member)


def _stale(member: ModernMember) -> int:
    return E.STALE_MEMBER_EPOCH if member.classic is None else E.ILLEGAL_GENERATION
