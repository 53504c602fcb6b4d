"""A broker finds, keeps and watches the groups that have members of KIP-848.

A group's id, offsets and partition are those of `groups.py`; what is here is its other half, for
groups that have a member who speaks KIP-848. Each operation's records are appended as one batch,
with those of a conversion from or to a classic group; the answer waits until they are replicated.
What could not be kept did not happen: the group is read from the log again.

Sources: KIP-848; GroupCoordinatorService, CoordinatorOperationExceptionHelper@4.3.1;
observed on 4.3.1.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.configs import group_settings
from touchstone.reference_impl.broker.configs.config_view import setting
from touchstone.reference_impl.broker.coordinators import groups
from touchstone.reference_impl.broker.coordinators.group_log import nobody_waits
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.share_groups import ShareGroups
from touchstone.reference_impl.broker.coordinators.topic_view import topic_view
from touchstone.reference_impl.group import (
    classic_members,
    consumer_records,
    conversion,
    log_records,
)
from touchstone.reference_impl.group.consumer_coordinator import ConsumerCoordinator
from touchstone.reference_impl.group.consumer_group import JOIN_EPOCH, ConsumerGroup, ConsumerMember
from touchstone.reference_impl.group.consumer_rules import ConsumerRules
from touchstone.reference_impl.group.heartbeat import Beat, HeartbeatResult, Settings
from touchstone.reference_impl.group.join_messages import Join, refusal, synced
from touchstone.reference_impl.group.members import Group
from touchstone.reference_impl.group.preview_assignor import AssignmentFailed
from touchstone.reference_impl.group.states import State
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.personas.persona import Persona

ASSIGNORS = ("uniform", "range")
RESOLVED_AFTER_MS = 0
RecordPair = tuple[bytes, bytes | None]


class ConsumerGroups:
    """The half of a broker's group coordinator that speaks KIP-848."""

    def __init__(self, broker: Broker) -> None:
        self._broker, self._groups = broker, broker.room(Groups)
        self.rules = rules_of(broker.persona)
        self.coordinator = ConsumerCoordinator(
            partial(topic_view, broker), self._settings, self.rules
        )

    def adopt(self, now: int) -> None:
        """See to the groups that were loaded."""
        for group in self._groups.coordinator.groups.values():
            if group.consumer_group is not None and not group.consumer_group.watched:
                self.coordinator.adopt(group.consumer_group, now)
                self._watch(group, now)

    def heartbeat(
        self,
        beat: Beat,
        form: Callable[[int, HeartbeatResult | str | None], Struct],
        now: int,
    ) -> Ticket[Struct]:
        """The answer that `form` makes of (code, what is told or words), when it is kept.

        Raises ApiError.
        """
        consumers = self.coordinator
        standing = self._groups.coordinator.groups.get(beat.group_id)
        consumer_group, pairs = self._opened(standing, beat, now)
        consumer_group.sees = beat.sees
        try:
            told = (
                consumers.leave(consumer_group, beat)
                if beat.epoch < 0
                else consumers.beat(consumer_group, beat, now)
            )
        except AssignmentFailed:  # it comes last, when the member has changed already
            if standing is not None and standing.consumer_group is consumer_group:
                self._read_again(standing, now)
            raise
        group = standing or self._groups.coordinator.create(beat.group_id, now)
        if group.consumer_group is None:
            _end_classic(group)
            conversion.take_over(group, consumer_group)
            self._groups.coordinator.settle(group, now)
        ticket: Ticket[Struct] = Ticket()
        self._keep(group, pairs, now, lambda code, at: ticket.give(form(code, told)))
        self._resolve_later(group, told.resolve, now)
        return ticket

    def join(self, group: Group, ask: Join, now: int) -> Ticket[Struct] | None:
        """A classic member joins a consumer group; None where the group becomes a classic one."""
        consumer_group = group.consumer_group
        if consumer_group is None:
            return None
        if not consumer_group.members:
            self._groups.become_classic(group, now)
            self._unwatch(group)
            return None
        ticket: Ticket[Struct] = Ticket()
        try:
            answer, resolve = classic_members.join(
                self.coordinator, consumer_group, ask, now, self.new_id
            )
        except ApiError as refused:
            return Ticket(refusal(refused.code, "", -1))

        def kept(code: int, at: int) -> None:
            ticket.give(refusal(code, "", -1) if code else answer)

        self._keep(group, [], now, kept)
        self._resolve_later(group, resolve, now)
        return ticket

    def sync(self, group: Group, body: Struct, now: int) -> Ticket[Struct]:
        """SyncGroup of a classic member of a consumer group that has members."""
        protocol = body["protocol_type"], body["protocol_name"]
        try:
            assignment = classic_members.sync(
                self.coordinator,
                group.consumer_group or ConsumerGroup(),
                body["member_id"],
                body["group_instance_id"],
                body["generation_id"],
                protocol,
                now,
            )
        except ApiError as refused:
            self._watch(group, now)
            return Ticket(synced(refused.code))
        self._watch(group, now)
        told = {
            "protocol_type": protocol[0],
            "protocol_name": protocol[1],
            "assignment": assignment,
        }
        return Ticket(synced(ErrorCode.NONE) | told)

    def classic_heartbeat(self, group: Group, body: Struct, now: int) -> int:
        try:
            code = classic_members.heartbeat(
                group.consumer_group or ConsumerGroup(),
                body["member_id"],
                body["group_instance_id"],
                body["generation_id"],
                now,
            )
        except ApiError as refused:
            return refused.code
        self._watch(group, now)
        return code

    def leave(
        self, group: Group, who: Sequence[tuple[str, str | None]], now: int
    ) -> tuple[list[int], Ticket[Struct]]:
        """LeaveGroup, which admins send too: a code for each, and when it is kept."""
        consumer_group = group.consumer_group or ConsumerGroup()
        codes: list[int] = []
        found: dict[str, ConsumerMember] = {}
        for member_id, instance_id in who:
            try:
                held = consumer_group.instances.get(instance_id or "", member_id)
                member = classic_members.known(consumer_group, member_id or held, instance_id)
                if member.classic is None and not self.rules.anybody_is_put_out:
                    raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
            except ApiError as refused:
                codes.append(refused.code)
            else:
                codes.append(ErrorCode.NONE)
                found[member.id] = member
        self.coordinator.fence(consumer_group, list(found.values()))
        ticket: Ticket[Struct] = Ticket()
        self._keep(group, [], now, lambda code, at: ticket.give({"error_code": code}))
        return codes, ticket

    def heartbeat_interval(self, group_id: str) -> int:
        return group_settings.number(self._broker, group_id, "consumer.heartbeat.interval.ms")

    def new_id(self) -> str:
        """A random id in Kafka's letters, as those have whom the broker names."""
        return urlsafe_b64encode(self._broker.cluster.random.randbytes(16)).decode().rstrip("=")

    def _opened(
        self, group: Group | None, beat: Beat, now: int
    ) -> tuple[ConsumerGroup, list[RecordPair]]:
        """The group that the heartbeat is for, and records that end what was there before it."""
        joins = beat.epoch == JOIN_EPOCH
        if self._broker.room(ShareGroups).is_shared(beat.group_id):
            words = f"Group {beat.group_id} is not a consumer group."
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, words)
        if group is None:
            if not joins:
                kind = "Consumer group" if beat.epoch > 0 else "Group"
                raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"{kind} {beat.group_id} not found.")
            return self.coordinator.new_group(beat.group_id), []
        if group.consumer_group is not None:
            return group.consumer_group, []
        if not joins or group.streams_group is not None:
            words = f"Group {beat.group_id} is not a consumer group."
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, words)
        ended: list[RecordPair] = [log_records.group_tombstone(group.id)]
        if group.state is State.EMPTY:
            return self.coordinator.new_group(group.id), ended
        settings = self._settings(group.id)
        view = topic_view(self._broker)
        return conversion.upgraded(group, settings, view, now, self.rules), ended

    def _keep(
        self,
        group: Group,
        pairs: list[RecordPair],
        now: int,
        then: Callable[[int, int], None],
    ) -> None:
        """Append what the operation changed, then call `then(code, now)`."""
        consumer_group = group.consumer_group
        if consumer_group is None:
            then(ErrorCode.NONE, now)
            return
        pairs = pairs + [consumer_records.encoded(entry) for entry in consumer_group.journal]
        consumer_group.journal.clear()
        rebalances = None
        if consumer_group.ending is not None:
            coordinator = self._groups.coordinator
            tie = coordinator.rules.tie
            rebalances = conversion.downgrade(
                group, consumer_group, topic_view(self._broker), now, tie
            )
            assignments = {member.id: member.assignment for member in group.members.values()}
            version = self._broker.persona.quirk("groups.value-version")
            pairs.append(log_records.group_entry(group, assignments, version=version, now=now))

        def kept(code: int, at: int) -> None:
            if code:
                self._read_again(group, at)
            then(code, at)

        self._watch(group, now)
        if pairs:
            self._groups.log.keep(group.id, pairs, now, kept)
        else:
            then(ErrorCode.NONE, now)
        if rebalances is not None:
            self._groups.coordinator.begin(group, now, rebalances=rebalances)

    def _read_again(self, group: Group, now: int) -> None:
        """What was to change did not happen."""
        self._groups.log.read_again(group, now)
        if group.consumer_group is not None:
            self.coordinator.adopt(group.consumer_group, now)
        self._watch(group, now)

    def _resolve_later(self, group: Group, expressions: frozenset[str], now: int) -> None:
        consumer_group = group.consumer_group
        if not expressions or consumer_group is None:
            return

        def due(then: int) -> None:
            if (
                self._groups.coordinator.groups.get(group.id) is group
                and group.consumer_group is consumer_group
            ):
                self.coordinator.resolve(consumer_group, expressions, then)
                self._keep(group, [], then, nobody_waits)

        self._groups.log.runtime.remind(("expressions", group.id), now + RESOLVED_AFTER_MS, due)

    def _unwatch(self, group: Group) -> None:
        self._groups.log.runtime.remind(("consumer", group.id), None, lambda then: None)

    def _watch(self, group: Group, now: int) -> None:
        consumer_group = group.consumer_group
        if consumer_group is None:
            self._unwatch(group)
            return
        consumer_group.watched = True
        if not consumer_group.members:
            group.emptied_at_ms = now

        def due(then: int) -> None:
            if (
                self._groups.coordinator.groups.get(group.id) is group
                and group.consumer_group is consumer_group
            ):
                self.coordinator.tick(consumer_group, then)
                self._keep(group, [], then, nobody_waits)

        self._groups.log.runtime.remind(("consumer", group.id), consumer_group.deadline(), due)

    def _settings(self, group_id: str) -> Settings:
        def own(name: str) -> int:
            return group_settings.number(self._broker, group_id, f"consumer.{name}")

        return Settings(
            session_ms=own("session.timeout.ms"),
            assignment_interval_ms=own("assignment.interval.ms"),
            max_size=self._groups.number("group.consumer.max.size"),
            assignors=ASSIGNORS,
            classic_max_size=self._groups.number("group.max.size"),
            migration=setting(self._broker, "group.consumer.migration.policy") or "disabled",
        )


