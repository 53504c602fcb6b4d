"""InitializeShareGroupState: a share partition's state begins, or begins anew (KIP-932).

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
        return coordinator.initialise(key, row["state_epoch"], row["start_offset"], now)

    return states.serve(request, now, ask)
