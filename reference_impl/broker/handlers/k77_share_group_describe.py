"""ShareGroupDescribe: share groups, their members, and what these read (KIP-932).

Observed on 4.3.1.
"""

from __future__ import annotations

from typing import Any

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.authorized_operations import (
    GROUP_CONFIG_OPERATIONS,
    GROUP_OPERATIONS,
    NOT_ASKED,
)
from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.coordinators.group_answers import described, topic_rows
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.share_groups import (
    share_group,
    share_groups_enabled,
)
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.share.group import Member, ShareGroup
from touchstone.reference_impl.wire.errors import ErrorCode

ASSIGNOR = "simple"
WORDS = {ErrorCode.NOT_COORDINATOR: "This is not the correct coordinator."}


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    if not share_groups_enabled(broker):
        return fail(request, ErrorCode.UNSUPPORTED_VERSION)
    asked = request.body["include_authorized_operations"]
    rights = GROUP_OPERATIONS | GROUP_CONFIG_OPERATIONS if asked else NOT_ASKED
    asked = sorted(request.body["group_ids"], key=lambda name: name != "")
    return {"groups": [_described(broker, group_id, rights) for group_id in asked]}


def fail(request: Request, code: int) -> dict[str, Any]:
    return {"groups": [described(group_id, code) for group_id in request.body["group_ids"]]}


def _described(broker: Broker, group_id: str, rights: int) -> dict[str, Any]:
    code = broker.room(Groups).refusal(group_id, member=True)
    if code:
        return described(group_id, code, WORDS.get(code))
    try:
        group = share_group(broker, group_id)
    except ApiError as refused:
        return described(group_id, refused.code, refused.message)
    return described(group_id, ErrorCode.NONE) | _shown(broker, group, rights)


def _shown(broker: Broker, group: ShareGroup, rights: int) -> dict[str, Any]:
    return {
        "group_state": group.state,
        "group_epoch": group.epoch,
        "assignment_epoch": group.assignment_epoch,
        "assignor_name": ASSIGNOR,
        "members": [_member(broker, member) for member in group.members.values()],
        "authorized_operations": rights,
    }


def _member(broker: Broker, member: Member) -> dict[str, Any]:
    known = broker.cluster.by_id
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
