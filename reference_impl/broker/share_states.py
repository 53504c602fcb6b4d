"""A broker's share coordinator: its partitions of `__share_group_state`, and how they are read.

The coordinator of a share partition is the leader of one partition of that topic, found by Java's
hash of "group:topic id:partition". This file loads what a partition's log says when the broker
begins to lead it, runs operations of `share/coordinator.py` and keeps what they write. A record
counts for the next operation once it is appended, and for who asked once it is replicated. States
of deleted topics go with them; in the log they stay, as all does: nobody reads it but who loads it.

Sources: ShareCoordinatorService@4.3.1 (facts); KIP-932.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import TYPE_CHECKING

from reference_impl.broker import internal_log, leads
from reference_impl.broker.controller.auto_create import SHARES
from reference_impl.broker.groups import number
from reference_impl.broker.partitions import locate
from reference_impl.group.placement import partition_for
from reference_impl.log.partition_log import LOG_END
from reference_impl.share import log_records
from reference_impl.share.coordinator import Fault, Key, ShareCoordinator, Told
from reference_impl.wire.errors import ErrorCode as E

if TYPE_CHECKING:
    from reference_impl.broker.broker import Broker

Then = Callable[[Told, int], None]
_STATE, _LED, _SEEN = "share coordinator", "led share states", "share states seen at"
_CHANGED = ("leads changed", SHARES)
_READ_BYTES = 5 << 20  # share.coordinator.load.buffer.size
_NOT_OURS = Fault(E.NOT_COORDINATOR, "This is not the correct coordinator.")
# What a failed write to the coordinator's own log means to who asked for it.
_NOT_KEPT = {
    E.UNKNOWN_TOPIC_OR_PARTITION: E.COORDINATOR_NOT_AVAILABLE,
    E.NOT_ENOUGH_REPLICAS: E.COORDINATOR_NOT_AVAILABLE,
    E.REQUEST_TIMED_OUT: E.COORDINATOR_NOT_AVAILABLE,
    E.NOT_LEADER_OR_FOLLOWER: E.NOT_COORDINATOR,
    E.KAFKA_STORAGE_ERROR: E.NOT_COORDINATOR,
}


def coordinator_of(broker: Broker) -> ShareCoordinator:
    """The broker's coordinator, aware of every partition that the broker leads by now."""
    found = broker.state.get(_STATE)
    if found is None:

        def exists(topic_id: bytes, index: int) -> bool:
            topic = broker.cluster.by_id.get(topic_id)
            return topic is not None and 0 <= index < len(topic.partitions)

        after = number(broker, "share.coordinator.snapshot.update.records.per.snapshot")
        found = broker.state[_STATE] = ShareCoordinator(exists, after)
    if broker.state.pop(_CHANGED, None) is not None:
        _catch_up(broker, found)
    if broker.state.get(_SEEN) != broker.cluster.generation:
        broker.state[_SEEN] = broker.cluster.generation
        topics = broker.cluster.by_id
        found.forget(lambda key: key[1] not in topics)
    return found


def leads_changed(broker: Broker, now: int) -> None:
    """A partition of `__share_group_state` has another leader: see to its states."""
    coordinator_of(broker)


def partition_of(broker: Broker, key: Key) -> int:
    topic = broker.cluster.topics.get(SHARES)
    group, topic_id, index = key
    named = urlsafe_b64encode(topic_id).decode().rstrip("=")
    return partition_for(f"{group}:{named}:{index}", len(topic.partitions)) if topic else -1


def run(
    broker: Broker, key: Key, ask: Callable[[ShareCoordinator], Told], now: int, then: Then
) -> None:
    """Ask the coordinator of this share partition, if that is us; `then(told, now)` when it
    counts, perhaps before this returns.
    """
    index = partition_of(broker, key)
    replica, _ = locate(broker, SHARES, index)
    if replica is None:
        then(Told(_NOT_OURS), now)
        return
    coordinator = coordinator_of(broker)
    told = ask(coordinator)
    write = told.write
    if write is None:
        then(told, now)
        return
    appended = []

    def written(code: int, at: int) -> None:
        appended.append(code)
        if code:
            code = _NOT_KEPT.get(E(code), code)
            then(Told(Fault(code, E(code).name)), at)
            return
        taken()
        then(told, at)

    def taken() -> None:
        nonlocal write
        if write is not None:
            coordinator.take(write)
            write = None

    records = log_records.batch_of([write], now)
    internal_log.append(broker, SHARES, index, records, now, written)
    if not appended:
        taken()


def _catch_up(broker: Broker, coordinator: ShareCoordinator) -> None:
    """Load what we lead since now, let go of what we do not lead any more."""
    change = leads.look(broker, SHARES, _LED)
    coordinator.forget(lambda key: partition_of(broker, key) not in change.kept)
    for replica in change.won.values():
        _load(coordinator, replica.log)


def _load(coordinator: ShareCoordinator, log) -> None:
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        records = log.read(offset, _READ_BYTES, min_one=True, isolation=LOG_END).records
        found = list(log_records.read(records))
        for _, write in found:
            coordinator.take(write)
        if not found:
            break
        offset = found[-1][0]
