"""DeleteGroups: groups without members are removed with their offsets (KIP-229).

Sources: group/states.py; observed on the four releases that have it.
"""

from __future__ import annotations

from typing import Any

from reference_impl.broker import group_log
from reference_impl.broker.broker import Broker
from reference_impl.broker.effects import Request
from reference_impl.broker.groups import coordinator_of, refusal
from reference_impl.wire.errors import ErrorCode


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    rows = []
    for group_id in dict.fromkeys(request.body["groups_names"]):
        code = refusal(broker, group_id, member=False) or _delete(broker, group_id, now)
        rows.append({"group_id": group_id, "error_code": code})
    return {"results": rows}


def fail(request: Request, code: int) -> dict[str, Any]:
    rows = [{"group_id": name, "error_code": code} for name in request.body["groups_names"]]
    return {"results": rows}


def _delete(broker: Broker, group_id: str, now: int) -> int:
    coordinator = coordinator_of(broker)
    group = coordinator.groups.get(group_id)
    if group is not None and group.modern is not None and group.modern.members:
        return ErrorCode.NON_EMPTY_GROUP
    code = coordinator.delete(group_id)
    if group is not None and not code:
        group_log.forget(broker, group, now)
    return code
