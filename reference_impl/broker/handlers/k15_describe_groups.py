"""DescribeGroups: a group's state and its members, as its coordinator sees them.

Metadata and assignments are shown of stable groups only. A group that does not exist is Dead, with
no error up to v5 and GROUP_ID_NOT_FOUND from v6 (KIP-1043).

Sources: GROUP-31; KIP-430 (operations); observed on all five releases.
"""

from __future__ import annotations

from functools import cache

from touchstone.reference_impl.broker.authorized_operations import (
    GROUP_CONFIG_OPERATIONS,
    GROUP_OPERATIONS,
    NOT_ASKED,
)
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.share_groups import ShareGroups
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.group.members import Group
from touchstone.reference_impl.group.states import State
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

FIRST_NOT_FOUND = 6


def handle(
    request: Request, groups: Groups, shares: ShareGroups, persona: Persona, now: int
) -> Struct:
    body, version = request.body, request.header.version
    rights = _rights(persona) if body["include_authorized_operations"] else NOT_ASKED

    def row_of(group_id: str) -> Struct:
        code = groups.refusal(group_id, member=False)
        group = None if code else groups.coordinator.groups.get(group_id)
        if group is not None and group.newer_half is None:
            row = _described(groups, persona, group)
        else:
            row = _blank(group_id, code)
            if not code:
                missing = group is None and not shares.is_shared(group_id)
                why = "not found" if missing else "is not a classic group"
                row["group_state"] = "Dead"
                if version >= FIRST_NOT_FOUND:
                    row["error_code"] = ErrorCode.GROUP_ID_NOT_FOUND
                    row["error_message"] = f"Group {group_id} {why}."
        if not row["error_code"]:
            row["authorized_operations"] = rights
        return row

    once = cache(row_of)
    return {"groups": [once(group_id) for group_id in body["groups"]]}


def fail(request: Request, code: int) -> Struct:
    return {"groups": [_blank(group_id, code) for group_id in request.body["groups"]]}


def _rights(persona: Persona) -> int:
    configs = persona.quirk("groups.have-configs")
    return GROUP_OPERATIONS | (GROUP_CONFIG_OPERATIONS if configs else 0)


def _blank(group_id: str, code: int) -> Struct:
    return {
        "error_code": code,
        "group_id": group_id,
        "group_state": "",
        "protocol_type": "",
        "protocol_data": "",
        "members": [],
    }


def _described(groups: Groups, persona: Persona, group: Group) -> Struct:
    stable = group.state is State.STABLE
    assigned = stable or persona.quirk("groups.assignments-are-always-shown")
    members = [
        {
            "member_id": member.id,
            "group_instance_id": member.instance_id,
            "client_id": member.client_id,
            "client_host": member.client_host,
            "member_metadata": member.metadata(group.protocol) if stable else b"",
            "member_assignment": member.assignment if assigned else b"",
        }
        for member in group.members.values()
    ]
    return {
        "error_code": ErrorCode.NONE,
        "group_id": group.id,
        "group_state": groups.state_name(group),
        "protocol_type": group.protocol_type or "",
        "protocol_data": (group.protocol or "") if stable else "",
        "members": members,
    }
