"""StreamsGroupHeartbeat: refused, for streams groups are off here (KIP-1071).

As a 4.3 answers whose `group.coordinator.rebalance.protocols` leaves streams out. Its answer names
no member and has, unlike the other heartbeats', a list of statuses, empty.

Observed on 4.3.1 told so.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, now: int) -> Struct:
    return fail(request, ErrorCode.UNSUPPORTED_VERSION)


def fail(request: Request, code: int) -> Struct:
    return {
        "error_code": code,
        "member_id": "",
        "member_epoch": 0,
        "heartbeat_interval_ms": 0,
        "acceptable_recovery_lag": 0,
        "task_offset_interval_ms": 0,
        "status": [],
        "endpoint_information_epoch": 0,
    }
