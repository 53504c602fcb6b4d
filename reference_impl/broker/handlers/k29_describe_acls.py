"""DescribeAcls: there is no authorizer, hence no list.

Observed on all five releases.
"""

from __future__ import annotations

from typing import Any

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.wire.errors import ErrorCode


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    if "no-authorizer-no-acls" in broker.switches:
        return {"error_code": ErrorCode.NONE, "error_message": None, "resources": []}
    return {
        "error_code": ErrorCode.SECURITY_DISABLED,
        "error_message": "No Authorizer is configured on the broker",
    }
