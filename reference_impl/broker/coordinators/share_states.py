"""A broker is the share coordinator of the partitions of `__share_group_state` that it leads.

The coordinator of a share partition is the leader of one partition of that topic, found by Java's
hash of "group:topic id:partition". This file makes states of what a partition's log says, runs
operations of `share/coordinator.py` and keeps what they write. A record
counts for the next operation once it is appended, and for who asked once it is replicated. States
of deleted topics are deleted with them. From time to time what snapshots made redundant is deleted
from the log, and share partitions that nobody writes to get a snapshot, so that they do not hold
that back. Both settings are internal ones of Kafka's and show nowhere.

Sources: ShareCoordinatorService@4.3.1 (facts); KIP-932; observed on 4.3.1.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.control.internal_topics import SHARES
from touchstone.reference_impl.broker.coordinators.group_log import nobody_waits
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.runtime import CoordinatorRuntime, Load
from touchstone.reference_impl.broker.replication.partitions import log_key
from touchstone.reference_impl.share import log_records
from touchstone.reference_impl.share.coordinator import (
    Fault,
    ShareCoordinator,
    SharePartitionKey,
    ShareResult,
    Write,
)
from touchstone.reference_impl.share.prunable_records import PrunableRecords
from touchstone.reference_impl.wire.errors import ErrorCode as E

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.cluster.replica import Replica

ResultListener = Callable[[ShareResult, int], None]
_PRUNED_MS = "share.coordinator.state.topic.prune.interval.ms"
_COLD_MS = "share.coordinator.cold.partition.snapshot.interval.ms"
_FIVE_MINUTES, _NEVER = 300_000, 1 << 62
_NOT_OURS = Fault(E.NOT_COORDINATOR, "This is not the correct coordinator.", early=True)


class ShareStates:
    """The share coordinator of one broker, and the partitions it leads."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self.prunable: dict[int, PrunableRecords] = {}  # by the partition that holds them
        self.runtime = CoordinatorRuntime(
            broker, "share states", SHARES, load=self._load, unload=self._unload
        )
        self.coordinator = _make(broker)

    def partition_of(self, key: SharePartitionKey) -> int:
        group, topic_id, index = key
        named = urlsafe_b64encode(topic_id).decode().rstrip("=")
        return self.runtime.partition_of(f"{group}:{named}:{index}")

    def coordinated(self) -> dict[int, list[SharePartitionKey]]:
        """The share partitions of which this broker keeps the state, by where it is kept."""
        found: dict[int, list[SharePartitionKey]] = {index: [] for index in self.runtime.led()}
        for key in self.coordinator.kept:
            found.setdefault(self.partition_of(key), []).append(key)
        return found

    def _unload(self, kept: Collection[int], lost: Collection[int]) -> None:
        self.coordinator.forget(lambda key: self.partition_of(key) not in kept)
        for index in lost:
            self.prunable.pop(index, None)

    def _load(self, index: int, replica: Replica, now: int) -> Load:
        prunable = self.prunable[index] = PrunableRecords()

        def read(records: bytes) -> int | None:
            after = None
            for after, write in log_records.read(records):
                self.coordinator.take(write)
                prunable.note(after - 1, write)
            return after

        return Load(read, lambda at: None)


def states_of(broker: Broker) -> ShareStates:
    return broker.room(ShareStates)


def leadership_changed(broker: Broker, now: int) -> None:
    """A partition of `__share_group_state` has another leader: take its states up, or let go."""
    states_of(broker).runtime.leadership_changed(now)
    topics_deleted(broker)


def topics_deleted(broker: Broker) -> None:
    """Topics were deleted: so are their states, as soon as this broker is done with its entry."""
    broker.soon("states of deleted topics", partial(_append_tombstones, broker))


def partition_of(broker: Broker, key: SharePartitionKey) -> int:
    return states_of(broker).partition_of(key)


def run(
    broker: Broker,
    key: SharePartitionKey,
    ask: Callable[[ShareCoordinator], ShareResult],
    now: int,
    then: ResultListener,
) -> None:
    """Ask the coordinator of this share partition, if that is us; `then(told, now)` when it
    counts, perhaps before this returns.
    """
    index = partition_of(broker, key)
    replica, _ = broker.replicas.locate(SHARES, index)
    if replica is None:
        then(ShareResult(_NOT_OURS), now)
        return
    told = ask(states_of(broker).coordinator)
    if told.write is None:
        then(told, now)
        return

    def written(code: int, at: int) -> None:
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
    states = states_of(broker)
    coordinator, prunable = states.coordinator, states.prunable[index]
    replica, _ = broker.replicas.locate(SHARES, index)
    if replica is None:
        then(E.NOT_COORDINATOR, now)
        return
    left = list(enumerate(writes, replica.log.log_end_offset))
    failed = []

    def take() -> None:
        while left:
            offset, write = left.pop(0)
            coordinator.take(write)
            prunable.note(offset, write)

    def written(code: int, at: int) -> None:
        if code:
            failed.append(code)
        else:
            take()
        then(code, at)

    records = log_records.batch_of(writes, now)
    states.runtime.append(index, records, now, written)
    if not failed:
        take()


def _append_tombstones(broker: Broker, now: int) -> None:
    """Tombstones for states of topics that are no more."""
    if "share-tombstones-missing" in broker.switches:
        return
    there = broker.cluster.by_id
    for index, keys in states_of(broker).coordinated().items():
        tombstones = [Write(key, None) for key in keys if key[1] not in there]
        if tombstones:
            _keep(broker, index, tombstones, now, nobody_waits)


def _make(broker: Broker) -> ShareCoordinator:
    def exists(topic_id: bytes, index: int) -> bool:
        topic = broker.cluster.by_id.get(topic_id)
        return topic is not None and 0 <= index < len(topic.partitions)

    after = broker.room(Groups).number("share.coordinator.snapshot.update.records.per.snapshot")
    after = _NEVER if "share-snapshots-missing" in broker.switches else after
    broker.soon("share state alarms", partial(_watch, broker))
    return ShareCoordinator(exists, after)


def _watch(broker: Broker, now: int) -> None:
    """Prune, and snapshot cold states, each time its interval is over."""
    for name, due in ((_PRUNED_MS, _prune), (_COLD_MS, _snapshot_cold)):
        _remind(broker, name, due, now)


def _remind(broker: Broker, name: str, due: Callable[[Broker, int], None], now: int) -> None:
    def call(at: int) -> None:
        due(broker, at)
        _remind(broker, name, due, at)

    at = now + broker.number(name, _FIVE_MINUTES)
    states_of(broker).runtime.remind(name, at, call)


def _prune(broker: Broker, now: int) -> None:
    if "share-log-never-pruned" in broker.switches:
        return
    for index, prunable in states_of(broker).prunable.items():
        replica, _ = broker.replicas.locate(SHARES, index)
        before = prunable.before
        if replica is None or before is None or before > replica.log.high_watermark:
            continue
        if before > replica.log.log_start_offset:
            replica.log.delete_to(before, now)
            broker.purgatory.touch(log_key(SHARES, index))


def _snapshot_cold(broker: Broker, now: int) -> None:
    if "share-cold-states-stay" in broker.switches:
        return
    idle = broker.number(_COLD_MS, _FIVE_MINUTES)
    for index, keys in states_of(broker).coordinated().items():
        snapshots = states_of(broker).coordinator.cold(keys, now, idle)
        if snapshots:
            _keep(broker, index, snapshots, now, nobody_waits)
