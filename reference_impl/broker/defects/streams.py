"""Defects of streams groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.streams_groups import StreamsGroups
from touchstone.reference_impl.broker.coordinators.streams_topics import StreamsTopics
from touchstone.reference_impl.broker.defects.planting import defect, handler_defect
from touchstone.reference_impl.group.members import Group
from touchstone.reference_impl.group.streams.coordinator import StreamsCoordinator
from touchstone.reference_impl.group.streams.group import StreamsGroup, StreamsMember
from touchstone.reference_impl.group.streams.heartbeat import Beat
from touchstone.reference_impl.group.streams.holders import Holders
from touchstone.reference_impl.group.streams.status import SHUTDOWN_APPLICATION, Status
from touchstone.reference_impl.group.streams.topology import Topology

Real = Callable[..., Any]
OFFSET_COMMIT = 8


@defect("streams-tasks-go-to-two", StreamsCoordinator, "beat")
def nobody_holds_anything(
    real: Real, _: StreamsCoordinator, group: StreamsGroup, *args: Any, **named: Any
) -> Any:
    group.holders = Holders()
    return real(group, *args, **named)


@defect("streams-epochs-not-checked", StreamsCoordinator, "_member")
def any_epoch_is_the_members(
    real: Real, _: StreamsCoordinator, group: StreamsGroup, beat: Beat
) -> StreamsMember:
    member = group.members.get(beat.member_id)
    found: StreamsMember = real(group, beat) if member is None else member
    return found


@defect("streams-members-never-go", StreamsCoordinator, "tick")
def nobody_goes(real: Real, _: StreamsCoordinator, group: StreamsGroup, now: int) -> None:
    for member in group.members.values():
        member.expires = member.revoke_by = None
    real(group, now)


@defect("streams-leaves-keep-the-epoch", StreamsCoordinator, "_remove")
def leaves_keep_the_epoch(
    real: Real, _: StreamsCoordinator, group: StreamsGroup, member: StreamsMember
) -> None:
    group.epoch -= 1
    real(group, member)


@defect("streams-shutdowns-not-told", StreamsCoordinator, "_statuses")
def shutdowns_not_told(real: Real, _: StreamsCoordinator, *args: Any) -> tuple[Status, ...]:
    return tuple(each for each in real(*args) if each.code != SHUTDOWN_APPLICATION)


@defect("streams-endpoints-not-told", StreamsCoordinator, "beat")
def endpoints_not_told(real: Real, _: StreamsCoordinator, *args: Any, **named: Any) -> Any:
    return replace(real(*args, **named), endpoints=None)


@defect("streams-standbys-not-given", StreamsCoordinator, "_assign")
def standbys_not_given(
    real: Real, _: StreamsCoordinator, group: StreamsGroup, configured: Any, *args: Any
) -> Any:
    _, now = args
    return real(group, configured, {}, now)


@defect("streams-first-assignment-at-once", StreamsCoordinator, "_draft")
def first_assignment_at_once(
    real: Real, _: StreamsCoordinator, group: StreamsGroup, change: Any, *args: Any
) -> StreamsGroup:
    settings, now = args
    draft: StreamsGroup = real(group, change, replace(settings, initial_delay_ms=0), now)
    return draft


@defect("streams-topics-not-made", StreamsTopics, "make")
def topics_not_made(real: Real, _: StreamsTopics, *args: Any, **named: Any) -> None:
    pass


@defect("streams-joined-topics-not-compared", StreamsCoordinator, "_configured")
def joined_topics_not_compared(
    real: Real, _: StreamsCoordinator, group: StreamsGroup, topology: Topology
) -> Any:
    apart = {
        name: replace(one, copartition_groups=()) for name, one in topology.subtopologies.items()
    }
    return real(group, Topology(topology.epoch, apart))


@defect("streams-groups-not-logged", StreamsGroups, "_keep")
def groups_not_logged(
    real: Real, _: StreamsGroups, group: Group, pairs: Any, now: int, then: Any
) -> None:
    if group.streams_group is not None:
        group.streams_group.journal.clear()
    real(group, [], now, then)


@handler_defect("streams-commits-of-any-epoch", OFFSET_COMMIT)
def commits_of_any_epoch(real: Real, broker: Any, request: Any, now: int) -> Any:
    body = request.body
    group = broker.room(Groups).coordinator.groups.get(body["group_id"])
    half = None if group is None else group.streams_group
    member = None if half is None else half.members.get(body["member_id"])
    if member is not None:
        body["generation_id_or_member_epoch"] = member.epoch
    return real(request, now)
