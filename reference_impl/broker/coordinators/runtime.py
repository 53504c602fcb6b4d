"""All coordinators of a broker load, unload, append and set alarms by one runtime.

Whoever leads a partition of an internal topic coordinates what is kept there. A
`CoordinatorRuntime` stands between one kind of coordinator and the broker: told that the leadership
of its topic changed, it compares the partitions that the broker leads with those it led before,
reads the logs of the new ones into memory, lets go of the others, and later appends what the
coordinator decides.

A partition that another broker led between two calls may have that one's records by now, so it
counts as lost and won again. What is compared is therefore the term, the epoch in which the broker
began to lead and has led ever since: a new epoch of the same leader (a follower died, say) is no
new term, and whoever waits there waits on. Transactions alone compare the leader epoch
(`by_epoch`), because their markers carry it.

A log is read in turns, `buffer` bytes each as Kafka reads at once, so that requests are served in
between; until it is read the coordinator answers COORDINATOR_LOAD_IN_PROGRESS (OFFS-25, GROUP-04).
Records appended meanwhile (markers) are read as well.

Sources: CoordinatorRuntime@4.3.1 (scheduleLoadOperation, scheduleUnloadOperation);
GroupMetadataManager.loadGroupsAndOffsets, TransactionStateManager.loadTransactions,
Partition.makeLeader at 2.8.2.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from touchstone.reference_impl.broker.coordinators import internal_log
from touchstone.reference_impl.broker.coordinators.loader import LogLoader, Read
from touchstone.reference_impl.group.placement import partition_for, partition_of_hash
from touchstone.reference_impl.wire.errors import ErrorCode as E

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.cluster.replica import Replica

Written = Callable[[int, int], None]  # (error code, now)
TURN_MS = 1  # between two turns of a load, in which requests are served
READ_BYTES = 5 << 20  # what the settings of load buffers are by default


class Load(NamedTuple):
    """Makes the log of one partition the coordinator's memory."""

    read: Read
    done: Callable[[int], None]  # called with the instant at which the log is read whole
    to_the_damage: bool = False  # what cannot be read ends the log, and it is served


class CoordinatorRuntime:
    """The partitions of `topic` that a broker leads, for the coordinator called `name`.

    `load(index, replica, now)` says how a new partition is read; `unload(kept, lost)` lets go of
    what is kept in the partitions `lost`, and of everything that is in none of `kept`.
    """

    def __init__(
        self,
        broker: Broker,
        name: str,
        topic: str,
        *,
        load: Callable[[int, Replica, int], Load],
        unload: Callable[[Collection[int], Collection[int]], None],
        buffer: str | None = None,
        by_epoch: bool = False,
    ) -> None:
        self._broker, self._name, self.topic = broker, name, topic
        self._load, self._unload = load, unload
        self._buffer = buffer  # the setting; None for logs that are read in one turn
        self._by_epoch = by_epoch
        self._terms: dict[int, int] = {}  # of the partitions that are led
        self._loading: dict[int, LogLoader] = {}

    # --- partitions --------------------------------------------------------------------------

    def partition_of(self, name: str) -> int:
        """The partition that keeps what belongs to this name; -1 where the topic does not exist."""
        topic = self._broker.cluster.topics.get(self.topic)
        return partition_for(name, len(topic.partitions)) if topic else -1

    def partition_of_hash(self, hashed: int) -> int:
        """The same, by the hash of the name."""
        topic = self._broker.cluster.topics.get(self.topic)
        return partition_of_hash(hashed, len(topic.partitions)) if topic else -1

    def is_leader_of(self, index: int) -> bool:
        """Whether this broker leads the partition, loaded or not."""
        return index in self._terms

    def led_partitions(self) -> Iterable[int]:
        return self._terms

    def loads(self, index: int | None = None) -> bool:
        """Whether the partition, or any, is still being read."""
        return bool(self._loading) if index is None else index in self._loading

    def leadership_changed(self, now: int) -> None:
        """Compare what the broker leads with what it led at the last call; load and unload."""
        replicas = self._replicas()
        before = self._terms
        self._terms = {
            index: replica.leader_epoch if self._by_epoch else replica.term
            for index, replica in replicas.items()
        }
        kept = frozenset(i for i, term in before.items() if self._terms.get(i) == term)
        lost = before.keys() - kept
        for index in lost:
            self._loading.pop(index, None)
        self._unload(kept, lost)
        for index, replica in replicas.items():
            if index not in kept:
                self._begin(index, replica, now)

    def _replicas(self) -> dict[int, Replica]:
        placed = self._broker.cluster.topics.get(self.topic)
        found = {}
        for partition in placed.partitions if placed else ():
            replica, _ = self._broker.replicas.locate(self.topic, partition.index)
            if replica is not None:
                found[partition.index] = replica
        return found

    def _begin(self, index: int, replica: Replica, now: int) -> None:
        """Take the first turn and go on until all is read, maybe before this returns."""
        load = self._load(index, replica, now)
        if self._buffer is None:
            LogLoader(replica.log, READ_BYTES, load.read).whole()
            load.done(now)
            return
        size = self._broker.number(self._buffer, READ_BYTES)
        loader = self._loading[index] = LogLoader(
            replica.log, size, load.read, to_the_damage=load.to_the_damage
        )

        def turn(at: int) -> None:
            if self._loading.get(index) is not loader:
                return
            if loader.turn():
                del self._loading[index]
                load.done(at)
            else:
                self.remind(("load", index), at + TURN_MS, turn)

        turn(now)

    # --- appends and alarms ------------------------------------------------------------------

    def append(
        self,
        index: int,
        records: bytes,
        now: int,
        then: Written,
        *,
        errors: Mapping[E, E] = internal_log.NOT_KEPT,
    ) -> None:
        """Append to a partition; `then(code, now)` once it is replicated, or why it is not.

        `errors` says what a failure of the log means to whoever asked the coordinator.
        """

        def written(code: int, at: int) -> None:
            then(errors.get(E(code), code) if code else code, at)

        internal_log.append(self._broker, self.topic, index, records, now, written)

    def remind(self, key: object, at: int | None, call: Callable[[int], None]) -> None:
        """Call at that instant; a later word about the same key replaces it, None takes it back."""
        self._broker.purgatory.remind((self._name, self._broker.id, key), at, call)
