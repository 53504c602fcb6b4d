"""A broker's share coordinator: its partitions of `__share_group_state`, and how they are read.

The coordinator of a share partition is the leader of one partition of that topic, found by Java's
hash of "group:topic id:partition". This file loads what a partition's log says when the broker
begins to lead it, runs operations of `share/coordinator.py` and keeps what they write. A record
counts for the next operation once it is appended, and for who asked once it is replicated. States
of deleted topics are buried with them. From time to time what snapshots made redundant is deleted
from the log, and share partitions that nobody writes to get a snapshot, so that they do not hold
that back. Both settings are internal ones of Kafka's and show nowhere.

Sources: ShareCoordinatorService@4.3.1 (facts); KIP-932; observed on 4.3.1.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.control.auto_create import SHARES
from touchstone.reference_impl.broker.coordinators import internal_log, leadership, loader
from touchstone.reference_impl.broker.coordinators.groups import number
from touchstone.reference_impl.broker.replication.partitions import locate, log_key
from touchstone.reference_impl.group.placement import partition_for
from touchstone.reference_impl.share import log_records
from touchstone.reference_impl.share.coordinator import (
    Fault,
    Key,
    ShareCoordinator,
    ShareResult,
    Write,
)
from touchstone.reference_impl.share.prunable_records import PrunableRecords
from touchstone.reference_impl.wire.errors import ErrorCode as E

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.log.partition_log import PartitionLog

Then = Callable[[ShareResult, int], None]
_STATE, _LED, _SEEN = "share coordinator", "led share states", "share states seen at"
_REDUNDANT = "redundant share states"  # by the index of the partition that holds them
_PRUNED_MS = "share.coordinator.state.topic.prune.interval.ms"
_COLD_MS = "share.coordinator.cold.partition.snapshot.interval.ms"
_FIVE_MINUTES, _NEVER = 300_000, 1 << 62
_CHANGED = ("leads changed", SHARES)
_READ_BYTES = 5 << 20  # share.coordinator.load.buffer.size
_NOT_OURS = Fault(E.NOT_COORDINATOR, "This is not the correct coordinator.", early=True)


def coordinator_of(broker: Broker) -> ShareCoordinator:
    """The broker's coordinator, aware of every partition that the broker leads by now."""
    found = broker.kept(_STATE, partial(_make, broker))
    if broker.state.pop(_CHANGED, None) is not None:
        _catch_up(broker, found)
    if broker.state.get(_SEEN) != broker.cluster.generation:
        broker.state[_SEEN] = broker.cluster.generation
        broker.soon((_STATE, "deleted topics"), lambda now: _append_tombstones(broker, now))
    return found


def leads_changed(broker: Broker, now: int) -> None:
    """A partition of `__share_group_state` has another leader: see to its states."""
    coordinator_of(broker)


def topics_deleted(broker: Broker, now: int) -> None:
    """Topics are no more: neither shall their states be."""
    coordinator_of(broker)


def partition_of(broker: Broker, key: Key) -> int:
    topic = broker.cluster.topics.get(SHARES)
    group, topic_id, index = key
    named = urlsafe_b64encode(topic_id).decode().rstrip("=")
    return partition_for(f"{group}:{named}:{index}", len(topic.partitions)) if topic else -1


def run(
    broker: Broker, key: Key, ask: Callable[[ShareCoordinator], ShareResult], now: int, then: Then
) -> None:
    """Ask the coordinator of this share partition, if that is us; `then(told, now)` when it
    counts, perhaps before this returns.
    """
    index = partition_of(broker, key)
    replica, _ = locate(broker, SHARES, index)
    if replica is None:
        then(ShareResult(_NOT_OURS), now)
        return
    told = ask(coordinator_of(broker))
    if told.write is None:
        then(told, now)
        return

    def written(code: int, at: int) -> None:
        code = internal_log.NOT_KEPT.get(E(code), code)
        then(ShareResult(Fault(code, E(code).name, early=True)) if code else told, at)

    _keep(broker, index, [told.write], now, written)


