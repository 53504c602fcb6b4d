"""WriteShareGroupState: what a partition's leader has to say of a share partition (KIP-932).

v1 adds how many records from the start offset on are done (KIP-1226).

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
from touchstone.reference_impl.share.log_records import batches_of
from touchstone.reference_impl.wire.schema import Struct

__all__ = ["fail", "handle"]
FIRST_COUNTING = 1


def handle(request: Request, states: ShareStateRequests, now: int) -> Struct | Wait:
    counts = request.header.version >= FIRST_COUNTING

    def ask(coordinator: ShareCoordinator, key: SharePartitionKey, row: Struct) -> ShareResult:
        return coordinator.write(
            key,
            state_epoch=row["state_epoch"],
            leader_epoch=row["leader_epoch"],
            start=row["start_offset"],
            done=row["delivery_complete_count"] if counts else -1,
            batches=batches_of(row["state_batches"]),
            now=now,
        )

    return states.serve(request, now, ask)
