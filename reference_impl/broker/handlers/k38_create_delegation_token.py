"""CreateDelegationToken: not for peers that did not authenticate (KIP-48).

Observed on 2.2.1, 2.8.2, 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, now: int) -> Struct:
    principal = request.connection.principal
    answer: Struct = {
        "error_code": ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
        "principal_type": principal.type,
        "principal_name": principal.name,
        "issue_timestamp_ms": -1,
        "expiry_timestamp_ms": -1,
        "max_timestamp_ms": -1,
    }
    if request.header.version >= 3:
        answer["token_requester_principal_type"] = principal.type
        answer["token_requester_principal_name"] = principal.name
    return answer
