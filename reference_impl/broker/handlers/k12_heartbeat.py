"""Heartbeat: a member is alive, and hears when its group rebalances.

Sources: GROUP-21, GROUP-22; group/states.py; observed on all five releases.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.coordinators.consumer_groups import ConsumerGroups
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, groups: Groups, consumers: ConsumerGroups, now: int) -> Struct:
    body = request.body
    code = groups.refusal(body["group_id"], member=True)
    if code:
        blindly = code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS  # nobody knows yet (GROUP-21)
        return {"error_code": ErrorCode.NONE if blindly else code}
    group = groups.coordinator.groups.get(body["group_id"])
    if group is not None and group.consumer_group is not None:
        return {"error_code": consumers.classic_heartbeat(group, body, now)}
    code = groups.coordinator.heartbeat(
        body["group_id"],
        body["member_id"],
        body["generation_id"],
        body["group_instance_id"],
        now,
    )
    return {"error_code": code}
