"""LeaveGroup: members go at once and the rest rebalance; from v3 many at once (KIP-345).

Up to v2 the one member's error is the answer's; from v3 each member has its own.

Sources: GROUP-24; group/coordinator.py; observed on all five releases.
"""

from __future__ import annotations

from typing import Any

from reference_impl.broker import consumer_groups
from reference_impl.broker.broker import Broker
from reference_impl.broker.effects import Request
from reference_impl.broker.groups import coordinator_of, refusal
from reference_impl.wire.errors import ErrorCode

FIRST_BATCHED = 3


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    body, version = request.body, request.header.version
    code = refusal(broker, body["group_id"], member=True)
    if code:
        return fail(request, code)
    coordinator = coordinator_of(broker)

    def leave(group_id: str, member_id: str, instance_id: str | None, now: int) -> int:
        group = coordinator.groups.get(group_id)
        if group is not None and group.modern is not None:
            return consumer_groups.leave(broker, group, member_id, instance_id, now)
        return coordinator.leave(group_id, member_id, instance_id, now)

    if version < FIRST_BATCHED:
        return {"error_code": leave(body["group_id"], body["member_id"], None, now)}
    rows = [
        {
            "member_id": row["member_id"],
            "group_instance_id": row["group_instance_id"],
            "error_code": leave(
                body["group_id"], row["member_id"], row["group_instance_id"], now
            ),
        }
        for row in body["members"]
    ]
    return {"error_code": ErrorCode.NONE, "members": rows}


def fail(request: Request, code: int) -> dict[str, Any]:
    return {"error_code": code, "members": []}
