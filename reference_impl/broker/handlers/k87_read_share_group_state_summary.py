"""ReadShareGroupStateSummary: where a share partition begins, and its epochs (KIP-932).

A share partition that was never initialised is no error; it begins nowhere. v1 adds how many
records from the start offset on are done (KIP-1226).

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
_NOWHERE = {"state_epoch": 0, "leader_epoch": 0, "start_offset": -1, "delivery_complete_count": -1}


def handle(request: Request, states: ShareStateRequests, now: int) -> Struct | Wait:
    def ask(coordinator: ShareCoordinator, key: SharePartitionKey, row: Struct) -> ShareResult:
        return coordinator.summary(key)

    return states.serve(request, now, ask, _shown)


def _shown(told: ShareResult) -> Struct:
    kept = told.kept
    if kept is None:
        return dict(_NOWHERE)
    return {
        "state_epoch": kept.state_epoch,
        "leader_epoch": kept.leader_epoch,
        "start_offset": kept.start,
        "delivery_complete_count": kept.done,
    }
