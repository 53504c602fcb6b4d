"""Members of a consumer group may still speak the classic protocol (KIP-848, online migration).

JoinGroup is their heartbeat with a subscription, SyncGroup fetches what they have, Heartbeat tells
them to join again when there is something to give up or to take. Their generation is their member
epoch. Each has to join, and then to sync, within its rebalance timeout.

Sources: KIP-848; GroupMetadataManager.classicGroupJoinToConsumerGroup@4.3.1 and those beside it;
observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.group import consumer_records
from touchstone.reference_impl.group.consumer_coordinator import ConsumerCoordinator
from touchstone.reference_impl.group.consumer_group import (
    Classic,
    ConsumerGroup,
    ConsumerMember,
    Downgrade,
    MemberState,
    TopicIdPartition,
    View,
)
from touchstone.reference_impl.group.consumer_states import stand
from touchstone.reference_impl.group.heartbeat import DISABLED, DOWNGRADES
from touchstone.reference_impl.group.join_messages import Answer, Join, refusal
from touchstone.reference_impl.wire.embedded.consumer_protocol import (
    decode_subscription,
    encode_assignment,
)
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct


def join(
    consumers: ConsumerCoordinator,
    group: ConsumerGroup,
    ask: Join,
    now: int,
    new_id: Callable[[], str],
) -> tuple[Answer, frozenset[str]]:
    """The answer, and regular expressions to be resolved. Raises ApiError.

    The checks keep the order of classicGroupJoinToConsumerGroup, which shows where a request fails
    several of them: room, protocols, member id, and then whose the ids are.
    """
    if consumers.rules.policy_bars_joins and consumers.settings(group.id).migration == DISABLED:
        raise ApiError(E.INCONSISTENT_GROUP_PROTOCOL)
    member_id = ask.member_id or new_id()
    consumers.check_room(group, member_id)
    if not group.supports(ask.protocol_type, [name for name, _ in ask.protocols]):
        raise ApiError(E.INCONSISTENT_GROUP_PROTOCOL)
    if ask.needs_id and not ask.member_id and ask.instance_id is None:
        return refusal(E.MEMBER_ID_REQUIRED, member_id, -1), frozenset()
    # Who names both ids has to hold the instance id under this member id; a static member without
    # a member id takes the instance id over instead (KIP-345), which `joining` does.
    there = None
    if ask.instance_id is not None and ask.member_id:
        there = known(group, ask.member_id, ask.instance_id)
    subscription = _subscription(ask)
    # To replace the last static member of the consumer protocol ends the consumer group (KIP-848).
    # Kafka asks that last, with the old member still in its state; `joining` removes it here.
    standing = group.members.get(group.instances.get(ask.instance_id or "", ""))
    ends = standing is not None and _may_end(consumers, group, standing)
    member = there or consumers.joining(group, member_id, ask.instance_id, classic=True)
    old = replace(member)
    member.instance_id = ask.instance_id or member.instance_id
    member.rack_id = subscription.get("rack_id") or member.rack_id
    member.rebalance_timeout = ask.rebalance_timeout_ms
    member.names, member.regex = frozenset(subscription["topics"]), ""
    member.client_id, member.client_host = ask.client_id, ask.client_host
    member.classic = Classic(ask.session_timeout_ms, tuple(ask.protocols))
    owned = _owned(subscription, consumers.view())
    if ends:  # no session and no sync to wait for: the classic group that comes has its own
        resolve = _end(consumers, group, old, member, owned, now)
    else:
        resolve = consumers.step(group, old, member, owned, now)
        member.expires = now + ask.session_timeout_ms
        member.sync_by = now + ask.rebalance_timeout_ms
    member.join_by = None  # it came, as a heartbeat or a SyncGroup had told it to
    member.settle()
    stand(group)
    return _joined(member), resolve


def sync(
    consumers: ConsumerCoordinator,
    group: ConsumerGroup,
    member_id: str,
    instance_id: str | None,
    generation: int,
    protocol: tuple[str | None, str | None],
    now: int,
) -> bytes:
    """The assignment. Raises ApiError."""
    member = _classic(group, member_id, instance_id, generation)
    classic = member.classic
    if classic is None:
        raise ApiError(E.UNKNOWN_MEMBER_ID)
    if protocol[0] not in (None, "consumer") or protocol[1] not in (
        None,
        classic.protocols[0][0],
    ):
        raise ApiError(E.INCONSISTENT_GROUP_PROTOCOL)
    if _newest(group) > member.epoch and member.state is not MemberState.UNREVOKED:
        _await_join(member, now)
        raise ApiError(E.REBALANCE_IN_PROGRESS)
    member.sync_by = None
    member.expires = now + classic.session_timeout
    return assignment_of(member.assigned, classic.protocols[0][1], consumers.view())


def heartbeat(
    group: ConsumerGroup, member_id: str, instance_id: str | None, generation: int, now: int
) -> int:
    """Raises ApiError."""
    member = _classic(group, member_id, instance_id, generation)
    if member.classic is not None:
        member.expires = now + member.classic.session_timeout
    if (
        member.epoch < _newest(group)
        or member.state is MemberState.UNREVOKED
        or (member.state is MemberState.UNRELEASED and not _waits(group, member))
    ):
        _await_join(member, now)
        return E.REBALANCE_IN_PROGRESS
    return E.NONE


def known(group: ConsumerGroup, member_id: str, instance_id: str | None) -> ConsumerMember:
    """Raises ApiError."""
    holder = member_id if instance_id is None else group.instances.get(instance_id)
    member = group.members.get(holder or "")
    if member is None:
        raise ApiError(E.UNKNOWN_MEMBER_ID)
    if member.id != member_id:
        raise ApiError(E.FENCED_INSTANCE_ID)
    return member


def assignment_of(places: Iterable[TopicIdPartition], metadata: bytes, view: View) -> bytes:
    """These partitions as a member with such a subscription reads them."""
    names = {topic.id: name for name, topic in view.topics.items()}
    rows = [
        {"topic": names[topic], "partitions": indexes}
        for topic, indexes in consumer_records.by_topic(places)
        if topic in names
    ]
    version = min(int.from_bytes(metadata[:2], "big", signed=True), 3)
    return encode_assignment(version, {"assigned_partitions": rows, "user_data": None})


def _classic(
    group: ConsumerGroup, member_id: str, instance_id: str | None, generation: int
) -> ConsumerMember:
    member = known(group, member_id, instance_id)
    if member.classic is None:
        raise ApiError(E.UNKNOWN_MEMBER_ID)
    if member.epoch != generation:
        raise ApiError(E.ILLEGAL_GENERATION)
    return member


def _newest(group: ConsumerGroup) -> int:
    """The epoch that a classic member has to be in."""
    return group.assignment_epoch if group.rules.follows_target else group.epoch


def _await_join(member: ConsumerMember, now: int) -> None:
    if member.join_by is None:
        member.join_by = now + member.rebalance_timeout


def _waits(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Whether somebody still has what this member shall have."""
    wanted = group.target.get(member.id, frozenset()) - member.assigned.keys()
    return bool(wanted & group.held_by_others(member))


