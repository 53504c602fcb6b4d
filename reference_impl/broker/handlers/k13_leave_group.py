"""LeaveGroup: members go at once and the rest rebalance; from v3 many at once (KIP-345).

Up to v2 the one member's error is the answer's; from v3 each member has its own.

Sources: GROUP-24; group/coordinator.py; observed on all five releases.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.coordinators.consumer_groups import ConsumerGroups
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.effects import Request, Wait, waiting
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

FIRST_BATCHED = 3


def handle(request: Request, groups: Groups, consumers: ConsumerGroups, now: int) -> Struct | Wait:
    body, version = request.body, request.header.version
    code = groups.refusal(body["group_id"], member=True)
    if code:
        return fail(request, code)
    rows = body["members"]
    if version < FIRST_BATCHED:
        rows = [{"member_id": body["member_id"], "group_instance_id": None}]
    group_id, who = body["group_id"], [(r["member_id"], r["group_instance_id"]) for r in rows]
    coordinator = groups.coordinator
    group = coordinator.groups.get(group_id)
    if group is not None and group.consumer_group is not None:
        codes, ticket = consumers.leave(group, who, now)
    else:
        codes = [coordinator.leave(group_id, *each, now) for each in who]
        ticket = Ticket({"error_code": ErrorCode.NONE})

    def form(answer: Struct) -> Struct:
        if answer["error_code"]:
            return fail(request, answer["error_code"])
        if version < FIRST_BATCHED:
            return {"error_code": codes[0]}
        told = [
            {
                "member_id": row["member_id"],
                "group_instance_id": row["group_instance_id"],
                "error_code": code,
            }
            for row, code in zip(rows, codes, strict=True)
        ]
        return {"error_code": ErrorCode.NONE, "members": told}

    return waiting(ticket, form)


def fail(request: Request, code: int) -> Struct:
    return {"error_code": code, "members": []}
