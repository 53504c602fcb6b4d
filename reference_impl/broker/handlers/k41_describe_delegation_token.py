"""DescribeDelegationToken: the tokens that concern who asks, of these owners or of all (KIP-48).

Observed on 2.2.1, 2.8.2, 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.security.tokens import TokenRequests
from touchstone.reference_impl.cluster.delegation_tokens import DelegationToken
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, tokens: TokenRequests, now: int) -> Struct:
    asked = request.body["owners"]
    owners = None
    if asked is not None:
        owners = [(row["principal_type"], row["principal_name"]) for row in asked]
    try:
        found = tokens.describe(request.connection, owners, now, request.access)
    except ApiError as refused:
        return {"error_code": refused.code, "tokens": []}
    version = request.header.version
    return {"error_code": ErrorCode.NONE, "tokens": [_row(*each, version) for each in found]}


def _row(token: DelegationToken, secret: bytes, version: int) -> Struct:
    row: Struct = {
        "principal_type": token.owner[0],
        "principal_name": token.owner[1],
        "issue_timestamp": token.issued,
        "expiry_timestamp": token.expires,
        "max_timestamp": token.ends,
        "token_id": token.id,
        "hmac": secret,
        "renewers": [
            {"principal_type": kind, "principal_name": name} for kind, name in token.renewers
        ],
    }
    if version >= 3:
        row["token_requester_principal_type"] = token.requester[0]
        row["token_requester_principal_name"] = token.requester[1]
    return row
