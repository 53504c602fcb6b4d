"""ConsumerGroupDescribe: there are no groups of the new protocol here, and admins ask anyway.

Java's admin client asks this first and DescribeGroups where the answer is GROUP_ID_NOT_FOUND, so a
broker with classic groups alone needs it (KIP-848). Answers come by the partitions of their groups.

Observed on 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from typing import Any

from reference_impl.broker.broker import Broker
from reference_impl.broker.effects import Request
from reference_impl.broker.groups import coordinator_of, refusal
from reference_impl.group.placement import partition_for
from reference_impl.wire.errors import ErrorCode

_PARTITIONS = 50


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    if not broker.persona.quirk("groups.consumer-protocol-is-on"):
        return fail(request, ErrorCode.UNSUPPORTED_VERSION)
    asked = request.body["group_ids"]
    first = {partition_for(name, _PARTITIONS): at for at, name in reversed([*enumerate(asked)])}
    asked = sorted(asked, key=lambda name: (name != "", first[partition_for(name, _PARTITIONS)]))
    return {"groups": [_described(broker, group_id) for group_id in asked]}


def fail(request: Request, code: int) -> dict[str, Any]:
    return {"groups": [_row(group_id, code) for group_id in request.body["group_ids"]]}


def _described(broker: Broker, group_id: str) -> dict[str, Any]:
    code = refusal(broker, group_id, member=True)
    if code:
        return _row(group_id, code)
    classic = group_id in coordinator_of(broker).groups
    why = "is not a consumer group" if classic else "not found"
    return _row(group_id, ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} {why}.")


def _row(group_id: str, code: int, message: str | None = None) -> dict[str, Any]:
    return {
        "error_code": code,
        "error_message": message,
        "group_id": group_id,
        "group_state": "",
        "group_epoch": 0,
        "assignment_epoch": 0,
        "assignor_name": "",
        "members": [],
    }
