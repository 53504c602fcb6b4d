"""DeleteShareGroupState: a share partition's state is forgotten (KIP-932).

Sources: share/coordinator.py; observed on 4.3.1.
"""

from __future__ import annotations

from typing import Any

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

__all__ = ["fail", "handle"]


def handle(request: Request, states: ShareStateRequests, now: int) -> dict[str, Any] | Wait:
    def ask(
        coordinator: ShareCoordinator, key: SharePartitionKey, row: dict[str, Any]
    ) -> ShareResult:
        return coordinator.delete(key)

    return states.serve(request, now, ask)
