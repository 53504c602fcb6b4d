"""A broker has one group coordinator, and every request about a group begins here.

The coordinator of a group is the leader of its partition of `__consumer_offsets`; anybody else
answers NOT_COORDINATOR (GROUP-03, GROUP-04, OFFS-04). This file makes the sans-IO coordinator with
the persona's rules and the broker's settings, gives it ids and alarms, and turns its tickets into
waiting requests.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from touchstone.reference_impl.broker.configs.config_view import broker_definitions
from touchstone.reference_impl.broker.control.internal_topics import OFFSETS
from touchstone.reference_impl.broker.coordinators.group_log import GroupLog, nobody_waits
from touchstone.reference_impl.broker.coordinators.runtime import Written
from touchstone.reference_impl.broker.effects import NEVER, Wait
from touchstone.reference_impl.group import defects, offsets
from touchstone.reference_impl.group.coordinator import Coordinator
from touchstone.reference_impl.group.join_messages import Rules
from touchstone.reference_impl.group.members import Group, Ticket
from touchstone.reference_impl.group.offsets import sweep
from touchstone.reference_impl.group.placement import partition_for
from touchstone.reference_impl.group.protocol_tie_break import ORDERS
from touchstone.reference_impl.group.states import State
from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

_MINUTE = 60_000
_UNLIMITED = 2**31 - 1


class Groups:
    """The groups of one broker: their coordinator, their log, and what sweeps old offsets."""

    def __init__(self, broker: Broker) -> None:
        self.coordinator = _make(broker, self)
        self.log = GroupLog(broker, self.coordinator, lambda now: watch_age(broker, now))
        self.sweeps = False  # an alarm for old offsets and empty groups stands
        self.offsets_seen_at = -1  # the cluster's generation when deleted topics were looked for


def groups_of(broker: Broker) -> Groups:
    return broker.room(Groups)


def coordinator_of(broker: Broker) -> Coordinator:
    return broker.room(Groups).coordinator


def log_of(broker: Broker) -> GroupLog:
    return broker.room(Groups).log


def leadership_changed(broker: Broker, now: int) -> None:
    """A partition of `__consumer_offsets` has another leader: load its groups, or unload them."""
    log_of(broker).runtime.leadership_changed(now)


def refusal(broker: Broker, group_id: str, *, member: bool, joins: bool = False) -> int:
    """The error with which this broker refuses any request about the group, or 0."""
    if not group_id and member and (joins or broker.persona.quirk("groups.empty-ids-are-refused")):
        return ErrorCode.INVALID_GROUP_ID
    if not coordinates(broker, group_id):
        return ErrorCode.NOT_COORDINATOR
    return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if log_of(broker).loads(group_id) else 0


def coordinates(broker: Broker, group_id: str) -> bool:
    return log_of(broker).serves(group_id) or "anybody-coordinates" in broker.switches


def waiting(
    broker: Broker, ticket: Ticket, form: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any] | Wait:
    """The ticket's answer in the form of its request, now or when it comes."""
    if ticket.answer is not None:
        return form(ticket.answer)

    def attempt(now: int) -> dict[str, Any] | None:
        return None if ticket.answer is None else form(ticket.answer)

    return Wait(NEVER, (), attempt, attempt, ticket)


def state_name(broker: Broker, group: Group) -> str:
    if group.consumer_group is not None:
        return str(group.consumer_group.state)
    if group.state is State.COMPLETING:
        return broker.persona.quirk("groups.awaiting-assignments")
    return str(group.state)


def watch_age(broker: Broker, now: int) -> None:
    """See to it that old offsets and empty groups go (OFFS-23, OFFS-24), once this broker has read
    a partition of groups: they may be another's, and a group need not have offsets.
    """
    groups = broker.room(Groups)
    if not groups.sweeps:
        groups.sweeps = True
        _schedule_sweep(broker, now)


