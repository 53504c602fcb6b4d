"""SaslAuthenticate: on a plain listener everybody has been let in before.

Observed on all five releases.
"""

from __future__ import annotations

from typing import Any

from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.wire.errors import ErrorCode


def handle(request: Request, now: int) -> dict[str, Any]:
    return {
        "error_code": ErrorCode.ILLEGAL_SASL_STATE,
        "error_message": "SaslAuthenticate request received after successful authentication",
    }
