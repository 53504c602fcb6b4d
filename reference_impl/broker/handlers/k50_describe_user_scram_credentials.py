"""DescribeUserScramCredentials: nobody has any; each user that is named is told so (KIP-554).

Observed on 2.8.2, 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from reference_impl.broker.broker import Broker
    from reference_impl.broker.effects import Request


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    names = Counter(row["name"] for row in request.body["users"] or ())
    return {
        "error_code": ErrorCode.NONE,
        "error_message": "",
        "results": [_result(broker, name, times) for name, times in names.items()],
    }


def _result(broker: Broker, name: str, times: int) -> dict[str, Any]:
    code = ErrorCode.RESOURCE_NOT_FOUND
    message = f"Attempt to describe a user credential that does not exist: {name}"
    if times > 1:
        code = ErrorCode.DUPLICATE_RESOURCE
        message = (
            f"Cannot describe SCRAM credentials for the same user twice in a single request: {name}"
        )
    elif name == "" and not broker.persona.kraft:
        message = "Username must not be empty"
    return {"user": name, "error_code": code, "error_message": message, "credential_infos": []}
