"""The coordinator of consumer groups (KIP-848) answers heartbeats that join, report and leave.

Each heartbeat does four things in this order: it is checked (`consumer_requests.py`), it changes
what its member subscribes to, the target is worked out anew if the group's epoch is past it, and
the member takes one step towards it (`reconciliation.py`). The target is not worked out more often
than the assignment interval allows; until then members walk towards the old one. A regular
expression is resolved after the answer, as in Kafka, where another thread does it.

Every change is written into the group's journal as Kafka's records. Refusals are `ApiError`, a code
and Kafka's words. Groups are values of `consumer_group.py`; the owner keeps them under their ids,
with their offsets. Members that speak the classic protocol come through `classic_members.py`.

Sources: KIP-848, KIP-1251; GroupMetadataManager@4.3.1; observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.group import consumer_records, regexes
from touchstone.reference_impl.group.assignors import ASSIGNORS, Taker
from touchstone.reference_impl.group.consumer_group import (
    JOIN_EPOCH,
    NEVER,
    STATIC_LEAVE_EPOCH,
    ConsumerGroup,
    ConsumerMember,
    Downgrade,
    MemberState,
    RegexResolution,
    TopicIdPartition,
    View,
)
from touchstone.reference_impl.group.consumer_requests import (
    JOINS,
    Do,
    RequestKind,
    requests,
    said,
    sender,
    standing,
)
from touchstone.reference_impl.group.consumer_rules import NEWEST, ConsumerRules
from touchstone.reference_impl.group.consumer_states import loaded, stand
from touchstone.reference_impl.group.heartbeat import DOWNGRADES, Beat, HeartbeatResult, Settings
from touchstone.reference_impl.group.java_maps import java_order, timeline_order
from touchstone.reference_impl.group.preview_assignor import PREVIEW
from touchstone.reference_impl.group.reconciliation import reconcile
from touchstone.reference_impl.group.xxh3 import group_hash
from touchstone.reference_impl.wire.errors import ErrorCode as E

_REJOIN = "The member must abandon all its partitions and rejoin."
REGEX_PAUSE_MS = 10_000  # between two times that a group's expressions are resolved


class ConsumerCoordinator:
    """`view()` is every topic there is; `settings(group id)` what counts for that group."""

    def __init__(
        self,
        view: Callable[[], View],
        settings: Callable[[str], Settings],
        rules: ConsumerRules = NEWEST,
    ) -> None:
        self.view = view
        self.settings = settings
        self.rules = rules

    def new_group(self, group_id: str) -> ConsumerGroup:
        first = self.rules.first_epoch
        return ConsumerGroup(group_id, first, first, rules=self.rules)

    # --- inputs ------------------------------------------------------------------------------

    def beat(self, group: ConsumerGroup, beat: Beat, now: int) -> HeartbeatResult:
        """A member that joins or goes on. Raises ApiError; then nothing has changed."""
        settings = self.settings(beat.group_id)
        self.check_room(group, beat.member_id)
        if beat.epoch != JOIN_EPOCH:
            self._sender(group, beat)
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
        return HeartbeatResult(member.id, member.epoch, assignment, resolve)

    def leave(self, group: ConsumerGroup, beat: Beat) -> HeartbeatResult:
        member, do = self._sender(group, beat)
        if do is Do.KEEP_PLACE:
            member.epoch, member.revoking = STATIC_LEAVE_EPOCH, {}
            member.assigned = dict.fromkeys(member.assigned, 0)
            member.revoke_by = None
            group.journal.append(consumer_records.current(group, member))
            stand(group)
        else:
            self.fence(group, [member])
        return HeartbeatResult(beat.member_id, beat.epoch)

    def tick(self, group: ConsumerGroup, now: int) -> None:
        """Members that said nothing for a session, or kept what they had to give up, are out."""
        for member in sorted(group.members.values(), key=lambda m: min(m.deadlines, default=0)):
            late = any(at <= now for at in member.deadlines)
            if group.ending is not None or not late:
                continue
            if requests(group)[standing(group, member), RequestKind.SILENCE].do is Do.REMOVE:
                self.fence(group, [member])

    def resolve(self, group: ConsumerGroup, expressions: Collection[str], now: int) -> None:
        """Resolve these regular expressions to the topics that match now."""
        view = self.view()
        group.resolving = False
        changed = False
        for text in java_order(expressions):
            if not group.readers_of(text):
                continue
            matches = regexes.matcher(text)
            named = filter(matches, view.topics)
            topics = frozenset(named if group.sees is None else filter(group.sees, named))
            old = group.resolved.get(text)
            changed |= topics != (old.topics if old else frozenset())
            group.resolved[text] = RegexResolution(topics, view.version, now)
            group.journal.append(consumer_records.regex(group, text))
        if changed or self._hash(group) != group.hash:
            self.refresh(group, bump=True)
        stand(group)

    def adopt(self, group: ConsumerGroup, now: int) -> None:
        """A group that was loaded: sessions begin anew."""
        group.rules = self.rules
        if self.rules.keeps_topics:
            group.hash = group.topics
        for member in group.members.values():
            session = self.settings(group.id).session_ms
            member.expires = now + session
            if member.state is MemberState.UNREVOKED:
                member.revoke_by = now + member.rebalance_timeout
        loaded(group)

    # --- checks ------------------------------------------------------------------------------

    def check_room(self, group: ConsumerGroup, member_id: str) -> None:
        most = self.settings(group.id).max_size
        if len(group.members) >= most and member_id not in group.members:
            words = f"The consumer group has reached its maximum capacity of {most} members."
            raise ApiError(E.GROUP_MAX_SIZE_REACHED, words)

    def _member(self, group: ConsumerGroup, beat: Beat) -> ConsumerMember:
        if beat.epoch != JOIN_EPOCH:
            return self._sender(group, beat)[0]
        return self.joining(group, beat.member_id, beat.instance_id, classic=False)

    def joining(
        self, group: ConsumerGroup, member_id: str, instance_id: str | None, *, classic: bool
    ) -> ConsumerMember:
        """The member that joins: a new one, a known one, or one in the place of a static one."""
        holder = group.instances.get(instance_id) if instance_id else None
        member = group.members.get(member_id if holder is None else holder)
        given = JOINS[classic, holder is not None]
        if given is RequestKind.JOIN and not instance_id and member is not None and member.settled:
            given = RequestKind.JOIN_AGAIN
        do = requests(group)[standing(group, member, holder), given].do
        if do is E.UNKNOWN_MEMBER_ID:
            raise ApiError(do, _nobody(holder, group.id))
        if do is E.FENCED_MEMBER_EPOCH and member is not None:
            raise ApiError(do, _fenced(JOIN_EPOCH, member))
        if isinstance(do, E):
            words = f"cannot join the group because the instance id is owned by {holder}"
            words = f"with instance id {instance_id} {words} member."
            raise ApiError(do, f"Static member {member_id} {words}")
        if member is None:
            member = ConsumerMember(member_id)
            group.members[member_id] = member
            return member
        return self._replace(group, member, member_id) if do is Do.REPLACE else member

    def _replace(self, group: ConsumerGroup, old: ConsumerMember, member_id: str) -> ConsumerMember:
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

    def _sender(self, group: ConsumerGroup, beat: Beat) -> tuple[ConsumerMember, Do]:
        """The member that sends a heartbeat that is no join, and what is to be done."""
        where, member = sender(group, beat)
        given = said(beat, where, member)
        do = requests(group)[where, given].do
        if isinstance(do, E):
            raise ApiError(do, _why(do, group, beat, member))
        if member is None:
            raise AssertionError(f"{where} x {given}: nobody is there")
        return member, do

    # --- changes -----------------------------------------------------------------------------

    def step(
        self,
        group: ConsumerGroup,
        old: ConsumerMember,
        member: ConsumerMember,
        owned: Collection[TopicIdPartition] | None,
        now: int,
    ) -> frozenset[str]:
        """Take over what the member says and move it on; expressions to be resolved."""
        holder = group.instances.get(member.instance_id or "")
        renamed, resolve, known = self.subscribe(group, old, member, now)
        retyped = old.regex != member.regex
        looks = renamed or known or group.seen != self.view().version
        if looks:
            self.refresh(group, bump=renamed or known)
        counted = looks or old.previous_epoch != NEVER
        assigned = self._assign(group, old, member, now, counted=counted)
        strange = (
            self.rules.instances_come_first and member.instance_id and not (holder or assigned)
        )
        target = frozenset() if strange else group.target.get(member.id, frozenset())
        self.reconcile(group, member, owned, now, narrowed=renamed or retyped, target=target)
        return resolve

    def subscribe(
        self, group: ConsumerGroup, old: ConsumerMember, member: ConsumerMember, now: int
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
        group: ConsumerGroup,
        old: ConsumerMember,
        resolved: dict[str, RegexResolution],
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

    def refresh(self, group: ConsumerGroup, *, bump: bool) -> None:
        """Another epoch if asked for, or if a subscribed topic is not what it was."""
        hashed = self._hash(group)
        changed = bump or hashed != group.hash
        if changed:
            group.epoch += 1
            if self.rules.keeps_topics and hashed != group.hash:
                group.journal.append(consumer_records.topics(group, self.view()))
            group.hash = hashed
            group.journal.append(consumer_records.epoch(group))
        group.seen = self.view().version

    def _hash(self, group: ConsumerGroup) -> int:
        topics = self.view().topics
        return group_hash(
            {name: topics[name].hash for name in group.subscribed() if name in topics}
        )

    def _assign(
        self, group: ConsumerGroup, old: ConsumerMember, member: ConsumerMember, now: int, *,
        counted: bool,
    ) -> bool:  # fmt: skip
        """Work out the target if it is time to; whether it was.

        `counted`: a newcomer that makes nobody look at subscriptions is not, when it comes to
        whether all subscribe to the same (seen on 4.3.1).
        """
        settings = self.settings(group.id)
        if group.epoch <= group.assignment_epoch:
            return False
        interval = settings.assignment_interval_ms
        if group.assigned_at and interval and now < group.assigned_at + interval:
            return False
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
        preferred = {m.assignor for m in group.members.values() if m is not member}
        fresh = member.assignor if member.assignor not in preferred | {old.assignor} else None
        order = [fresh, *timeline_order(settings.assignors)]  # Java's map puts it in front
        name = group.assignor(settings.assignors[0], order.index)
        assign = (PREVIEW if self.rules.early_uniform else ASSIGNORS)[name]
        before, alike = group.target, group.alike(None if counted else member)
        group.target = assign(takers, {each: counts[each] for each in wanted}, before, alike)
        group.assignment_epoch, group.assigned_at = group.epoch, now
        for member_id in java_order(group.members):
            if group.target[member_id] != before.get(member_id):
                group.journal.append(consumer_records.target(group, member_id))
        group.journal.append(consumer_records.target_epoch(group))
        return True

    def reconcile(
        self,
        group: ConsumerGroup,
        member: ConsumerMember,
        owned: Collection[TopicIdPartition] | None,
        now: int,
        *,
        narrowed: bool,
        target: Collection[TopicIdPartition],
    ) -> None:
        stood = member.stands
        reconcile(
            member,
            target,
            group.assignment_epoch,
            owned=owned,
            taken=lambda: self._taken(group, member),
            subscribed=lambda: self._wanted(group, member),
            narrowed=narrowed and self.rules.drops_at_once,
            ends_epoch=self.rules.revoking_ends_an_epoch,
            least=self.rules.least_buckets,
        )
        if member.stands == stood:
            return
        group.journal.append(consumer_records.current(group, member))
        waits = member.state is MemberState.UNREVOKED and member.classic is None
        member.revoke_by = now + member.rebalance_timeout if waits else None

    def _taken(self, group: ConsumerGroup, member: ConsumerMember) -> set[TopicIdPartition]:
        """What the member has to wait for, since others have it still."""
        held = group.held_by_others(member)
        return held | member.revoking.keys() if self.rules.waits_for_itself else held

    def _wanted(self, group: ConsumerGroup, member: ConsumerMember) -> Collection[bytes] | None:
        """Ids of the topics that the member may have; None where its target says that alone."""
        if not self.rules.drops_at_once:
            return None
        topics = self.view().topics
        return {topics[name].id for name in group.names_of(member) if name in topics}

    def fence(self, group: ConsumerGroup, members: Collection[ConsumerMember]) -> None:
        """These are out: another epoch for the rest, which may have to go on as a classic group."""
        if not members:
            return
        leaving = frozenset(member.id for member in members)
        if self._may_end(group, leaving):
            group.journal += consumer_records.group_tombstones(group)
            group.ending = Downgrade(leaving=leaving)
            return
        for member in members:
            group.journal += consumer_records.member_gone(group, member.id)
            group.remove(member)
        for text in java_order({m.regex for m in members if m.regex} - group.regexes()):
            group.journal.append(consumer_records.regex_gone(group, text))
            group.resolved.pop(text, None)
        self.refresh(group, bump=True)
        stand(group)

    def _may_end(self, group: ConsumerGroup, leaving: Collection[str]) -> bool:
        left = [m for m in group.members.values() if m.id not in leaving]
        settings = self.settings(group.id)
        return (
            bool(left)
            and all(member.classic is not None for member in left)
            and settings.migration in DOWNGRADES
            and len(left) <= settings.classic_max_size
        )


def _why(code: E, group: ConsumerGroup, beat: Beat, member: ConsumerMember | None) -> str:
    """Kafka's words for this refusal."""
    if member is None:
        named = beat.instance_id is not None
        holder = group.instances.get(beat.instance_id or "") if named else beat.member_id
        unknown = f"Instance id {beat.instance_id} is unknown."
        return _nobody(holder, group.id) if holder else unknown
    if code is E.FENCED_INSTANCE_ID:
        words = f"with instance id {beat.instance_id} was fenced by member {member.id}."
        return f"Static member {beat.member_id} {words}"
    return _fenced(beat.epoch, member)


def _fenced(epoch: int, member: ConsumerMember) -> str:
    which = "greater" if epoch > member.epoch else "smaller"
    return (
        f"The consumer group member has a {which} member epoch ({epoch}) than the one known "
        f"by the group coordinator ({member.epoch}). {_REJOIN}"
    )


def _nobody(member_id: str | None, group_id: str) -> str:
    return f"Member {member_id} is not a member of group {group_id}."
