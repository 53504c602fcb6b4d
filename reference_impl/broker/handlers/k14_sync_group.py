"""SyncGroup: the leader hands out assignments, the others wait for theirs.

v3 instance ids (KIP-345); v5 protocol type and name are checked and answered (KIP-559).

Sources: GROUP-17 to 20; group/coordinator.py; observed on all five releases.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.coordinators.consumer_groups import ConsumerGroups
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.effects import Request, Wait, waiting
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

FIRST_NAMED = 5


def handle(request: Request, groups: Groups, consumers: ConsumerGroups, now: int) -> Struct | Wait:
    body = request.body
    code = groups.refusal(body["group_id"], member=True)
    if request.header.version >= FIRST_NAMED and None in (
        body["protocol_type"],
        body["protocol_name"],
    ):
        code = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if code:
        return fail(request, code)
    group = groups.coordinator.groups.get(body["group_id"])
    if group is not None and group.consumer_group is not None and group.consumer_group.members:
        return waiting(consumers.sync(group, body, now), dict)
    ticket = groups.coordinator.sync(
        body["group_id"],
        body["member_id"],
        body["generation_id"],
        instance_id=body["group_instance_id"],
        protocol_type=body["protocol_type"],
        protocol=body["protocol_name"],
        assignments={row["member_id"]: bytes(row["assignment"]) for row in body["assignments"]},
        now=now,
    )
    return waiting(ticket, lambda answer: answer)


def fail(request: Request, code: int) -> Struct:
    return {"error_code": code, "assignment": b""}