def _keep(
    broker: Broker,
    index: int,
    writes: Sequence[Write],
    now: int,
    then: Callable[[int, int], None],
) -> None:
    """Append these to a partition that we lead, then `then(code, now)`."""
    coordinator = coordinator_of(broker)
    redundant = broker.state[_REDUNDANT][index]
    replica, _ = locate(broker, SHARES, index)
    left = list(enumerate(writes, replica.log.log_end_offset))
    failed = []

    def take() -> None:
        while left:
            offset, write = left.pop(0)
            coordinator.take(write)
            redundant.note(offset, write)

    def written(code: int, at: int) -> None:
        if code:
            failed.append(code)
        else:
            take()
        then(code, at)

    records = log_records.batch_of(writes, now)
    internal_log.append(broker, SHARES, index, records, now, written)
    if not failed:
        take()


def _append_tombstones(broker: Broker, now: int) -> None:
    """Tombstones for states of topics that are no more."""
    if "share-tombstones-missing" in broker.switches:
        return
    there = broker.cluster.by_id
    for index, keys in _coordinated(broker).items():
        tombstones = [Write(key, None) for key in keys if key[1] not in there]
        if tombstones:
            _keep(broker, index, tombstones, now, _nobody_waits)


def _make(broker: Broker) -> ShareCoordinator:
    def exists(topic_id: bytes, index: int) -> bool:
        topic = broker.cluster.by_id.get(topic_id)
        return topic is not None and 0 <= index < len(topic.partitions)

    after = number(broker, "share.coordinator.snapshot.update.records.per.snapshot")
    after = _NEVER if "share-snapshots-missing" in broker.switches else after
    broker.soon((_STATE, "upkeep"), partial(_watch, broker))
    return ShareCoordinator(exists, after)


def _coordinated(broker: Broker) -> dict[int, list[Key]]:
    """The share partitions that we coordinate, by where they are kept."""
    found: dict[int, list[Key]] = {index: [] for index in broker.state.get(_LED, ())}
    for key in coordinator_of(broker).kept:
        found.setdefault(partition_of(broker, key), []).append(key)
    return found


def _watch(broker: Broker, now: int) -> None:
    """Have both kinds of upkeep done, each time its interval is over."""
    for name, due in ((_PRUNED_MS, _prune), (_COLD_MS, _snapshot_cold)):
        _remind(broker, name, due, now)


def _remind(broker: Broker, name: str, due: Callable[[Broker, int], None], now: int) -> None:
    def call(at: int) -> None:
        due(broker, at)
        _remind(broker, name, due, at)

    at = now + broker.number(name, _FIVE_MINUTES)
    broker.purgatory.remind((name, broker.id), at, call)


def _prune(broker: Broker, now: int) -> None:
    if "share-log-never-pruned" in broker.switches:
        return
    for index, redundant in broker.state.get(_REDUNDANT, {}).items():
        replica, _ = locate(broker, SHARES, index)
        before = redundant.before
        if replica is None or before is None or before > replica.log.high_watermark:
            continue
        if before > replica.log.log_start_offset:
            replica.log.delete_to(before, now)
            broker.purgatory.touch(log_key(SHARES, index))


def _snapshot_cold(broker: Broker, now: int) -> None:
    if "share-cold-states-stay" in broker.switches:
        return
    idle = broker.number(_COLD_MS, _FIVE_MINUTES)
    for index, keys in _coordinated(broker).items():
        snapshots = coordinator_of(broker).cold(keys, now, idle)
        if snapshots:
            _keep(broker, index, snapshots, now, _nobody_waits)


def _catch_up(broker: Broker, coordinator: ShareCoordinator) -> None:
    """Load what we lead since now, let go of what we do not lead any more."""
    change = leadership.look(broker, SHARES, _LED)
    coordinator.forget(lambda key: partition_of(broker, key) not in change.kept)
    redundant = broker.state.setdefault(_REDUNDANT, {})
    for index in change.lost:
        redundant.pop(index, None)
    for index, replica in change.won.items():
        redundant[index] = _load(coordinator, replica.log)


def _load(coordinator: ShareCoordinator, log: PartitionLog) -> PrunableRecords:
    redundant = PrunableRecords()

    def read(records: bytes) -> int | None:
        after = None
        for after, write in log_records.read(records):
            coordinator.take(write)
            redundant.note(after - 1, write)
        return after

    loader.whole(log, _READ_BYTES, read)
    return redundant


def _nobody_waits(code: int, now: int) -> None:
    """What is written for no request."""
