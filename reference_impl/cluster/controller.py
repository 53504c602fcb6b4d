"""Any controller of Kafka has these verbs, ZooKeeper's and KRaft's alike.

A controller looks at the cluster's registry and changes it: brokers come, go and shut down,
leaders report smaller and larger in-sync sets, somebody wants other leaders or other replicas. Each
verb writes through `Cluster.write`, which remembers what has to be told to the brokers; telling
them is the work of `broker/control`: `metadata_publisher.py` and `controller_channel_manager.py`.
The two kinds differ in which steps they take and so in how often epochs rise:
`zookeeper_controller.py` and `kraft_controller.py`.

Sources: CTL-03..25, BRK-30..32; KafkaController@1.0.2, 2.2.1, 2.8.2, ReplicationControlManager
@3.9.2, 4.3.1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from touchstone.reference_impl.cluster.topology import Cluster, Partition

PREFERRED, UNCLEAN = 0, 1  # kinds of an election somebody asks for (KIP-460)
TopicPartition = tuple[str, int]


class ControlRules(NamedTuple):
    """In what the controllers of one kind differ between releases."""

    elr: bool = False  # eligible leader replicas are kept (KIP-966)
    isr_is_sorted: bool = False  # as a leader reports it, rather than by age of membership
    takeover_shrinks_isr: bool = False  # a new controller takes dead brokers out of every ISR
    takeover_drops_isr_changes: bool = True  # what was announced before stays unread for ever
    elects_on_config: bool = False  # as soon as unclean leaders are allowed, not at the next chance
    elections_skip_needless: bool = True  # an election that changes nothing says so


class ElectionResult(NamedTuple):
    """What became of an election: `done`, `needless`, `unknown-topic`, `unknown-partition`,
    `unavailable` or `deleting`."""

    topic: str
    index: int  # type: ignore[assignment]  # it hides tuple.index
    outcome: str


class Controller(ABC):
    """The verbs. Brokers are named by id; partitions by topic and index."""

    def __init__(self, cluster: Cluster, rules: ControlRules | None = None) -> None:
        self.cluster = cluster
        self.rules = rules or ControlRules()

    # --- brokers ----------------------------------------------------------------------------

    def register(self, broker: int) -> int:
        """The broker is there (again): its new epoch, higher than any before (KIP-380)."""
        if broker in self.cluster.forgotten:
            self.cluster.brokers[broker] = self.cluster.forgotten.pop(broker)
        node = self.cluster.brokers[broker]
        node.epoch = self.cluster.next_broker_epoch
        self.cluster.next_broker_epoch += 1
        node.stopping = False
        self.cluster.broker_changed(broker)
        return node.epoch

    @abstractmethod
    def joined(self, broker: int, *, clean: bool = True) -> None:
        """The broker has registered and may lead; `clean` says how it had ended (KIP-966)."""

    @abstractmethod
    def left(self, broker: int) -> None:
        """Its session has ended."""

    @abstractmethod
    def shutdown(self, broker: int) -> list[TopicPartition]:
        """Move the leaders of a broker that wants to stop; return what it still leads (CTL-24)."""

    @abstractmethod
    def replicas_lost(self, broker: int, places: Iterable[TopicPartition]) -> None:
        """A log directory of a broker that is otherwise well has failed (KIP-112)."""

    def directory_lost(self, broker: int) -> None:
        """The broker itself has found it out; the places are the registry's."""
        self.replicas_lost(broker, self.cluster.without_directory.get(broker, ()))

    def announced(self) -> None:  # noqa: B027 - nobody leaves a quorum anything
        """Brokers left something to be read (CTL-19, CTL-20)."""

    def set_reachable(self, reachable: bool) -> None:  # noqa: B027 - a quorum always is
        """Where a broker is controller: nothing is done while it is frozen or dead."""

    # --- partitions -------------------------------------------------------------------------

    @abstractmethod
    def isr_changed(self, partition: Partition, isr: Sequence[int]) -> None:
        """Its leader, whose right to do so was checked, says who is in sync."""

    def isr_written(self, partition: Partition, isr: Sequence[int]) -> None:
        """Its leader wrote so itself, and will announce it."""
        raise NotImplementedError("only ZooKeeper can be written past the controller")

    @abstractmethod
    def elect(self, kind: int, places: Iterable[TopicPartition] | None) -> list[ElectionResult]:
        """Elections somebody asks for; None means all partitions, and tells of those alone that
        needed one."""

    def stuck(self, places: Iterable[TopicPartition]) -> bool:
        """Whether an election of these gets no answer, as a ZooKeeper controller's may not."""
        return False

    @abstractmethod
    def reassign(self, partition: Partition, replicas: Sequence[int]) -> None:
        """Move it to these brokers; it is done when all of them are in sync (KIP-455)."""

    def reassign_together(self, rows: Iterable[tuple[Partition, Sequence[int]]]) -> None:
        """The moves of one request."""
        for partition, replicas in rows:
            self.reassign(partition, replicas)

    @abstractmethod
    def cancel(self, partition: Partition) -> bool:
        """Give a reassignment up; False where there is none."""

    def delete(self, name: str) -> None:
        """Remove a topic, at once or when its last replica can be told."""
        self.cluster.delete(name)

    def configs_changed(self) -> None:  # noqa: B027 - most controllers wait for the next cause
        """Settings of topics or brokers are not what they were: unclean leaders may be allowed."""

    def being_deleted(self, name: str) -> bool:
        """Whether clients do not see the topic any more and its name is still taken."""
        return False

    # --- shared -----------------------------------------------------------------------------

    def alive(self, broker: int) -> bool:
        node = self.cluster.brokers.get(broker)
        return node is not None and node.alive

    def may_lead(self, broker: int) -> bool:
        node = self.cluster.brokers.get(broker)
        return node is not None and node.alive and not node.stopping

    def unclean(self, partition: Partition) -> bool:
        """Whether a replica that may lack records can lead it (CTL-17)."""
        return self.cluster.config_of(partition.topic).unclean_leader_election_enable

    def reassigning(self) -> list[Partition]:
        return [p for p in self.cluster.all_partitions() if p.adding or p.removing]

    def imbalanced(self) -> dict[int, tuple[list[Partition], int]]:
        """By preferred leader: the partitions another one leads, and how many are preferred."""
        found: dict[int, tuple[list[Partition], int]] = {}
        for partition in self.cluster.all_partitions():
            first = partition.replicas[0]
            others, total = found.get(first, ([], 0))
            if partition.leader != first:
                others = [*others, partition]
            found[first] = others, total + 1
        return found

    @abstractmethod
    def balance(self) -> None:
        """Give partitions back to their preferred leaders (CTL-23)."""
