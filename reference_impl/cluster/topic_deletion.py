"""A deleted topic is gone for clients at once, and for brokers when the last replica let go.

On ZooKeeper a replica whose broker is down cannot be told, so the deletion waits for it and the
name stays taken (CTL-21); KRaft needs no such book, because a broker that comes back finds out by
the topic's id. A topic being deleted is left alone by elections, reassignments and shutdowns.

Sources: TopicDeletionManager@1.0.2, 2.2.1, 2.8.2; CTL-15, CTL-18, CTL-21; observed on three nodes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from touchstone.reference_impl.cluster.state_machines import REPLICA_MOVES, ReplicaState
from touchstone.reference_impl.cluster.topology import Topic

_R = ReplicaState
Replica = tuple[int, int]  # partition, broker


class Deletions:
    def __init__(self) -> None:
        self._states: dict[str, dict[Replica, ReplicaState]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._states

    def __iter__(self) -> Iterator[str]:
        return iter(self._states)

    def begin(self, topic: Topic, live: Collection[int]) -> None:
        """Every replica stops; those on live brokers are deleted, the others wait."""
        self._states[topic.name] = {
            (partition.index, broker): _R.OFFLINE
            for partition in topic.partitions
            for broker in partition.replicas
        }
        self._delete(topic.name, live)

    def resume(self, live: Collection[int]) -> list[tuple[str, Replica]]:
        """Brokers have come back: what waited for them goes on, and is named."""
        waited = [(name, each) for name, states in self._states.items() for each in states]
        for name in list(self._states):
            self._delete(name, live)
        return [(name, each) for name, each in waited if each not in self._states.get(name, ())]

    def waiting(self, name: str) -> set[int]:
        """The brokers a deletion waits for."""
        return {broker for _, broker in self._states.get(name, ())}

    def _delete(self, name: str, live: Collection[int]) -> None:
        states = self._states[name]
        for replica in list(states):
            if replica[1] not in live:
                self._move(states, replica, _R.DELETION_STARTED, _R.DELETION_INELIGIBLE)
                continue
            steps = (_R.OFFLINE, _R.DELETION_STARTED, _R.DELETION_SUCCESSFUL, _R.NON_EXISTENT)
            self._move(states, replica, *steps)
            if states[replica] is _R.NON_EXISTENT:
                del states[replica]
        if not states:
            del self._states[name]

    @staticmethod
    def _move(states: dict[Replica, ReplicaState], replica: Replica, *steps: ReplicaState) -> None:
        for wanted in steps:
            states[replica] = REPLICA_MOVES[states[replica], wanted]
