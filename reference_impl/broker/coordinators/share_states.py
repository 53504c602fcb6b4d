"""A broker is the share coordinator of the partitions of `__share_group_state` that it leads.

The coordinator of a share partition is the leader of one partition of that topic, found by Java's
hash of "group:topic id:partition". This file makes states of what a partition's log says, runs
operations of `share/coordinator.py` and keeps what they write. A record
counts for the next operation once it is appended, and for who asked once it is replicated. States
of deleted topics are deleted with them. From time to time what snapshots made redundant is deleted
from the log, and share partitions that nobody writes to get a snapshot, so that they do not hold
that back. Both settings are internal ones of Kafka's and show nowhere.

Sources: ShareCoordinatorService@4.3.1; KIP-932; observed on 4.3.1.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.control.internal_topics import SHARES
from touchstone.reference_impl.broker.coordinators.group_log import nobody_waits
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.runtime import CoordinatorRuntime, Load
from touchstone.reference_impl.broker.replication.partitions import log_key
from touchstone.reference_impl.group.placement import java_hash
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
_FIVE_MINUTES = 300_000
NOT_OURS = Fault(E.NOT_COORDINATOR, "This is not the correct coordinator.", early=True)


# A request names one group, of up to 32,767 characters, and thousands of partitions: what is
# hashed for each of them is short.
@lru_cache(maxsize=64)
def _hash_of_group(group: str) -> int:
    return java_hash(f"{group}:")


@lru_cache(maxsize=64)
def _hash_of_topic(group: str, topic_id: bytes) -> int:
    named = urlsafe_b64encode(topic_id).decode().rstrip("=")
    return java_hash(f"{named}:", _hash_of_group(group))


class ShareStates:
    """The share coordinator of one broker, and the partitions it leads."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self.prunable: dict[int, PrunableRecords] = {}  # by the partition that holds them
        self.runtime = CoordinatorRuntime(
            broker, "share states", SHARES, load=self._load, unload=self._unload
        )
        self.coordinator = self._make()

    def partition_of(self, key: SharePartitionKey) -> int:
        group, topic_id, index = key
        hashed = java_hash(str(index), _hash_of_topic(group, topic_id))
        return self.runtime.partition_of_hash(hashed)

    def coordinated(self) -> dict[int, list[SharePartitionKey]]:
        """The share partitions of which this broker keeps the state, by where it is kept."""
        found: dict[int, list[SharePartitionKey]] = {
            index: [] for index in self.runtime.led_partitions()
        }
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

    def run(
        self,
        key: SharePartitionKey,
        ask: Callable[[ShareCoordinator], ShareResult],
        now: int,
        then: ResultListener,
    ) -> None:
        """Ask the coordinator of this share partition, if that is us; `then(told, now)` when it
        counts, perhaps before this returns.
        """
        if not self.coordinates(key):
            then(ShareResult(NOT_OURS), now)
            return
        told = ask(self.coordinator)
        if told.write is None:
            then(told, now)
        else:
            self.keep(told, told.write, now, then)

    def coordinates(self, key: SharePartitionKey) -> bool:
        """Whether this broker coordinates the share partition."""
        return self._led(self.partition_of(key)) is not None

    def _led(self, index: int) -> Replica | None:
        """The log of a partition that this broker leads and has read; it is read when the broker
        hears of its leadership, which may be after somebody asks.
        """
        replica, _ = self._broker.replicas.locate(SHARES, index)
        return replica if index in self.prunable else None

    def keep(self, told: ShareResult, write: Write, now: int, then: ResultListener) -> None:
        """Have `write` written, which `told` says; `then(told, now)` when it counts."""

        def written(code: int, at: int) -> None:
            then(ShareResult(Fault(code, E(code).name, early=True)) if code else told, at)

        self._keep(self.partition_of(write.key), [write], now, written)

    def _keep(
        self,
        index: int,
        writes: Sequence[Write],
        now: int,
        then: Callable[[int, int], None],
    ) -> None:
        """Append these to a partition that we lead, then `then(code, now)`."""
        replica = self._led(index)
        if replica is None:
            then(E.NOT_COORDINATOR, now)
            return
        coordinator, prunable = self.coordinator, self.prunable[index]
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
        self.runtime.append(index, records, now, written)
        if not failed:
            take()

    def _append_tombstones(self, now: int) -> None:
        """Tombstones for states of topics that are no more."""
        there = self._broker.cluster.by_id
        for index, keys in self.coordinated().items():
            tombstones = [Write(key, None) for key in keys if key[1] not in there]
            if tombstones:
                self._keep(index, tombstones, now, nobody_waits)

    def _make(self) -> ShareCoordinator:
        def exists(topic_id: bytes, index: int) -> bool:
            topic = self._broker.cluster.by_id.get(topic_id)
            return topic is not None and 0 <= index < len(topic.partitions)

        after = self._broker.room(Groups).number(
            "share.coordinator.snapshot.update.records.per.snapshot"
        )
        self._broker.soon("share state alarms", self._watch)
        return ShareCoordinator(exists, after)

    def _watch(self, now: int) -> None:
        """Prune, and snapshot cold states, each time its interval is over."""
        for name, due in ((_PRUNED_MS, self._prune), (_COLD_MS, self._snapshot_cold)):
            self._remind(name, due, now)

    def _remind(self, name: str, due: Callable[[int], None], now: int) -> None:
        def call(at: int) -> None:
            due(at)
            self._remind(name, due, at)

        at = now + self._broker.number(name, _FIVE_MINUTES)
        self.runtime.remind(name, at, call)

    def _prune(self, now: int) -> None:
        for index, prunable in self.prunable.items():
            replica, _ = self._broker.replicas.locate(SHARES, index)
            before = prunable.before
            if replica is None or before is None or before > replica.log.high_watermark:
                continue
            if before > replica.log.log_start_offset:
                replica.log.delete_to(before, now)
                self._broker.purgatory.touch(log_key(SHARES, index))

    def _snapshot_cold(self, now: int) -> None:
        idle = self._broker.number(_COLD_MS, _FIVE_MINUTES)
        for index, keys in self.coordinated().items():
            snapshots = self.coordinator.cold(keys, now, idle)
            if snapshots:
                self._keep(index, snapshots, now, nobody_waits)


def states_of(broker: Broker) -> ShareStates:
    return broker.room(ShareStates)


def leadership_changed(broker: Broker, now: int) -> None:
    """A partition of `__share_group_state` has another leader: take its states up, or let go."""
    states_of(broker).runtime.leadership_changed(now)
    topics_deleted(broker)


def topics_deleted(broker: Broker) -> None:
    """Topics were deleted: so are their states, as soon as this broker is done with its entry."""
    broker.soon("states of deleted topics", broker.room(ShareStates)._append_tombstones)


def partition_of(broker: Broker, key: SharePartitionKey) -> int:
    return states_of(broker).partition_of(key)
