"""ShareGroupDescribe: share groups, their members, and what these read (KIP-932).

Observed on 4.3.1.
"""

from __future__ import annotations

from functools import cache

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.authorized_operations import (
    GROUP_CONFIG_OPERATIONS,
    GROUP_OPERATIONS,
    NOT_ASKED,
)
from touchstone.reference_impl.broker.coordinators.group_answers import described, topic_rows
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.share_groups import ShareGroups
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.share.group import Member, ShareGroup
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

ASSIGNOR = "simple"
WORDS = {ErrorCode.NOT_COORDINATOR: "This is not the correct coordinator."}


def handle(
    request: Request, groups: Groups, shares: ShareGroups, cluster: Cluster, now: int
) -> Struct:
    if not shares.enabled():
        return fail(request, ErrorCode.UNSUPPORTED_VERSION)
    asked = request.body["include_authorized_operations"]
    rights = GROUP_OPERATIONS | GROUP_CONFIG_OPERATIONS if asked else NOT_ASKED
    asked = sorted(request.body["group_ids"], key=lambda name: name != "")
    once = cache(lambda group_id: _described(groups, shares, cluster, group_id, rights))
    return {"groups": [once(group_id) for group_id in asked]}


def fail(request: Request, code: int) -> Struct:
    return {"groups": [described(group_id, code) for group_id in request.body["group_ids"]]}


def _described(
    groups: Groups, shares: ShareGroups, cluster: Cluster, group_id: str, rights: int
) -> Struct:
    code = groups.refusal(group_id, member=True)
    if code:
        return described(group_id, code, WORDS.get(ErrorCode(code)))
    try:
        group = shares.share_group(group_id)
    except ApiError as refused:
        return described(group_id, refused.code, refused.message)
    return described(group_id, ErrorCode.NONE) | _shown(cluster, group, rights)


def _shown(cluster: Cluster, group: ShareGroup, rights: int) -> Struct:
    return {
        "group_state": group.state,
        "group_epoch": group.epoch,
        "assignment_epoch": group.assignment_epoch,
        "assignor_name": ASSIGNOR,
        "members": [_member(cluster, member) for member in group.members.values()],
        "authorized_operations": rights,
    }


def _member(cluster: Cluster, member: Member) -> Struct:
    known = cluster.by_id
    rows = [row for row in topic_rows(member.assigned) if row["topic_id"] in known]
    named = [row | {"topic_name": known[row["topic_id"]].name} for row in rows]
    return {
        "member_id": member.id,
        "rack_id": member.rack_id,
        "member_epoch": member.epoch,
        "client_id": member.client_id,
        "client_host": member.client_host,
        "subscribed_topic_names": sorted(member.names),
        "assignment": {"topic_partitions": named},
    }
