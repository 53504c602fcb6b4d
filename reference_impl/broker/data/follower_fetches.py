"""A follower's Fetch also tells its leader where the follower stands.

A follower asks for all that it follows in every fetch, and mostly there is news of a few. In a
session the quiet ones need no answer (KIP-227), so they are passed over before anything is read:
noted as caught up, and from then on they rest in the session (`fetch_sessions`), which notes all
of them at once. Only the arrival of a fetch says something about its sender; when it is answered
later, nothing is noted again.

Sources: ReplicaManager.updateFollowerFetchState at 2.8.2, Partition.fetchRecords at 3.9; REPL-06,
REPL-07, FETCH-22.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.data.fetch_sessions import Context, FetchPartition
from touchstone.reference_impl.cluster.replica import FollowerState, Replica
from touchstone.reference_impl.log.epochs import UNDEFINED
from touchstone.reference_impl.log.rules import LogError
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.replication.replicas import Replicas

Rows = list[Struct]


def waits(replica: Replica | None, want: FetchPartition) -> bool:
    """Whether a follower has all of this log, so that there is nothing to read for it."""
    return (
        replica is not None
        and replica.is_leader
        and not replica.offline
        and replica.log.log_end_offset == want.offset
        and want.leader_epoch in (replica.leader_epoch, -1)
        and want.last_fetched_epoch in (replica.log.epochs.latest, -1)
    )


def busy(
    replicas: Replicas,
    follower: int,
    session: Context,
    named: list[FetchPartition],
    now: int,
    *,
    arrives: bool,
) -> list[FetchPartition]:
    """The partitions that have something to tell; on arrival the others are noted as caught up."""
    if not session.incremental or session.session is None:
        return named
    found, told, mine = [], session.session.partitions, session.session.follower == follower
    if arrives and mine:
        session.session.shared_fetch.at = now
    for want in named:
        topic, known = want.topic, told.get(want.key)
        replica = None if topic is None else replicas.get(topic, want.index)
        if (
            known is None
            or replica is None
            or not waits(replica, want)
            or follower not in replica.isr
            or follower not in replica.followers
            or known.high_watermark != replica.log.high_watermark
            or known.log_start_offset != replica.log.log_start_offset
            or (arrives and not _stands(replica.followers[follower], want))
        ):
            found.append(want)
        elif arrives:
            epoch = replica.followers[follower].broker_epoch
            replica.followed(follower, want.offset, want.log_start, now, epoch)
            if mine:
                session.session.rest(want, replica)
    return found


def _stands(follower: FollowerState, want: FetchPartition) -> bool:
    """Whether its fetch says what is known of it already."""
    return follower.log_end_offset == want.offset and follower.log_start_offset == want.log_start


def note(
    replicas: Replicas, follower: int, epoch: int, named: list[FetchPartition], rows: Rows, now: int
) -> None:
    """Note where the sender of a fetch stands, of every partition that could be read (REPL-07)."""
    for want, row in zip(named, rows, strict=True):
        if row["error_code"] or "diverging_epoch" in row:
            continue
        topic = want.topic
        replica = None if topic is None else replicas.get(topic, want.index)
        if replica is not None and follower in replica.followers:
            replicas.followed(replica, follower, want.offset, want.log_start, epoch, now)


def count(replicas: Replicas, named: list[FetchPartition], rows: Rows, now: int) -> None:
    """Count what goes out to followers against the leader's quota (FETCH-22, DYN-15)."""
    quota = replicas.leader_quota
    for want, row in zip(named, rows, strict=True):
        topic, records = want.topic, row["records"]
        if records and topic is not None and quota.throttles(topic, want.index):
            quota.record(len(records), now)


def diverging(replica: Replica, want: FetchPartition) -> dict[str, int] | None:
    """The offset at which the reader's log left ours, if it did (KIP-595)."""
    if want.last_fetched_epoch < 0:
        return None
    log = replica.log
    epoch, end = log.end_of_epoch(want.last_fetched_epoch)
    if UNDEFINED in (epoch, end):
        raise LogError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            "Could not determine the end offset of the last fetched epoch"
            f" {want.last_fetched_epoch}",
        )
    if epoch < want.last_fetched_epoch or end < want.offset:
        return {"epoch": epoch, "end_offset": end}
    return None
