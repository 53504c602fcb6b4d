"""ListPartitionReassignments: none is in progress, for replicas stay where they were placed.

Observed on 2.8.2, 3.9.2 and 4.3.1 (KIP-455).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from reference_impl.broker.broker import Broker
    from reference_impl.broker.effects import Request


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    message = None if broker.persona.kraft else ""
    return {"error_code": ErrorCode.NONE, "error_message": message, "topics": []}
