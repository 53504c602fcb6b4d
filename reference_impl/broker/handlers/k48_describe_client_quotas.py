"""DescribeClientQuotas: nobody has one; only the kinds of entities are looked at (KIP-546).

Observed on 2.8.2, 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from reference_impl.broker.broker import Broker
    from reference_impl.broker.effects import Request

ENTITIES = frozenset({"user", "client-id", "ip"})


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    for component in request.body["components"]:
        kind = component["entity_type"]
        if kind not in ENTITIES:
            return {
                "error_code": ErrorCode.UNSUPPORTED_VERSION,
                "error_message": broker.persona.quirk("quotas.unknown-entity").format(kind),
                "entries": None,
            }
    return {"error_code": ErrorCode.NONE, "error_message": "", "entries": []}
