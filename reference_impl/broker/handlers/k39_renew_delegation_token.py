"""RenewDelegationToken: a token lives on, by its owner or a renewer (KIP-48).

Observed on 2.2.1, 2.8.2, 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.security.tokens import TokenRequests
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, tokens: TokenRequests, now: int) -> Struct:
    secret, ms = bytes(request.body["hmac"]), request.body["renew_period_ms"]
    try:
        expires = tokens.renew(request.connection, secret, ms, now)
    except ApiError as refused:
        return {"error_code": refused.code, "expiry_timestamp_ms": tokens.unset_of(refused)}
    return {"error_code": ErrorCode.NONE, "expiry_timestamp_ms": expires}
