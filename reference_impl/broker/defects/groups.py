"""Defects of the coordinators of groups, of their logs, and of the offsets that they keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.control.internal_topics import OFFSETS
from touchstone.reference_impl.broker.coordinators.consumer_groups import ConsumerGroups
from touchstone.reference_impl.broker.coordinators.group_log import GroupLog
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.offset_commits import OffsetCommits, Take
from touchstone.reference_impl.broker.coordinators.runtime import Written
from touchstone.reference_impl.broker.defects.planting import defect, holder, setting
from touchstone.reference_impl.cluster.topology import Topic
from touchstone.reference_impl.group.consumer_coordinator import ConsumerCoordinator
from touchstone.reference_impl.group.consumer_group import ConsumerGroup, ConsumerMember
from touchstone.reference_impl.group.consumer_requests import Do, sender
from touchstone.reference_impl.group.coordinator import Coordinator
from touchstone.reference_impl.group.heartbeat import Beat
from touchstone.reference_impl.group.join_messages import Answer, Join, refusal
from touchstone.reference_impl.group.members import Group, Member
from touchstone.reference_impl.group.offsets import CommittedOffset
from touchstone.reference_impl.group.placement import java_hash
from touchstone.reference_impl.group.states import State
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.txn.coordinator import Producer
from touchstone.reference_impl.wire.errors import ErrorCode

LAST_GENERATION = 3  # where a count that starts over does so; a real one's would be a power of two
NO_EPOCH = -1
Real = Callable[..., Any]
KeptOffsets = Mapping[tuple[str, int], CommittedOffset | None]

holder(ConsumerGroups)


# ------------------------------------------------------------------------- which group is where


@defect("anybody-coordinates", Groups, "coordinates")
def anybody_coordinates(real: Real, groups: Groups, group_id: str) -> bool:
    return True


@defect("groups-placed-by-mask", GroupLog, "partition_of")
def groups_placed_by_mask(real: Real, log: GroupLog, group_id: str) -> int:
    topic = log._broker.cluster.topics.get(OFFSETS)
    return -1 if topic is None else (java_hash(group_id) & 0x7FFFFFFF) % len(topic.partitions)


# ----------------------------------------------------------------------------------- the log


@defect("commit-not-logged", GroupLog, "keep_offsets")
def commit_not_logged(
    real: Real, _: GroupLog, group_id: str, offsets: KeptOffsets, now: int, then: Written,
    *, producer: Producer | None = None,
) -> None:  # fmt: skip
    if producer is None and None not in offsets.values():
        then(ErrorCode.NONE, now)
    else:
        real(group_id, offsets, now, then, producer=producer)


@defect("pending-offsets-visible", GroupLog, "keep_offsets")
def pending_offsets_visible(
    real: Real, log: GroupLog, group_id: str, offsets: KeptOffsets, now: int, then: Written,
    *, producer: Producer | None = None,
) -> None:  # fmt: skip
    def kept(code: int, at: int) -> None:
        then(code, at)
        group = log._coordinator.groups.get(group_id)
        if group is not None and producer is not None:
            group.offsets.update(group.unstable.pop(producer.id, {}))

    real(group_id, offsets, now, kept, producer=producer)


@defect("group-tombstones-missing", GroupLog, "forget")
def group_tombstones_missing(real: Real, log: GroupLog, group: Group, now: int) -> None:
    pass


@defect("consumer-groups-not-logged", GroupLog, "keep")
def consumer_groups_not_logged(
    real: Real, log: GroupLog, group_id: str, pairs: Sequence[Any], now: int, then: Written
) -> None:
    then(ErrorCode.NONE, now)


# --------------------------------------------------------------------------- committed offsets


@defect("rebalance-not-told-to-commits", Groups, "may_commit")
def rebalance_not_told_to_commits(real: Real, _: Groups, *args: Any) -> int:
    code = real(*args)
    rebalances = code == ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.UNKNOWN_MEMBER_ID if rebalances else code


@defect("stale-generation-committed", Groups, "may_commit")
def stale_generation_committed(real: Real, _: Groups, *args: Any) -> int:
    code = real(*args)
    return ErrorCode.NONE if code == ErrorCode.ILLEGAL_GENERATION else code


@defect("strangers-commit", Groups, "may_commit")
def strangers_commit(real: Real, _: Groups, *args: Any) -> int:
    code = real(*args)
    return ErrorCode.NONE if code == ErrorCode.UNKNOWN_MEMBER_ID else code


def _each_kept(change: Callable[[CommittedOffset, dict[str, Any]], CommittedOffset]) -> Real:
    """A change of what a commit keeps, made for one offset and the row that brought it."""

    def changed(real: Real, _: OffsetCommits, now: int, **how: Any) -> Take:
        take = real(now, **how)

        def taken(row: dict[str, Any], topic: Topic, made: int) -> CommittedOffset | int:
            kept = take(row, topic, made)
            return change(kept, row) if isinstance(kept, CommittedOffset) else kept

        return taken

    return changed


for _switch, _change in {
    "committed-offset-off-by-one": lambda kept, row: kept._replace(offset=kept.offset + 1),
    "commit-metadata-lost": lambda kept, row: kept._replace(metadata=""),
    "commit-leader-epoch-lost": lambda kept, row: kept._replace(leader_epoch=NO_EPOCH),
}.items():
    defect(_switch, OffsetCommits, "taker")(_each_kept(_change))


@defect("commit-metadata-unlimited", OffsetCommits, "taker")
def commit_metadata_unlimited(real: Real, _: OffsetCommits, now: int, **how: Any) -> Take:
    take = real(now, **how)

    def taken(row: dict[str, Any], topic: Topic, made: int) -> CommittedOffset | int:
        kept = take(row | {"committed_metadata": ""}, topic, made)
        return kept._replace(metadata=row["committed_metadata"] or "")

    return taken


@defect("expired-offsets-kept", Groups, "_sweep")
def expired_offsets_kept(real: Real, groups: Groups, now: int) -> None:
    groups._schedule_sweep(now)


@defect("retention-counts-from-the-commit", Groups, "_sweep")
def retention_counts_from_the_commit(real: Real, groups: Groups, now: int) -> None:
    for group in groups.coordinator.groups.values():
        group.emptied_at_ms = 0
    real(now)


# ----------------------------------------------------------------------------- classic groups


@setting("initial-rebalance-delay-ignored", Coordinator)
def initial_rebalance_delay_ignored(coordinator: Coordinator) -> None:
    coordinator.rules = replace(coordinator.rules, initial_delay_ms=0)


@setting("group-size-ignored", Coordinator)
def group_size_ignored(coordinator: Coordinator) -> None:
    coordinator.rules = replace(coordinator.rules, max_size=2**31 - 1)


@defect("joining-members-forgotten", Coordinator, "join")
def joining_members_forgotten(
    real: Real, coordinator: Coordinator, ask: Join, now: int
) -> Ticket[Answer]:
    group = coordinator.groups.get(ask.group_id)
    joins = group is not None and group.state is State.PREPARING
    if group is not None and joins and ask.member_id in group.members:
        code = ErrorCode.UNKNOWN_MEMBER_ID
        return Ticket(refusal(code, ask.member_id, coordinator.rules.error_generation))
    return real(ask, now)


@defect("fenced-instance-accepted", Coordinator, "heartbeat")
def fenced_instance_accepted(real: Real, _: Coordinator, *args: Any) -> int:
    code = real(*args)
    return ErrorCode.NONE if code == ErrorCode.FENCED_INSTANCE_ID else code


@defect("session-timeout-ignored", Coordinator, "tick")
def session_timeout_ignored(real: Real, coordinator: Coordinator, group_id: str, now: int) -> None:
    group = coordinator.groups.get(group_id)
    for member in group.members.values() if group is not None else ():
        member.expires_at_ms = None
    real(group_id, now)


@defect("rebalance-too-many", Coordinator, "_rejoin")
def rebalance_too_many(
    real: Real, coordinator: Coordinator, group: Group, member: Member, ask: Join, now: int
) -> Ticket[Answer]:
    if group.state is State.STABLE:
        ticket = coordinator._update(group, member, ask)
        coordinator._lose_members(group, now)
        return ticket
    return real(group, member, ask, now)


@defect("pending-syncs-not-told", Coordinator, "_rebalance")
def pending_syncs_not_told(
    real: Real, _: Coordinator, group: Group, before: State, now: int
) -> None:
    real(group, State.STABLE if before is State.COMPLETING else before, now)


@defect("joins-not-awaited", Coordinator, "_check_join")
def joins_not_awaited(real: Real, coordinator: Coordinator, group: Group, now: int) -> None:
    joined = any(member.joining is not None for member in group.members.values())
    if group.state is State.PREPARING and joined:
        coordinator._complete_join(group, now)
    else:
        real(group, now)


@defect("generation-not-bumped", Coordinator, "_complete_join")
def generation_not_bumped(real: Real, _: Coordinator, group: Group, now: int) -> None:
    if group.generation:
        group.generation -= 1
    real(group, now)


@defect("generations-start-over", Coordinator, "_complete_join")
def generations_start_over(real: Real, _: Coordinator, group: Group, now: int) -> None:
    if group.generation == LAST_GENERATION:
        group.generation = 0
    real(group, now)


@defect("assignment-truncated", Coordinator, "_assign")
def assignment_truncated(
    real: Real, _: Coordinator, group: Group, parts: dict[str, bytes], now: int
) -> None:
    real(group, {member: part[:-1] for member, part in parts.items()}, now)


# ---------------------------------------------------------------------------- consumer groups


@defect("member-epoch-not-fenced", ConsumerCoordinator, "_sender")
def member_epoch_not_fenced(
    real: Real, _: ConsumerCoordinator, group: ConsumerGroup, beat: Beat
) -> tuple[ConsumerMember, Do]:
    try:
        return real(group, beat)
    except ApiError as refused:
        found = sender(group, beat)[1]
        if refused.code != ErrorCode.FENCED_MEMBER_EPOCH or found is None:
            raise
        return found, Do.GO_ON


@defect("group-epoch-not-bumped", ConsumerCoordinator, "refresh")
def group_epoch_not_bumped(
    real: Real, coordinator: ConsumerCoordinator, group: ConsumerGroup, *, bump: bool
) -> None:
    group.seen = coordinator.view().version


@defect("partition-given-to-two-members", ConsumerCoordinator, "_taken")
def partition_given_to_two_members(real: Real, *_: Any) -> set[Any]:
    return set()
