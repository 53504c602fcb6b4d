"""A consumer reads from the leader, or from a replica in its own rack (KIP-392).

A broker whose `replica.selector.class` is the rack-aware one sends a consumer that says its rack to
the replica there that has come farthest. Such a replica must have the offset; since 3.x it must be
in sync too, because a consumer sent to one that falls behind would follow it down.

Sources: RackAwareReplicaSelector, ReplicaView and ReplicaManager.findPreferredReadReplica at 2.8.2
and 3.9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from touchstone.reference_impl.cluster.replica import Replica

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


class ReplicaSelector:
    """Chooses the replicas that consumers read from."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def preferred(self, replica: Replica, rack: str, offset: int, now: int) -> int | None:
        """The id of the broker to read from, or None for this one, the leader."""
        if not rack or self._broker.config.get("replica.selector.class") != RACK_AWARE:
            return None
        nodes = self._broker.metadata.brokers
        if self._broker.cluster.node(self._broker.id).rack == rack:
            return None
        in_sync_only = self._broker.persona.quirk("fetch.preferred-replica-is-in-sync")
        found = [
            (follower.log_end_offset, follower.last_caught_up, node.id)
            for node, follower in (
                (nodes.get(each), follower) for each, follower in replica.followers.items()
            )
            if node is not None
            and node.alive
            and node.rack == rack
            and follower.log_start_offset <= offset <= follower.log_end_offset
            and (node.id in replica.isr or not in_sync_only)
        ]
        return max(found)[2] if found else None
