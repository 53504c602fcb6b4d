"""A broker tells clients, and believes of its peers, what stands in its view of the cluster.

The registry (`topology.Cluster`) is the controller's truth; a broker has only what it was told, so
one that is cut off goes on answering what was true before (META-11). KRaft's brokers are told by
the metadata log, change by change and in order; ZooKeeper's by UpdateMetadata, which names every
live broker and the partitions that changed. Nothing here is ever changed in place: a partition is
a `LeaderState`, a broker a copy of its `Node`, and news replace them.

Sources: META-08, META-11; MetadataCache@1.0.2, ZkMetadataCache and MetadataCache@2.2.1, 2.8.2,
KRaftMetadataCache@3.9.2, 4.3.1.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from operator import attrgetter

from touchstone.reference_impl.cluster.replica import NO_LEADER, LeaderState
from touchstone.reference_impl.cluster.topology import (
    INTERNAL_TOPICS,
    Change,
    ClusterSnapshot,
    ControllerChange,
    Node,
    PartitionDeletion,
)

NO_TOPIC_ID = bytes(16)
_INDEX = attrgetter("index")


class SeenTopic:
    """A topic of a view; `partitions` by ascending index, which may have gaps."""

    __slots__ = ("id", "name", "partitions")

    def __init__(self, name: str, topic_id: bytes) -> None:
        self.name = name
        self.id = topic_id
        self.partitions: list[LeaderState] = []

    @property
    def internal(self) -> bool:
        return self.name in INTERNAL_TOPICS

    def partition(self, index: int) -> LeaderState | None:
        at = self._place(index)
        rows = self.partitions
        return rows[at] if at < len(rows) and rows[at].index == index else None

    def _place(self, index: int) -> int:
        rows = self.partitions
        if 0 <= index < len(rows) and rows[index].index == index:
            return index
        return bisect_left(rows, index, key=_INDEX)

    def keep(self, state: LeaderState) -> None:
        at, rows = self._place(state.index), self.partitions
        if at < len(rows) and rows[at].index == state.index:
            rows[at] = state
        else:
            rows.insert(at, state)

    def forget(self, index: int) -> None:
        at = self._place(index)
        if at < len(self.partitions) and self.partitions[at].index == index:
            del self.partitions[at]


class MetadataView:
    def __init__(self) -> None:
        self.controller_id = NO_LEADER
        self.brokers: dict[int, Node] = {}
        self.topics: dict[str, SeenTopic] = {}
        self.by_id: dict[bytes, SeenTopic] = {}

    # --- questions --------------------------------------------------------------------------

    @property
    def alive(self) -> list[Node]:
        """Live brokers by ascending id."""
        return [self.brokers[i] for i in sorted(self.brokers) if self.brokers[i].alive]

    def partition(self, name: str, index: int) -> LeaderState | None:
        topic = self.topics.get(name)
        return topic.partition(index) if topic else None

    def all_partitions(self) -> Iterator[LeaderState]:
        for topic in self.topics.values():
            yield from topic.partitions

    def is_alive(self, broker: int) -> bool:
        node = self.brokers.get(broker)
        return node is not None and node.alive

    def offline(self, partition: LeaderState) -> list[int]:
        """Replicas on brokers, or in directories, that are not there (KIP-112), in their order."""
        lost = partition.lost
        return [r for r in partition.replicas if r in lost or not self.is_alive(r)]

    # --- changes ----------------------------------------------------------------------------

    def apply(self, change: Change) -> None:
        """Apply one change of the metadata log, or a whole snapshot."""
        if type(change) is LeaderState:
            self._keep(change)
        elif type(change) is PartitionDeletion:
            self._forget(change)
        elif type(change) is Node:
            self.brokers[change.id] = change
        elif type(change) is ControllerChange:
            self.controller_id = change.id
        elif type(change) is ClusterSnapshot:
            self.topics, self.by_id = {}, {}
            self.updated(change.controller_id, change.brokers, change.partitions)

    def updated(
        self,
        controller: int,
        brokers: Iterable[Node],
        changes: Iterable[LeaderState | PartitionDeletion],
    ) -> None:
        """Apply an UpdateMetadata: all live brokers, and the partitions that changed."""
        self.controller_id = controller
        self.brokers = {node.id: node for node in brokers}
        for change in changes:
            if isinstance(change, PartitionDeletion):
                self._forget(change)
            else:
                self._keep(change)

    def _keep(self, state: LeaderState) -> None:
        topic = self.topics.get(state.topic)
        if topic is None or topic.id != state.topic_id:
            if topic is not None:  # deleted and made again, unheard
                self.by_id.pop(topic.id, None)
            topic = self.topics[state.topic] = SeenTopic(state.topic, state.topic_id)
            if topic.id != NO_TOPIC_ID:
                self.by_id[topic.id] = topic
        topic.keep(state)

    def _forget(self, gone: PartitionDeletion) -> None:
        topic = self.topics.get(gone.topic)
        if topic is None:
            return
        topic.forget(gone.index)
        if not topic.partitions:
            del self.topics[topic.name]
            self.by_id.pop(topic.id, None)