def _subscription(ask: Join) -> Struct:
    try:
        return decode_subscription(ask.protocols[0][1])[1]
    except ValueError:
        raise ApiError(E.UNKNOWN_SERVER_ERROR) from None


def _owned(subscription: Struct, view: View) -> frozenset[TopicIdPartition]:
    return frozenset(
        (view.topics[row["topic"]].id, index)
        for row in subscription.get("owned_partitions", ())
        if row["topic"] in view.topics
        for index in row["partitions"]
    )


def _may_end(
    consumers: ConsumerCoordinator, group: ConsumerGroup, standing: ConsumerMember
) -> bool:
    """Whether it is the last of the consumer protocol that comes back with the classic one."""
    if not consumers.rules.ends_by_replacement:
        return False
    settings = consumers.settings(group.id)
    others = [m for m in group.members.values() if m is not standing]
    return (
        standing.classic is None
        and all(member.classic is not None for member in others)
        and settings.migration in DOWNGRADES
        and len(group.members) <= settings.classic_max_size
    )


def _end(
    consumers: ConsumerCoordinator,
    group: ConsumerGroup,
    old: ConsumerMember,
    member: ConsumerMember,
    owned: frozenset[TopicIdPartition],
    now: int,
) -> frozenset[str]:
    generation = group.epoch
    renamed, resolve, _ = consumers.subscribe(group, old, member, now)
    changed = renamed or old.regex != member.regex
    if changed or group.seen != consumers.view().version:
        consumers.refresh(group, bump=changed)
    rebalances = group.assignment_epoch < group.epoch
    if not rebalances:
        target = group.target.get(member.id, frozenset())
        consumers.reconcile(group, member, owned, now, narrowed=changed, target=target)
    group.journal += consumer_records.group_tombstones(group)
    group.ending = Downgrade(joining=member.id, rebalances=rebalances, generation=generation)
    return resolve


def _joined(member: ConsumerMember) -> Answer:
    return {
        "error_code": E.NONE,
        "generation_id": member.epoch,
        "protocol_type": "consumer",
        "protocol_name": member.classic.protocols[0][0] if member.classic else None,
        "leader": "",
        "member_id": member.id,
        "members": [],
        "skip_assignment": False,
    }
