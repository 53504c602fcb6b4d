"""The consumer groups of a broker: found by id among all groups, with settings and alarms.

A group's id, offsets and partition are those of `groups.py`; what is here is its other half, for
groups whose members speak KIP-848. Membership is not kept in `__consumer_offsets` yet: after a
move or a restart members hear UNKNOWN_MEMBER_ID or GROUP_ID_NOT_FOUND and join again. A classic
group that has members is not taken over, nor does a consumer group take classic members.

Sources: KIP-848; observed on 4.3.1.
"""

from __future__ import annotations

from reference_impl.broker.broker import Broker
from reference_impl.broker.groups import coordinator_of, number
from reference_impl.group.consumer_coordinator import (
    Beat,
    ConsumerCoordinator,
    Refused,
    Settings,
    Told,
)
from reference_impl.group.members import Group
from reference_impl.group.modern import JOIN_EPOCH, LEAVE_EPOCH, ModernGroup, TopicView
from reference_impl.wire.errors import ErrorCode

_STATE = "consumer groups"
ASSIGNORS = ("uniform", "range")
CONSUMER = "consumer"


def consumers_of(broker: Broker) -> ConsumerCoordinator:
    found = broker.state.get(_STATE)
    if found is None:
        found = broker.state[_STATE] = ConsumerCoordinator(
            lambda: _topics(broker), lambda group_id: _settings(broker)
        )
    return found


def heartbeat(broker: Broker, beat: Beat, now: int) -> Told:
    """Raises Refused."""
    groups, consumers = coordinator_of(broker).groups, consumers_of(broker)
    group = groups.get(beat.group_id)
    joins = beat.epoch == JOIN_EPOCH
    if group is None and not joins:
        kind = "Consumer group" if beat.epoch > 0 else "Group"
        raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"{kind} {beat.group_id} not found.")
    if group is not None and group.modern is None and (not joins or group.members):
        words = f"Group {beat.group_id} is not a consumer group."
        raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, words)
    modern = ModernGroup() if group is None or group.modern is None else group.modern
    told = (
        consumers.leave(modern, beat) if beat.epoch < 0 else consumers.beat(modern, beat, now)
    )
    if group is None:
        group = coordinator_of(broker).found(beat.group_id, now)
    group.modern, group.protocol_type = modern, CONSUMER
    _watch(broker, group, modern, now)
    return told


def leave(broker: Broker, group: Group, member_id: str, instance_id: str | None, now: int) -> int:
    """LeaveGroup, which admins send too."""
    if group.modern is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if not member_id and instance_id is not None:
        member_id = group.modern.instances.get(instance_id, "")
    try:
        beat = Beat(
            group_id=group.id, member_id=member_id, epoch=LEAVE_EPOCH, instance_id=instance_id
        )
        heartbeat(broker, beat, now)
    except Refused as refused:
        return refused.code
    return ErrorCode.NONE


def make_classic(group: Group | None) -> None:
    """A group that nobody is left in may be joined by classic members."""
    if group is not None and group.modern is not None and not group.modern.members:
        group.modern, group.protocol_type = None, None


def heartbeat_interval(broker: Broker) -> int:
    return number(broker, "group.consumer.heartbeat.interval.ms")


def _watch(broker: Broker, group: Group, modern: ModernGroup, now: int) -> None:
    if not modern.members:
        group.emptied_at = now

    def due(then: int) -> None:
        if coordinator_of(broker).groups.get(group.id) is group and group.modern is modern:
            consumers_of(broker).tick(modern, then)
            _watch(broker, group, modern, then)

    broker.purgatory.remind(("consumer group", broker.id, group.id), modern.deadline(), due)


def _topics(broker: Broker) -> TopicView:
    return {
        topic.name: (topic.id, len(topic.partitions)) for topic in broker.cluster.topics.values()
    }


def _settings(broker: Broker) -> Settings:
    return Settings(
        session_ms=number(broker, "group.consumer.session.timeout.ms"),
        assignment_interval_ms=number(broker, "group.consumer.assignment.interval.ms"),
        max_size=number(broker, "group.consumer.max.size"),
        assignors=ASSIGNORS,
    )
