"""DeleteAcls: there is no authorizer that could have one; each filter is refused.

Observed on all five releases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.effects import Request


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    refusal = {
        "error_code": ErrorCode.SECURITY_DISABLED,
        "error_message": broker.persona.quirk("acls.refusal"),
    }
    return {"filter_results": [refusal for _ in request.body["filters"]]}
