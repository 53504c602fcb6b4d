"""A classic group becomes a consumer group, and back, while its members stay (KIP-848).

The first heartbeat of the consumer protocol upgrades a classic group of consumers: each member
keeps its id, its generation becomes the epoch of all, and what it was assigned its target. When
the last member of the consumer protocol is gone, those who speak the classic one go on in a classic
group whose generation is the epoch. `group.consumer.migration.policy` allows either.

Sources: KIP-848; ConsumerGroup.fromClassicGroup, ClassicGroup.fromConsumerGroup@4.3.1;
observed on 4.3.1.
"""

from __future__ import annotations

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.group import consumer_records
from touchstone.reference_impl.group.classic_members import assignment_of
from touchstone.reference_impl.group.consumer_group import (
    Classic,
    ConsumerGroup,
    ConsumerMember,
    Downgrade,
    TopicIdPartition,
    View,
)
from touchstone.reference_impl.group.consumer_rules import ConsumerRules
from touchstone.reference_impl.group.consumer_states import stand
from touchstone.reference_impl.group.heartbeat import UPGRADES, Settings
from touchstone.reference_impl.group.java_maps import java_order, timeline_order
from touchstone.reference_impl.group.members import CONSUMER, Group, Member
from touchstone.reference_impl.group.protocol_tie_break import Order
from touchstone.reference_impl.group.states import State
from touchstone.reference_impl.group.xxh3 import group_hash
from touchstone.reference_impl.wire.embedded.consumer_protocol import (
    decode_assignment,
    decode_subscription,
)
from touchstone.reference_impl.wire.errors import ErrorCode as E


def upgraded(
    group: Group, settings: Settings, view: View, now: int, rules: ConsumerRules
) -> ConsumerGroup:
    """The consumer group that this classic one is to be. Raises ApiError; nothing changes."""
    if settings.migration not in UPGRADES:
        raise _cannot(group, "online upgrade is disabled")
    if group.protocol_type != CONSUMER:
        raise _cannot(group, "the group does not use the consumer embedded protocol")
    if len(group.members) > settings.max_size:
        raise _cannot(group, "the group size exceeds the consumer group maximum size")
    if group.protocol is None:
        raise ApiError(E.UNKNOWN_SERVER_ERROR, "No value present")
    consumer_group = ConsumerGroup(
        group.id,
        epoch=group.generation,
        assignment_epoch=group.generation,
        seen=view.version,
        rules=rules,
    )
    for member_id in java_order(group.members):
        member = _consumer_member(group, group.members[member_id], view, rules)
        member.expires = now + group.members[member_id].session_timeout_ms
        consumer_group.add(member)
        consumer_group.target[member_id] = frozenset(member.assigned)
    topics = {
        name: view.topics[name].hash for name in consumer_group.subscribed() if name in view.topics
    }
    if not rules.keeps_topics:  # who comes writes the topics down
        consumer_group.hash = group_hash(topics)
    consumer_group.journal += consumer_records.whole(consumer_group)
    stand(consumer_group)
    return consumer_group


def take_over(group: Group, consumer_group: ConsumerGroup) -> None:
    """The classic half is over: who waits in it has to come again."""
    group.clear()
    group.pending.clear()
    group.unsynced.clear()
    group.join_deadline = group.join_may_grow_ms = group.sync_deadline = None
    group.state, group.generation = State.EMPTY, 0
    group.protocol = None
    group.protocol_type, group.consumer_group = CONSUMER, consumer_group


def downgrade(
    group: Group, consumer_group: ConsumerGroup, view: View, now: int, tie: Order
) -> bool:
    """Make the group a classic one again; whether it has to rebalance."""
    ending = consumer_group.ending or Downgrade()
    ids = [each for each in timeline_order(consumer_group.members) if each not in ending.leaving]
    ids.sort(key=lambda each: each == ending.joining)
    group.consumer_group = None
    group.clear()
    group.protocol = None
    for member_id in ids:
        group.add(_classic(consumer_group.members[member_id], now), CONSUMER)
    group.state = State.STABLE
    group.generation = consumer_group.epoch if ending.generation is None else ending.generation
    group.protocol = group.elected(tie)
    for member in group.members.values():
        target = consumer_group.target.get(member.id, frozenset())
        member.assignment = assignment_of(target, member.metadata(group.protocol), view)
    return ending.rebalances


def _consumer_member(
    group: Group, member: Member, view: View, rules: ConsumerRules
) -> ConsumerMember:
    try:
        assigned = _assigned(group, member, view, rules)
        _, subscription, _ = decode_subscription(member.metadata(group.protocol))
    except ValueError:
        raise _cannot(group, "the embedded consumer protocol is malformed") from None
    return ConsumerMember(
        member.id,
        member.instance_id,
        subscription.get("rack_id") or None,
        member.client_id,
        member.client_host,
        member.rebalance_timeout_ms,
        frozenset(subscription["topics"]),
        classic=Classic(member.session_timeout_ms, tuple(member.protocols)),
        epoch=group.generation,
        previous_epoch=group.generation,
        assigned=dict.fromkeys(assigned, group.generation),
    )


def _assigned(
    group: Group, member: Member, view: View, rules: ConsumerRules
) -> list[TopicIdPartition]:
    if not member.assignment:
        return []
    _, assignment, _ = decode_assignment(member.assignment)
    if assignment["user_data"] and rules.custom_assignors_stay:
        raise _cannot(
            group,
            "an unsupported custom assignor is in use. Please refer to the documentation or "
            "switch to a default assignor before re-attempting the upgrade",
        )
    return [
        (view.topics[row["topic"]].id, index)
        for row in assignment["assigned_partitions"]
        if row["topic"] in view.topics
        for index in row["partitions"]
    ]


def _classic(member: ConsumerMember, now: int) -> Member:
    classic = member.classic or Classic(0, ())
    return Member(
        member.id,
        member.instance_id,
        member.client_id,
        member.client_host,
        classic.session_timeout,
        member.rebalance_timeout,
        list(classic.protocols),
        expires_at_ms=now + classic.session_timeout,
    )


def _cannot(group: Group, why: str) -> ApiError:
    words = f"Cannot upgrade classic group {group.id} to consumer group because {why}."
    return ApiError(E.GROUP_ID_NOT_FOUND, words)
