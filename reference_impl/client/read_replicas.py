"""Which replica each partition is read from: its leader, or the one that it named (KIP-392).

A leader whose `replica.selector.class` knows racks answers a fetch of another rack with no records
and a preferred read replica. That one is asked from then on, for as long as metadata may be old
(`metadata.max.age.ms`), and then the leader decides again. Whatever goes wrong there ends it early.

Source: SubscriptionState.updatePreferredReadReplica, AbstractFetch.selectReadReplica,
FetchCollector.handleInitializeErrors at 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable

from .flow import TopicPartition
from .metadata import Partition, View


class ReadReplicas:
    """`lease_ms` is how long a preferred replica is asked before the leader is asked again."""

    def __init__(self, view: View, lease_ms: int):
        self._view = view
        self._lease_ms = lease_ms
        self._preferred: dict[TopicPartition, tuple[int, int]] = {}  # -> (broker id, until)

    def of(self, place: TopicPartition, leader: Partition) -> int:
        """The broker to ask now: the preferred one if its lease runs and it can be reached."""
        node, until = self._preferred.get(place, (leader.leader, self._view.now))
        if node in leader.offline or node not in self._view.addresses or self._view.now >= until:
            self._preferred.pop(place, None)
            return leader.leader
        return node

    def prefer(self, place: TopicPartition, node: int) -> None:
        self._preferred[place] = node, self._view.now + self._lease_ms

    def drop(self, place: TopicPartition) -> bool:
        """Ask the leader next; returns whether it had named another."""
        return self._preferred.pop(place, None) is not None

    def keep(self, places: Iterable[TopicPartition]) -> None:
        """Forget all partitions but these."""
        kept = set(places)
        self._preferred = {place: row for place, row in self._preferred.items() if place in kept}
