"""ReadShareGroupState: a share partition's state, for the leader that takes it up (KIP-932).

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
from touchstone.reference_impl.share.log_records import rows_of

__all__ = ["fail", "handle"]


def handle(request: Request, states: ShareStateRequests, now: int) -> dict[str, Any] | Wait:
    def ask(
        coordinator: ShareCoordinator, key: SharePartitionKey, row: dict[str, Any]
    ) -> ShareResult:
        return coordinator.read(key, row["leader_epoch"], now)

    return states.serve(request, now, ask, _shown)


def _shown(told: ShareResult) -> dict[str, Any]:
    return {
        "state_epoch": told.kept.state_epoch,
        "start_offset": told.kept.start,
        "state_batches": rows_of(told.kept.batches),
    }
