"""Groups and offsets are kept in `__consumer_offsets`, where the next leader finds them.

What a coordinator keeps counts when it is replicated (OFFS-17, GROUP-18). A broker that begins to
lead a partition reads it from its start, later records win; one that stops leading lets go of just
that partition's groups (OFFS-25, GROUP-30).

Sources: GroupMetadataManager.storeGroup, storeOffsets, loadGroupsAndOffsets at 1.0.2, 2.8.2.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.control.internal_topics import OFFSETS
from touchstone.reference_impl.broker.coordinators import internal_log
from touchstone.reference_impl.broker.coordinators.loader import LogLoader, Read
from touchstone.reference_impl.broker.coordinators.runtime import (
    READ_BYTES,
    CoordinatorRuntime,
    Load,
    Written,
)
from touchstone.reference_impl.group import log_records
from touchstone.reference_impl.group.members import Group
from touchstone.reference_impl.group.offsets import CommittedOffset
from touchstone.reference_impl.wire.errors import ErrorCode as E

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.cluster.replica import Replica
    from touchstone.reference_impl.group.coordinator import Coordinator

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


class GroupLog:
    """The groups of one broker's coordinator in the partitions that it leads."""

    def __init__(
        self, broker: Broker, coordinator: Coordinator, loaded: Callable[[int], None]
    ) -> None:
        """`loaded(now)` is called whenever a partition has been read."""
        self._broker, self._coordinator, self._loaded = broker, coordinator, loaded
        self._age = 0  # of the newest offset; whatever is committed later is younger
        self.runtime = CoordinatorRuntime(
            broker,
            "group",
            OFFSETS,
            load=self._load,
            unload=self._unload,
            buffer="offsets.load.buffer.size",
        )

    # --- partitions --------------------------------------------------------------------------

    def partition_of(self, group_id: str) -> int:
        return self.runtime.partition_of(group_id)

    def serves(self, group_id: str) -> bool:
        """Whether this broker leads the group's partition, loaded or not."""
        return self.runtime.is_leader_of(self.partition_of(group_id))

    def loads(self, group_id: str | None = None) -> bool:
        """Whether the group's partition, or any, is still being read."""
        return self.runtime.loads(None if group_id is None else self.partition_of(group_id))

    def next_age(self) -> int:
        """The age of an offset that is committed now: a number that only grows."""
        self._age += 1
        return self._age

    def _unload(self, kept: Collection[int], lost: Collection[int]) -> None:
        self._coordinator.abandon(lambda group_id: self.partition_of(group_id) in kept)

    def _load(self, index: int, replica: Replica, now: int) -> Load:
        groups: dict[str, Group] = {}

        def done(at: int) -> None:
            self._coordinator.adopt(log_records.lasting(groups), at)
            self._age = max(self._age, replica.log.log_end_offset)
            self._broker.leadership_changed(OFFSETS)  # others watch the groups that are there now
            self._loaded(at)

        return Load(self._reader(groups, now), done)

    def _reader(self, groups: dict[str, Group], now: int) -> Read:
        cluster = self._broker.cluster
        return lambda records: log_records.read(records, groups, cluster.topics.get, now)

    def read_again(self, group: Group, now: int) -> None:
        """Bring a group back to what the log says of it: a change of it could not be kept."""
        replica, _ = self._broker.replicas.locate(OFFSETS, self.partition_of(group.id))
        groups: dict[str, Group] = {}
        if replica is not None:
            LogLoader(replica.log, READ_BYTES, self._reader(groups, now)).whole()
            self._age = max(self._age, replica.log.log_end_offset)
        kept = groups.get(group.id)
        if kept is None or kept.newer_half is None:
            self._coordinator.forget(group)
            if kept is not None:
                self._coordinator.adopt({group.id: kept}, now)
            group.consumer_group = group.streams_group = None
        else:
            group.consumer_group, group.streams_group = kept.consumer_group, kept.streams_group

    # --- appends -----------------------------------------------------------------------------

    def keep_offsets(
        self,
        group_id: str,
        offsets: Mapping[tuple[str, int], CommittedOffset | None],
        now: int,
        then: Written,
        *,
        producer: tuple[int, int] | None = None,
    ) -> None:
        """Append these offsets (None: a tombstone), then call `then(code, now)`."""
        quirk = self._broker.persona.quirk
        version = quirk("offsets.value-version")
        records = log_records.offsets_batch(
            group_id, offsets, version=version, now=now, producer=producer
        )
        told = quirk("offsets.too-large-commits-are-told-apart")
        self._append(group_id, records, now, then, _NOT_KEPT if told else _NOT_KEPT | _UNTOLD)

    def keep_group(
        self, group: Group, assignments: dict[str, bytes], now: int, then: Written
    ) -> None:
        version = self._broker.persona.quirk("groups.value-version")
        records = log_records.group_batch(group, assignments, version=version, now=now)
        self._append(group.id, records, now, then, _GROUP_NOT_KEPT)

    def keep(
        self, group_id: str, pairs: Sequence[tuple[bytes, bytes | None]], now: int, then: Written
    ) -> None:
        """Append these keys and values as one batch, then call `then(code, now)`."""
        records = log_records.batch_of(pairs, now)
        self._append(group_id, records, now, then, _CHANGE_NOT_KEPT)

    def forget(self, group: Group, now: int) -> None:
        """Append tombstones; nobody waits for them."""
        broker = self._broker
        every = not broker.persona.quirk("groups.tombstones-need-a-generation")
        lived = group.generation > 0 or every
        if lived or group.offsets:
            records = log_records.forgotten_batch(group, now, lived=lived)
            self._append(group.id, records, now, nobody_waits, _NOT_KEPT)

    def _append(
        self, group_id: str, records: bytes, now: int, then: Written, errors: Mapping[E, E]
    ) -> None:
        self.runtime.append(self.partition_of(group_id), records, now, then, errors=errors)


def nobody_waits(code: int, now: int) -> None:
    """For what is written for no request."""
