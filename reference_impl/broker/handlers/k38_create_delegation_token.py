"""CreateDelegationToken: for peers that have said who they are, and not with a token (KIP-48).

From v3 on a token may be another's (KIP-373). An owner with a name and without a type is met as a
null by whoever makes a principal of it: UNKNOWN_SERVER_ERROR, as if no owner had been named.

Observed on 2.2.1, 2.8.2, 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.security.tokens import TokenRequests
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

TIMES = ("issue_timestamp_ms", "expiry_timestamp_ms", "max_timestamp_ms")


def handle(request: Request, tokens: TokenRequests, now: int) -> Struct:
    body, connection = request.body, request.connection
    requester, owner = connection.principal, None
    has_no_type = bool(body["owner_principal_name"]) and body["owner_principal_type"] is None
    if body["owner_principal_name"] and not has_no_type:
        owner = (body["owner_principal_type"], body["owner_principal_name"])
    kind, name = owner or requester
    answer: Struct = {"principal_type": kind, "principal_name": name}
    if request.header.version >= 3:
        answer["token_requester_principal_type"] = requester.type
        answer["token_requester_principal_name"] = requester.name
    renewers = [(row["principal_type"], row["principal_name"]) for row in body["renewers"]]
    try:
        if has_no_type:
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
        longest = body["max_lifetime_ms"]
        made, secret = tokens.create(connection, owner, renewers, longest, now, request.access)
    except ApiError as refused:
        unset = dict.fromkeys(TIMES, tokens.unset_of(refused))
        return answer | unset | {"error_code": refused.code}
    return answer | {
        "error_code": ErrorCode.NONE,
        "issue_timestamp_ms": made.issued,
        "expiry_timestamp_ms": made.expires,
        "max_timestamp_ms": made.ends,
        "token_id": made.id,
        "hmac": secret,
    }
