"""SaslHandshake: this listener is plain, so nobody is asked who he is.

Observed on all five releases.
"""

from __future__ import annotations

from typing import Any

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.wire.errors import ErrorCode


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    mechanisms = broker.persona.quirk("sasl.mechanisms-of-a-plain-listener")
    if "any-handshake-welcome" in broker.switches:
        return {"error_code": ErrorCode.NONE, "mechanisms": [request.body["mechanism"]]}
    return {"error_code": ErrorCode.ILLEGAL_SASL_STATE, "mechanisms": list(mechanisms)}