def leadership_changed(broker: Broker, now: int) -> None:
    """A partition of `__consumer_offsets` has another leader: see to its groups."""
    groups.leadership_changed(broker, now)
    broker.room(ConsumerGroups).adopt(now)


def rules_of(persona: Persona) -> ConsumerRules:
    quirk = persona.quirk
    return ConsumerRules(
        first_epoch=quirk("consumer-groups.begin-at-epoch"),
        joins_name_topics=quirk("consumer-groups.joins-name-topics"),
        away_names_itself=quirk("consumer-groups.the-away-name-themselves"),
        compares_epochs=quirk("consumer-groups.every-epoch-is-compared"),
        drops_at_once=quirk("consumer-groups.unwanted-topics-go-at-once"),
        revoking_ends_an_epoch=quirk("consumer-groups.revoking-ends-an-epoch"),
        waits_for_itself=quirk("consumer-groups.members-wait-for-themselves"),
        anybody_is_put_out=quirk("consumer-groups.anybody-is-put-out"),
        follows_target=quirk("consumer-groups.classic-members-follow-the-target"),
        policy_bars_joins=quirk("consumer-groups.migration-policy-bars-joins"),
        ends_by_replacement=quirk("consumer-groups.end-by-replacement"),
        custom_assignors_stay=quirk("consumer-groups.custom-assignors-stay-classic"),
        instances_come_first=quirk("consumer-groups.targets-go-by-instances"),
        early_uniform=quirk("consumer-groups.uniform-is-the-first"),
        least_buckets=quirk("consumer-groups.assignments-have-buckets"),
        keeps_topics=quirk("consumer-groups.topics-are-records"),
    )


def _end_classic(group: Group) -> None:
    """Members that wait in the classic group are told to join again."""
    code = ErrorCode.REBALANCE_IN_PROGRESS
    for member in group.members.values():
        if member.joining is not None:
            member.joining.give(refusal(code, member.id, -1))
        if member.syncing is not None:
            member.syncing.give(synced(code))
