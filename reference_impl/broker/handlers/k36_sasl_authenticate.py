"""SaslAuthenticate: on a plain listener everybody has been let in before.

Observed on all five releases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.effects import Request


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    return {
        "error_code": ErrorCode.ILLEGAL_SASL_STATE,
        "error_message": "SaslAuthenticate request received after successful authentication",
    }
