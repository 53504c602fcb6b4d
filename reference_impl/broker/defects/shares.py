"""Defects of share partitions and of the coordinator that keeps their states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from touchstone.reference_impl.broker.coordinators.share_states import ShareStates
from touchstone.reference_impl.broker.data.share_partitions import HostedPartition, SharePartitions
from touchstone.reference_impl.broker.defects.planting import defect, maker, setting
from touchstone.reference_impl.share.coordinator import ShareCoordinator, ShareState
from touchstone.reference_impl.share.in_flight import ACQUIRED, AVAILABLE, InFlight
from touchstone.reference_impl.share.partition import Change, SharePartition
from touchstone.reference_impl.share.state_batches import NO_OFFSET

NEVER = 1 << 62
Real = Callable[..., Any]

maker(SharePartitions, "_taken_up")


@defect("share-next-leader-begins-anew", SharePartitions, "_taken_up")
def share_next_leader_begins_anew(
    real: Real, _: SharePartitions, one: HostedPartition, kept: ShareState, now: int
) -> SharePartition:
    return real(one, replace(kept, start=NO_OFFSET, batches=()), now)


@defect("share-records-go-to-everybody", SharePartition, "next_offset")
def reads_from_the_start(real: Real, share: SharePartition) -> int:
    found = real()
    return share.start if share.runs and share.start <= share.runs[-1].last else found


@defect("share-records-go-to-everybody", SharePartition, "is_free")
def all_are_free(real: Real, _: SharePartition, one: InFlight) -> bool:
    return one.before is None and one.state in (AVAILABLE, ACQUIRED)


@defect("share-records-go-to-everybody", SharePartition, "give")
def takes_it_from_another(real: Real, _: SharePartition, one: InFlight, *args: Any) -> bool:
    if one.state is ACQUIRED:
        one.state = AVAILABLE
    return real(one, *args)


@defect("share-deliveries-not-counted", SharePartition, "give")
def share_deliveries_not_counted(real: Real, _: SharePartition, one: InFlight, *args: Any) -> bool:
    count = one.count
    given = real(one, *args)
    one.count = count
    return given


@defect("share-locks-never-end", SharePartition, "deadline")
def no_lock_ends(real: Real, _: SharePartition) -> None:
    return None


@defect("share-locks-never-end", SharePartition, "expire")
def nothing_expires(real: Real, _: SharePartition, now: int) -> list[Any]:
    return []


@defect("share-acks-of-anybody", SharePartition, "_check_whole", "_check_one")
def anybody_may(real: Real, *_: Any) -> None:
    pass


@defect("share-acks-of-anybody", SharePartition, "_turn")
def only_what_somebody_has(
    real: Real, _: SharePartition, first: int, last: int, one: InFlight, *args: Any
) -> None:
    if one.state is ACQUIRED:
        real(first, last, one, *args)


@defect("share-released-are-lost", SharePartition, "_conclude")
def share_released_are_lost(
    real: Real, share: SharePartition, change: Change, good: bool, now: int
) -> None:
    seek = share.seek
    real(change, good, now)
    share.seek = seek


@defect("share-tombstones-missing", ShareStates, "_append_tombstones")
def share_tombstones_missing(real: Real, _: ShareStates, now: int) -> None:
    pass


@setting("share-snapshots-missing", ShareCoordinator)
def share_snapshots_missing(coordinator: ShareCoordinator) -> None:
    coordinator._snapshot_after = NEVER


@defect("share-log-never-pruned", ShareStates, "_prune")
def share_log_never_pruned(real: Real, _: ShareStates, now: int) -> None:
    pass


@defect("share-cold-states-stay", ShareStates, "_snapshot_cold")
def share_cold_states_stay(real: Real, _: ShareStates, now: int) -> None:
    pass
