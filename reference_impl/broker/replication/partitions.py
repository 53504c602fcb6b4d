"""A data request names a topic and a partition; this module finds the replica, or the error.

Produce, Fetch, ListOffsets, DeleteRecords and OffsetForLeaderEpoch ask the same questions in the
same order (ReplicaManager.getPartitionOrError, Partition.checkCurrentLeaderEpoch; APPEND-02,
FETCH-21, META-05); the answer is the replica or the error code that the release gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.cluster.replica import Replica

NO_TOPIC_ID = bytes(16)
NO_EPOCH = -1
CONSUMER, DEBUGGING = -1, -2  # replica ids of those who are no replicas


class LocatedReplica(NamedTuple):
    """A replica this broker leads (or has), or why it cannot be used."""

    replica: Replica | None
    error: int = ErrorCode.NONE


def log_key(topic: str, index: int) -> tuple[str, str, int]:
    """The purgatory key of everything that waits for this partition."""
    return ("partition", topic, index)


def name_of(broker: Broker, row: dict[str, Any], *, by_id: bool, field: str = "name") -> str | None:
    """The topic's name, or None when its id is not known (KIP-516)."""
    if not by_id:
        return row[field]
    topic = broker.metadata.by_id.get(row["topic_id"])
    return topic.name if topic else None


def locate(
    broker: Broker,
    topic: str,
    index: int,
    *,
    epoch: int = NO_EPOCH,
    any_replica: bool = False,
    debugging: bool = False,
) -> LocatedReplica:
    """The replica if this broker leads it (or has it, for `any_replica`) in this epoch."""
    replica = broker.replicas.get(topic, index)
    if replica is None:
        if broker.metadata.partition(topic, index) is None:
            return LocatedReplica(None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        name = "partition.elsewhere-for-debuggers" if debugging else "partition.elsewhere"
        return LocatedReplica(None, broker.persona.quirk(name))
    if replica.offline:
        return LocatedReplica(None, ErrorCode.KAFKA_STORAGE_ERROR)
    named = epoch > NO_EPOCH or (
        epoch < NO_EPOCH and broker.persona.quirk("partition.fences-negative-epochs")
    )
    if named and "leader-epoch-not-checked" not in broker.switches:
        if epoch < replica.leader_epoch:
            return LocatedReplica(None, ErrorCode.FENCED_LEADER_EPOCH)
        if epoch > replica.leader_epoch:
            return LocatedReplica(None, ErrorCode.UNKNOWN_LEADER_EPOCH)
    if not (replica.is_leader or any_replica):
        return LocatedReplica(None, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    return LocatedReplica(replica)


def leader_of(broker: Broker, topic: str, index: int) -> tuple[dict[str, int], dict | None]:
    """Current leader and its endpoint, for a client that asked the wrong broker (KIP-951)."""
    partition = broker.metadata.partition(topic, index)
    if partition is None or partition.leader < 0:
        return {"leader_id": -1, "leader_epoch": -1}, None
    leader = {"leader_id": partition.leader, "leader_epoch": partition.leader_epoch}
    node = broker.metadata.brokers.get(partition.leader)
    if node is None:
        return leader, None
    return leader, {"node_id": node.id, "host": node.host, "port": node.port, "rack": node.rack}
