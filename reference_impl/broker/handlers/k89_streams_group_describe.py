"""StreamsGroupDescribe: streams groups, their topologies, members and tasks (KIP-1071).

A topology that is ready is shown with the partitions that were counted for it, another as its
members told it.

Sources: KIP-1071; StreamsGroup.asDescribedGroup@4.3.1; observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.authorized_operations import (
    GROUP_CONFIG_OPERATIONS,
    GROUP_OPERATIONS,
    NOT_ASKED,
)
from touchstone.reference_impl.broker.coordinators.group_answers import in_answered_order
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.streams_groups import StreamsGroups
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.group.java_maps import java_order, timeline_order
from touchstone.reference_impl.group.streams.group import StreamsGroup, StreamsMember
from touchstone.reference_impl.group.streams.tasks import KINDS, Task, Tasks, rows
from touchstone.reference_impl.group.streams.topology import Subtopology, Topology
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, groups: Groups, streams: StreamsGroups, now: int) -> Struct:
    if not streams.enabled():
        return fail(request, ErrorCode.UNSUPPORTED_VERSION)
    asked = request.body["include_authorized_operations"]
    rights = GROUP_OPERATIONS | GROUP_CONFIG_OPERATIONS if asked else NOT_ASKED
    names = in_answered_order(request.body["group_ids"])
    once = cache(lambda group_id: _described(groups, streams, group_id, rights))
    return {"groups": [once(group_id) for group_id in names]}


def fail(request: Request, code: int) -> Struct:
    return {"groups": [_refused(group_id, code) for group_id in request.body["group_ids"]]}


def _refused(group_id: str, code: int, message: str | None = None) -> Struct:
    return {
        "error_code": code,
        "error_message": message,
        "group_id": group_id,
        "group_state": "",
        "group_epoch": 0,
        "assignment_epoch": 0,
        "members": [],
        "authorized_operations": NOT_ASKED,
    }


def _described(groups: Groups, streams: StreamsGroups, group_id: str, rights: int) -> Struct:
    code = groups.refusal(group_id, member=True)
    if code:
        return _refused(group_id, code)
    try:
        group = streams.streams_group(group_id)
    except ApiError as refused:
        return _refused(group_id, refused.code, refused.message)
    return {
        "error_code": ErrorCode.NONE,
        "group_id": group_id,
        "group_state": str(group.state),
        "group_epoch": group.epoch,
        "assignment_epoch": group.assignment_epoch,
        "topology": _topology(group),
        "members": [_member(group, group.members[each]) for each in timeline_order(group.members)],
        "authorized_operations": rights,
    }


def _topology(group: StreamsGroup) -> Struct | None:
    told, configured = group.topology, group.configured
    if configured is not None and configured.ready:
        found = [each.told for each in (configured.subtopologies or {}).values()]
        return _topology_row(configured.epoch, found)
    return None if told is None else _topology_row(told.epoch, _sorted(told))


def _sorted(told: Topology) -> list[Subtopology]:
    return [told.subtopologies[each] for each in sorted(told.subtopologies)]


def _topology_row(epoch: int, subtopologies: Iterable[Subtopology]) -> Struct:
    return {
        "epoch": epoch,
        "subtopologies": [
            {
                "subtopology_id": one.id,
                "source_topics": sorted(one.sources),
                "repartition_sink_topics": sorted(one.repartition_sinks),
                "state_changelog_topics": [each.row() for each in sorted(one.changelogs)],
                "repartition_source_topics": [
                    each.row() for each in sorted(one.repartition_sources)
                ],
            }
            for one in subtopologies
        ],
    }


def _member(group: StreamsGroup, member: StreamsMember) -> Struct:
    endpoint = member.endpoint
    target = group.target.get(member.id, Tasks())
    return {
        "member_id": member.id,
        "member_epoch": member.epoch,
        "instance_id": None,
        "rack_id": member.rack_id,
        "client_id": member.client_id,
        "client_host": member.client_host,
        "topology_epoch": member.topology_epoch,
        "process_id": member.process_id,
        "user_endpoint": endpoint and {"host": endpoint.host, "port": endpoint.port},
        "client_tags": [{"key": key, "value": member.tags[key]} for key in java_order(member.tags)],
        "task_offsets": [],
        "task_end_offsets": [],
        "assignment": _assignment(member.assigned.of_kinds()),
        "target_assignment": _assignment(target.of_kinds()),
        "is_classic": False,
    }


def _assignment(kinds: Iterable[Iterable[Task]]) -> Struct:
    return {kind: rows(tasks) for kind, tasks in zip(KINDS, kinds, strict=True)}
