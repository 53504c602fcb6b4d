"""StreamsGroupDescribe: each group is refused, for streams groups are off here (KIP-1071).

As a 4.3 answers whose `group.coordinator.rebalance.protocols` leaves streams out: a row for each
name that was asked for, in its order, doubles and the empty one too.

Observed on 4.3.1 told so.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.authorized_operations import NOT_ASKED
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, now: int) -> Struct:
    return fail(request, ErrorCode.UNSUPPORTED_VERSION)


def fail(request: Request, code: int) -> Struct:
    return {"groups": [_refused(group_id, code) for group_id in request.body["group_ids"]]}


def _refused(group_id: str, code: int) -> Struct:
    return {
        "error_code": code,
        "group_id": group_id,
        "group_state": "",
        "group_epoch": 0,
        "assignment_epoch": 0,
        "members": [],
        "authorized_operations": NOT_ASKED,
    }