def forget_deleted(broker: Broker) -> None:
    """Offsets of deleted topics go, also where a new topic has the name (OFFS-24)."""
    groups, cluster = broker.room(Groups), broker.cluster
    if groups.offsets_seen_at == cluster.generation:
        return
    groups.offsets_seen_at = cluster.generation
    for group in groups.coordinator.groups.values():
        gone = [
            k for k, kept in group.offsets.items() if cluster.topics.get(k[0]) is not kept.topic
        ]
        for key in gone:
            del group.offsets[key]
        if gone:
            append = partial(_append_tombstones, broker, group.id, gone)
            broker.soon(("deleted topics", group.id, cluster.generation), append)


def _append_tombstones(
    broker: Broker, group_id: str, gone: list[tuple[str, int]], now: int
) -> None:
    tombstones: dict[tuple[str, int], None] = dict.fromkeys(gone)
    log_of(broker).keep_offsets(group_id, tombstones, now, nobody_waits)


def transaction_ended(broker: Broker, partition: int, producer_id: int, commit: bool) -> None:
    """A marker was written into this partition of `__consumer_offsets` (KIP-98)."""
    runtime = log_of(broker).runtime
    for group in coordinator_of(broker).groups.values():
        if group.unstable and runtime.partition_of(group.id) == partition:
            offsets.transaction_ended(group, producer_id, commit=commit)


def partition_to_be(broker: Broker, group_id: str) -> int:
    """The partition of a group's offsets, also where the topic has yet to be made."""
    topic = broker.cluster.topics.get(OFFSETS)
    count = len(topic.partitions) if topic else number(broker, "offsets.topic.num.partitions")
    return partition_for(group_id, count)


def retention_ms(broker: Broker) -> int:
    return number(broker, "offsets.retention.minutes") * _MINUTE


def _make(broker: Broker, groups: Groups) -> Coordinator:
    quirk = broker.persona.quirk
    rules = Rules(
        early=quirk("groups.early-states"),
        min_session_ms=number(broker, "group.min.session.timeout.ms"),
        max_session_ms=number(broker, "group.max.session.timeout.ms"),
        initial_delay_ms=number(broker, "group.initial.rebalance.delay.ms"),
        max_size=number(broker, "group.max.size"),
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
    )

    def alarm(group_id: str, at: int | None) -> None:
        groups.log.runtime.remind(group_id, at, lambda now: coordinator.tick(group_id, now))

    planted = broker.switches & defects.SWITCHES
    kind = partial(defects.DefectiveCoordinator, switches=planted) if planted else Coordinator

    def keep(group: Group, assignments: dict[str, bytes], now: int, then: Written) -> None:
        groups.log.keep_group(group, assignments, now, then)

    coordinator = kind(
        rules,
        new_id=lambda stem: _member_id(broker, stem),
        alarm=alarm,
        keep=keep,
    )
    return coordinator


def _member_id(broker: Broker, stem: str) -> str:
    raw = bytearray(broker.cluster.random.randbytes(16))
    raw[6], raw[8] = raw[6] & 0x0F | 0x40, raw[8] & 0x3F | 0x80
    text = raw.hex()
    return "-".join((stem, text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _schedule_sweep(broker: Broker, now: int) -> None:
    at = now + number(broker, "offsets.retention.check.interval.ms")
    broker.purgatory.remind(("offsets", broker.id), at, lambda then: _sweep(broker, then))


def _sweep(broker: Broker, now: int) -> None:
    coordinator = coordinator_of(broker)
    forget_deleted(broker)
    kept_for_ever = "expired-offsets-kept" in broker.switches
    from_commit = "retention-counts-from-the-commit" in broker.switches
    for group in () if kept_for_ever else list(coordinator.groups.values()):
        before = dict(group.offsets)
        spares = broker.persona.quirk("offsets.members-keep")
        if sweep(group, retention_ms(broker), now, spares=spares, from_commit=from_commit):
            group.offsets.update(before)
            log_of(broker).forget(group, now)
            coordinator.forget(group)
        elif gone := dict.fromkeys(before.keys() - group.offsets.keys()):
            log_of(broker).keep_offsets(group.id, gone, now, nobody_waits)
    _schedule_sweep(broker, now)


def number(broker: Broker, name: str) -> int:
    """A setting, or the release's default; a release without the setting has no limit."""
    definition = broker_definitions(broker.persona.release).get(name)
    return broker.number(name, int(definition.default) if definition else _UNLIMITED)
