"""SaslAuthenticate: here its peer is known already, or nobody asks who it is.

What a token does before that is `broker/security`'s.

Observed on all five releases.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, now: int) -> Struct:
    return {
        "error_code": ErrorCode.ILLEGAL_SASL_STATE,
        "error_message": "SaslAuthenticate request received after successful authentication",
    }
