"""ExpireDelegationToken: not for peers that did not authenticate (KIP-48).

Observed on 2.2.1, 2.8.2, 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.effects import Request


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    return {"error_code": ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, "expiry_timestamp_ms": -1}
