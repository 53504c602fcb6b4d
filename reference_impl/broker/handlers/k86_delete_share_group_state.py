"""DeleteShareGroupState: a share partition's state is forgotten (KIP-932).

Sources: share/coordinator.py; observed on 4.3.1.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.coordinators.share_state_requests import (
    ShareStateRequests,
    fail,
)
from touchstone.reference_impl.broker.effects import Request, Wait
from touchstone.reference_impl.share.coordinator import (
    ShareCoordinator,
    SharePartitionKey,
    ShareResult,
)
from touchstone.reference_impl.wire.schema import Struct

__all__ = ["fail", "handle"]


def handle(request: Request, states: ShareStateRequests, now: int) -> Struct | Wait:
    def ask(coordinator: ShareCoordinator, key: SharePartitionKey, row: Struct) -> ShareResult:
        return coordinator.delete(key)

    return states.serve(request, now, ask)
