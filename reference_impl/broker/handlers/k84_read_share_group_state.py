"""ReadShareGroupState: a share partition's state, for the leader that takes it up (KIP-932).

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
from touchstone.reference_impl.share.log_records import rows_of
from touchstone.reference_impl.wire.schema import Struct

__all__ = ["fail", "handle"]


def handle(request: Request, states: ShareStateRequests, now: int) -> Struct | Wait:
    def ask(coordinator: ShareCoordinator, key: SharePartitionKey, row: Struct) -> ShareResult:
        return coordinator.read(key, row["leader_epoch"], now)

    return states.serve(request, now, ask, _shown)


def _shown(told: ShareResult) -> Struct:
    kept = told.kept
    if kept is None:
        return {}
    return {
        "state_epoch": kept.state_epoch,
        "start_offset": kept.start,
        "state_batches": rows_of(kept.batches),
    }
