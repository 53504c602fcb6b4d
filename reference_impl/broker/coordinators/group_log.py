"""Groups and offsets in `__consumer_offsets`: kept there first, found there by the next leader.

What a coordinator keeps counts when it is replicated (OFFS-17, GROUP-18). A broker that begins to
lead a partition reads it from its start, later records win; one that stops leading lets go of just
that partition's groups (OFFS-25, GROUP-30). How it is read in turns is `loader.py`'s.

Sources: GroupMetadataManager.storeGroup, storeOffsets, loadGroupsAndOffsets at 1.0.2, 2.8.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker import registry
from touchstone.reference_impl.broker.control.auto_create import OFFSETS
from touchstone.reference_impl.broker.coordinators import internal_log, leadership, loader
from touchstone.reference_impl.broker.replication.partitions import locate
from touchstone.reference_impl.group import log_records
from touchstone.reference_impl.group.members import Group
from touchstone.reference_impl.group.offsets import CommittedOffset
from touchstone.reference_impl.group.placement import java_hash, partition_for
from touchstone.reference_impl.wire.errors import ErrorCode as E

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.group.coordinator import Coordinator
    from touchstone.reference_impl.log.partition_log import PartitionLog

Then = Callable[[int, int], None]
_READ_BYTES = 5 << 20  # offsets.load.buffer.size, if nobody says otherwise
_LED = "led groups"
AGE = "offset age"
# What a failed write means to who asked for it, as GroupMetadataManager translates it.
_NOT_KEPT = internal_log.NOT_KEPT | {
    E.NOT_ENOUGH_REPLICAS_AFTER_APPEND: E.COORDINATOR_NOT_AVAILABLE,
    E.MESSAGE_TOO_LARGE: E.INVALID_COMMIT_OFFSET_SIZE,
    E.RECORD_LIST_TOO_LARGE: E.INVALID_COMMIT_OFFSET_SIZE,
}
_UNTOLD = {
    E.MESSAGE_TOO_LARGE: E.UNKNOWN_SERVER_ERROR,
    E.RECORD_LIST_TOO_LARGE: E.UNKNOWN_SERVER_ERROR,
}
_GROUP_NOT_KEPT = _NOT_KEPT | _UNTOLD | {E.REQUEST_TIMED_OUT: E.REBALANCE_IN_PROGRESS}
_CHANGE_NOT_KEPT = _GROUP_NOT_KEPT | {E.REQUEST_TIMED_OUT: E.COORDINATOR_NOT_AVAILABLE}


def partition_of(broker: Broker, group_id: str) -> int:
    topic = broker.cluster.topics.get(OFFSETS)
    if topic is None:
        return -1
    if "groups-placed-by-mask" in broker.switches:
        return (java_hash(group_id) & 0x7FFFFFFF) % len(topic.partitions)
    return partition_for(group_id, len(topic.partitions))


def serves(broker: Broker, group_id: str) -> bool:
    """Whether this broker leads the group's partition, loaded or not."""
    return partition_of(broker, group_id) in broker.state.get(_LED, ())


def loads(broker: Broker, group_id: str | None = None) -> bool:
    """Whether the group's partition, or any, is still being read."""
    index = None if group_id is None else partition_of(broker, group_id)
    return loader.goes_on(broker, OFFSETS, index)


def keep_offsets(
    broker: Broker,
    group_id: str,
    offsets: Mapping[tuple[str, int], CommittedOffset | None],
    now: int,
    then: Then,
    *,
    producer: tuple[int, int] | None = None,
) -> None:
    """Append these offsets (None: a tombstone), then call `then(code, now)`."""
    version = broker.persona.quirk("offsets.value-version")
    records = log_records.offsets_batch(
        group_id, offsets, version=version, now=now, producer=producer
    )
    told = broker.persona.quirk("offsets.too-large-commits-are-told-apart")
    _append(broker, group_id, records, now, then, _NOT_KEPT if told else _NOT_KEPT | _UNTOLD)


def keep_group(
    broker: Broker, group: Group, assignments: dict[str, bytes], now: int, then: Then
) -> None:
    version = broker.persona.quirk("groups.value-version")
    records = log_records.group_batch(group, assignments, version=version, now=now)
    _append(broker, group.id, records, now, then, _GROUP_NOT_KEPT)


def keep(
    broker: Broker,
    group_id: str,
    pairs: Sequence[tuple[bytes, bytes | None]],
    now: int,
    then: Then,
) -> None:
    """Append these keys and values as one batch, then call `then(code, now)`."""
    _append(broker, group_id, log_records.batch_of(pairs, now), now, then, _CHANGE_NOT_KEPT)


def read_again(broker: Broker, group: Group, coordinator: Coordinator, now: int) -> None:
    """Bring a group back to what the log says of it: a change of it could not be kept."""
    replica, _ = locate(broker, OFFSETS, partition_of(broker, group.id))
    groups: dict[str, Group] = {}
    if replica is not None:
        loader.whole(replica.log, _READ_BYTES, _reader(broker, groups, now))
        broker.state[AGE] = max(broker.state.get(AGE, 0), replica.log.log_end_offset)
    kept = groups.get(group.id)
    if kept is None or kept.modern is None:
        coordinator.forget(group)
        if kept is not None:
            coordinator.adopt({group.id: kept}, now)
        group.modern = None
    else:
        group.modern = kept.modern


def forget(broker: Broker, group: Group, now: int) -> None:
    """Tombstones; nobody waits for them."""
    if "group-tombstones-missing" in broker.switches:
        return
    lived = group.generation > 0 or not broker.persona.quirk("groups.tombstones-need-a-generation")
    if lived or group.offsets:
        records = log_records.forgotten_batch(group, now, lived=lived)
        _append(broker, group.id, records, now, lambda code, at: None)


def leads_changed(broker: Broker, coordinator: Coordinator, now: int) -> None:
    """Take up the groups of partitions that this broker leads now, let the others go."""
    change = leadership.look(broker, OFFSETS, _LED)
    coordinator.abandon(lambda group_id: partition_of(broker, group_id) in change.kept)
    for index in change.lost:
        loader.stop(broker, (OFFSETS, index))
    for index, replica in change.won.items():
        _load(broker, coordinator, index, replica.log, now)


def _append(
    broker: Broker,
    group_id: str,
    records: bytes,
    now: int,
    then: Then,
    words: Mapping[E, E] = _NOT_KEPT,
) -> None:
    def written(code: int, at: int) -> None:
        then(words.get(code, code) if code else code, at)

    internal_log.append(broker, OFFSETS, partition_of(broker, group_id), records, now, written)


def _load(
    broker: Broker, coordinator: Coordinator, index: int, log: PartitionLog, now: int
) -> None:
    groups: dict[str, Group] = {}

    def done(at: int) -> None:
        coordinator.adopt(log_records.lasting(groups), at)
        age = max(broker.state.get(AGE, 0), log.log_end_offset)
        broker.state[AGE] = age  # what is committed from now on is younger than all of it
        broker.soon(("coordinator", OFFSETS), partial(registry.leads_changed, broker, OFFSETS))

    buffer = broker.number("offsets.load.buffer.size", _READ_BYTES)
    pieces = loader.LogLoader(log, buffer, _reader(broker, groups, now))
    loader.begin(broker, (OFFSETS, index), pieces, done, now)


def _reader(broker: Broker, groups: dict[str, Group], now: int) -> loader.Read:
    return lambda records: log_records.read(records, groups, broker.cluster.topics.get, now)
