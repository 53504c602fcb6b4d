"""ConsumerGroupDescribe: consumer groups, their members, and what these have and shall have.

Java's admin client asks this first and DescribeGroups where the answer is GROUP_ID_NOT_FOUND
(KIP-848). Answers come by the partitions of their groups.

Observed on 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

from touchstone.reference_impl.broker.authorized_operations import (
    GROUP_CONFIG_OPERATIONS,
    GROUP_OPERATIONS,
    NOT_ASKED,
)
from touchstone.reference_impl.broker.control.internal_topics import OFFSETS
from touchstone.reference_impl.broker.coordinators.consumer_groups import ASSIGNORS
from touchstone.reference_impl.broker.coordinators.group_answers import (
    described,
    in_answered_order,
    topic_rows,
)
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.share_groups import ShareGroups
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.group.consumer_group import (
    ConsumerGroup,
    ConsumerMember,
    TopicIdPartition,
)
from touchstone.reference_impl.group.java_maps import java_order, partition_order, timeline_order
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

_SPEAKS_CLASSIC, _SPEAKS_CONSUMER = 0, 1


class _Form(NamedTuple):
    """What a description has."""

    rights: int
    why: bool  # a message where there is nothing to describe
    revoked: bool  # what a member has to give up, as something it has


def handle(
    request: Request,
    groups: Groups,
    shares: ShareGroups,
    cluster: Cluster,
    persona: Persona,
    now: int,
) -> Struct:
    if not (persona.quirk("groups.consumer-protocol-is-on") and groups.serves("consumer")):
        return fail(request, ErrorCode.UNSUPPORTED_VERSION)
    form = _Form(
        _rights(request, persona),
        persona.quirk("consumer-groups.descriptions-say-why"),
        persona.quirk("consumer-groups.revoked-partitions-are-described"),
    )
    once = cache(lambda group_id: _described(groups, shares, cluster, group_id, form))
    if persona.quirk("consumer-groups.partitions-describe-all"):
        return _by_each_partition(request, groups, once)
    return {"groups": [once(group_id) for group_id in in_answered_order(request.body["group_ids"])]}


def _by_each_partition(request: Request, groups: Groups, once: Callable[[str], Struct]) -> Struct:
    """3.9 hands each partition's coordinator the whole request; a group of another is not there.

    An empty id gets a row without an id, which cannot be written, so all fail.
    """
    asked = request.body["group_ids"]
    if "" in asked:
        return fail(request, ErrorCode.UNKNOWN_SERVER_ERROR)
    place = groups.log.partition_of
    rows = []
    for partition in partition_order(OFFSETS, dict.fromkeys(map(place, asked))):
        mine = {group_id for group_id in asked if place(group_id) == partition}
        led = not any(groups.refusal(group_id, member=True) for group_id in mine)
        rows += [
            once(group_id)
            if group_id in mine
            else described(group_id, ErrorCode.GROUP_ID_NOT_FOUND)
            for group_id in asked
            if led or group_id in mine
        ]
    return {"groups": rows}


def fail(request: Request, code: int) -> Struct:
    return {"groups": [described(group_id, code) for group_id in request.body["group_ids"]]}


def _described(
    groups: Groups, shares: ShareGroups, cluster: Cluster, group_id: str, form: _Form
) -> Struct:
    code = groups.refusal(group_id, member=True)
    if code:
        return described(group_id, code)
    group = groups.coordinator.groups.get(group_id)
    if group is not None and group.consumer_group is not None:
        return described(group_id, code) | _shown(cluster, group.consumer_group, form)
    missing = group is None and not shares.is_shared(group_id)
    words = f"Group {group_id} {'not found' if missing else 'is not a consumer group'}."
    return described(group_id, ErrorCode.GROUP_ID_NOT_FOUND, words if form.why else None)


def _rights(request: Request, persona: Persona) -> int:
    configs = GROUP_CONFIG_OPERATIONS if persona.quirk("groups.have-configs") else 0
    asked = request.body["include_authorized_operations"]
    return GROUP_OPERATIONS | configs if asked else NOT_ASKED


def _shown(cluster: Cluster, group: ConsumerGroup, form: _Form) -> Struct:
    return {
        "group_state": str(group.state),
        "group_epoch": group.epoch,
        "assignment_epoch": group.assignment_epoch,
        "assignor_name": group.assignor(ASSIGNORS[0], timeline_order(ASSIGNORS).index),
        "members": [
            _member(cluster, group, group.members[each], form)
            for each in timeline_order(group.members)
        ],
        "authorized_operations": form.rights,
    }


def _member(cluster: Cluster, group: ConsumerGroup, member: ConsumerMember, form: _Form) -> Struct:
    held = (member.assigned, member.revoking) if form.revoked else (member.assigned,)
    return {
        "member_id": member.id,
        "instance_id": member.instance_id,
        "rack_id": member.rack_id,
        "member_epoch": member.epoch,
        "client_id": member.client_id,
        "client_host": member.client_host,
        "subscribed_topic_names": list(member.names),
        "subscribed_topic_regex": member.regex,
        "assignment": _assignment(cluster, *held),
        "target_assignment": _assignment(cluster, group.target.get(member.id, frozenset())),
        "member_type": _SPEAKS_CONSUMER if member.classic is None else _SPEAKS_CLASSIC,
    }


def _assignment(cluster: Cluster, *held: Iterable[TopicIdPartition]) -> Struct:
    """What it has, then what it has to give up."""
    known = cluster.by_id
    merged: dict[bytes, Struct] = {}
    for row in (row for places in held for row in topic_rows(places)):
        standing = merged.setdefault(row["topic_id"], row | {"partitions": []})
        standing["partitions"] += row["partitions"]
    rows = [merged[each] for each in java_order(merged) if each in known]
    return {"topic_partitions": [row | {"topic_name": known[row["topic_id"]].name} for row in rows]}
