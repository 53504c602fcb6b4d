"""A broker has one group coordinator, and every request about a group begins here.

The coordinator of a group is the leader of its partition of `__consumer_offsets`; anybody else
answers NOT_COORDINATOR (GROUP-03, GROUP-04, OFFS-04). This file makes the sans-IO coordinator with
the persona's rules and the broker's settings, gives it ids and alarms, and turns its tickets into
waiting requests.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.configs.config_view import broker_definitions, setting
from touchstone.reference_impl.broker.control.features import Features
from touchstone.reference_impl.broker.control.internal_topics import OFFSETS
from touchstone.reference_impl.broker.coordinators.group_log import GroupLog, nobody_waits
from touchstone.reference_impl.broker.coordinators.runtime import Written
from touchstone.reference_impl.group import commits, log_records, offsets
from touchstone.reference_impl.group.coordinator import Coordinator
from touchstone.reference_impl.group.join_messages import Rules
from touchstone.reference_impl.group.members import Group
from touchstone.reference_impl.group.offsets import sweep
from touchstone.reference_impl.group.placement import partition_for
from touchstone.reference_impl.group.protocol_tie_break import ORDERS
from touchstone.reference_impl.group.states import State
from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

PROTOCOLS = "group.coordinator.rebalance.protocols"
_MINUTE = 60_000
_UNLIMITED = 2**31 - 1


class Groups:
    """The groups of one broker: their coordinator, their log, and what sweeps old offsets."""

    def __init__(self, broker: Broker) -> None:
        self._broker, self._persona = broker, broker.persona
        self.coordinator = self._new_coordinator()
        self.log = GroupLog(broker, self.coordinator, self.watch_age)
        self.sweeps = False  # an alarm for old offsets and empty groups stands
        self.offsets_seen_at = -1  # the cluster's generation when deleted topics were looked for

    def refusal(self, group_id: str, *, member: bool, joins: bool = False) -> int:
        """The error with which this broker refuses any request about the group, or 0."""
        if (
            not group_id
            and member
            and (joins or self._persona.quirk("groups.empty-ids-are-refused"))
        ):
            return ErrorCode.INVALID_GROUP_ID
        if not self.coordinates(group_id):
            return ErrorCode.NOT_COORDINATOR
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if self.log.loads(group_id) else 0

    def serves(self, protocol: str) -> bool:
        """Whether the broker was told to serve groups of this protocol, besides classic ones."""
        told = setting(self._broker, PROTOCOLS) or ""
        return protocol in {name.strip().lower() for name in told.split(",")}

    def coordinates(self, group_id: str) -> bool:
        return self.log.serves(group_id)

    def may_commit(
        self, group: Group, member_id: str, instance_id: str | None, generation: int, now: int
    ) -> int:
        """The error code of such a commit, NONE if it is taken."""
        return commits.may_commit(self.coordinator, group, member_id, instance_id, generation, now)

    def write_empty(self, group_id: str, now: int) -> None:
        """Write a new group down, empty, whatever becomes of who wanted it (4.x)."""
        if self._persona.quirk("groups.newer-coordinator") and group_id in self.coordinator.groups:
            version = self._persona.quirk("groups.value-version")
            empty = log_records.group_entry(Group(group_id), {}, version=version, now=now)
            self.log.keep(group_id, [empty], now, nobody_waits)

    def become_classic(self, group: Group, now: int) -> None:
        """An empty group whose members spoke a newer protocol goes on as a classic one."""
        version = self._persona.quirk("groups.value-version")
        pairs = log_records.newer_tombstones(group)
        pairs.append(log_records.group_entry(Group(group.id), {}, version=version, now=now))
        self.log.keep(group.id, pairs, now, nobody_waits)
        group.consumer_group = group.streams_group = group.protocol_type = None

    def state_name(self, group: Group) -> str:
        if group.newer_half is not None:
            return str(group.newer_half.state)
        if group.state is State.COMPLETING:
            return self._persona.quirk("groups.awaiting-assignments")
        return str(group.state)

    def watch_age(self, now: int) -> None:
        """See to it that old offsets and empty groups go (OFFS-23, OFFS-24), once this broker has
        read a partition of groups: they may be another's, and a group need not have offsets.
        """
        if not self.sweeps:
            self.sweeps = True
            self._schedule_sweep(now)

    def forget_deleted(self) -> None:
        """Offsets of deleted topics go, also where a new topic has the name (OFFS-24)."""
        cluster = self._broker.cluster
        if self.offsets_seen_at == cluster.generation:
            return
        self.offsets_seen_at = cluster.generation
        for group in self.coordinator.groups.values():
            gone = [
                k for k, kept in group.offsets.items() if cluster.topics.get(k[0]) is not kept.topic
            ]
            staged = [
                k
                for kept_by in group.unstable.values()
                for k, kept in kept_by.items()
                if cluster.topics.get(k[0]) is not kept.topic
            ]
            for key in (*gone, *staged):
                offsets.forget(group, key)
            if gone:
                append = partial(self._append_tombstones, group.id, gone)
                self._broker.soon(("deleted topics", group.id, cluster.generation), append)

    def _append_tombstones(self, group_id: str, gone: list[tuple[str, int]], now: int) -> None:
        tombstones: dict[tuple[str, int], None] = dict.fromkeys(gone)
        self.log.keep_offsets(group_id, tombstones, now, nobody_waits)

    def transaction_ended(self, partition: int, producer_id: int, commit: bool) -> None:
        """A marker was written into this partition of `__consumer_offsets` (KIP-98)."""
        runtime = self.log.runtime
        for group in self.coordinator.groups.values():
            if group.unstable and runtime.partition_of(group.id) == partition:
                offsets.transaction_ended(group, producer_id, commit=commit)

    def partition_to_be(self, group_id: str) -> int:
        """The partition of a group's offsets, also where the topic has yet to be made."""
        topic = self._broker.cluster.topics.get(OFFSETS)
        count = len(topic.partitions) if topic else self.number("offsets.topic.num.partitions")
        return partition_for(group_id, count)

    def retention_ms(self) -> int:
        return self.number("offsets.retention.minutes") * _MINUTE

    def _member_id(self, stem: str) -> str:
        raw = bytearray(self._broker.cluster.random.randbytes(16))
        raw[6], raw[8] = raw[6] & 0x0F | 0x40, raw[8] & 0x3F | 0x80
        text = raw.hex()
        return "-".join((stem, text[:8], text[8:12], text[12:16], text[16:20], text[20:]))

    def _schedule_sweep(self, now: int) -> None:
        at = now + self.number("offsets.retention.check.interval.ms")
        self._broker.purgatory.remind(("offsets", self._broker.id), at, self._sweep)

    def _sweep(self, now: int) -> None:
        coordinator = self.coordinator
        self.forget_deleted()
        for group in list(coordinator.groups.values()):
            before = dict(group.offsets)
            spares = self._persona.quirk("offsets.members-keep")
            if sweep(group, self.retention_ms(), now, spares=spares):
                group.offsets.update(before)
                self.log.forget(group, now)
                coordinator.forget(group)
            elif gone := dict.fromkeys(before.keys() - group.offsets.keys()):
                self.log.keep_offsets(group.id, gone, now, nobody_waits)
        self._schedule_sweep(now)

    def _new_coordinator(self) -> Coordinator:
        quirk = self._persona.quirk
        rules = Rules(
            early=quirk("groups.early-states"),
            min_session_ms=self.number("group.min.session.timeout.ms"),
            max_session_ms=self.number("group.max.session.timeout.ms"),
            initial_delay_ms=self.number("group.initial.rebalance.delay.ms"),
            max_size=self.number("group.max.size"),
            error_generation=quirk("groups.refused-join-has-generation"),
            awaits_syncs=quirk("groups.syncs-are-awaited"),
            new_members_lapse=quirk("groups.new-members-lapse"),
            tie=ORDERS[quirk("groups.ties-are-broken-as-by")],
            knows_instances=quirk("groups.unknown-instances-are-refused"),
            offsets_by_parts=quirk("offsets.members-and-generations-are-looked-at-apart"),
            syncs_are_signs_of_life=quirk("groups.syncs-are-signs-of-life"),
            counts_everybody=quirk("groups.size-counts-everybody"),
            keeps_timeouts=quirk("groups.rejoins-keep-their-timeouts"),
            reads_subscriptions=quirk("groups.must-speak-their-protocol"),
            tries_again=quirk("groups.joins-try-again"),
            reverts_protocols=quirk("groups.newer-coordinator"),
        )

        def alarm(group_id: str, at: int | None) -> None:
            self.log.runtime.remind(group_id, at, lambda now: coordinator.tick(group_id, now))

        def keep(group: Group, assignments: dict[str, bytes], now: int, then: Written) -> None:
            self.log.keep_group(group, assignments, now, then)

        coordinator = Coordinator(rules, new_id=self._member_id, alarm=alarm, keep=keep)
        return coordinator

    def number(self, name: str) -> int:
        """A setting, or the release's default; a release without the setting has no limit."""
        definition = broker_definitions(self._persona.release).get(name)
        return self._broker.number(name, definition.number if definition else _UNLIMITED)


def leadership_changed(broker: Broker, now: int) -> None:
    """A partition of `__consumer_offsets` has another leader: load its groups, or unload them."""
    broker.room(Groups).log.runtime.leadership_changed(now)


def streams_are_served(broker: Broker) -> bool:
    """Whether streams groups are: by the broker's setting, and by the feature."""
    level = broker.room(Features).level("streams.version")
    return broker.room(Groups).serves("streams") and level > 0
