"""Finding what a data request names: topic by name or id, partition, and is it ours to serve.

Produce, Fetch, ListOffsets, DeleteRecords and OffsetForLeaderEpoch ask the same questions in the
same order (ReplicaManager.getPartitionOrError, Partition.checkCurrentLeaderEpoch; APPEND-02,
FETCH-21, META-05); the answer is the partition or the error code that the release gives.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from reference_impl.broker.broker import Broker
from reference_impl.cluster.topology import Partition
from reference_impl.wire.errors import ErrorCode

NO_TOPIC_ID = bytes(16)
NO_EPOCH = -1
CONSUMER, DEBUGGING = -1, -2  # replica ids of those who are no replicas


class Located(NamedTuple):
    """A partition this broker leads, or why it cannot be used."""

    partition: Partition | None
    error: int = ErrorCode.NONE


def log_key(topic: str, index: int) -> tuple[str, str, int]:
    """The purgatory key of everything that waits for this partition."""
    return ("partition", topic, index)


def name_of(broker: Broker, row: dict[str, Any], *, by_id: bool, field: str = "name") -> str | None:
    """The topic's name, or None when its id is not known (KIP-516)."""
    if not by_id:
        return row[field]
    topic = broker.cluster.by_id.get(row["topic_id"])
    return topic.name if topic else None


def locate(
    broker: Broker,
    topic: str,
    index: int,
    *,
    epoch: int = NO_EPOCH,
    any_replica: bool = False,
    debugging: bool = False,
) -> Located:
    """The partition if this broker leads it (or holds it, for `any_replica`) in this epoch."""
    partition = broker.cluster.partition(topic, index)
    if partition is None or partition.log is None:
        return Located(None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    hosted = broker.id in partition.replicas
    if not hosted:
        name = "partition.elsewhere-for-debuggers" if debugging else "partition.elsewhere"
        return Located(None, broker.persona.quirk(name))
    named = epoch > NO_EPOCH or (
        epoch < NO_EPOCH and broker.persona.quirk("partition.fences-negative-epochs")
    )
    if named and "leader-epoch-not-checked" not in broker.switches:
        if epoch < partition.leader_epoch:
            return Located(None, ErrorCode.FENCED_LEADER_EPOCH)
        if epoch > partition.leader_epoch:
            return Located(None, ErrorCode.UNKNOWN_LEADER_EPOCH)
    if partition.leader != broker.id and not any_replica:
        return Located(None, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    return Located(partition)


def leader_of(broker: Broker, topic: str, index: int) -> tuple[dict[str, int], dict | None]:
    """Current leader and its endpoint, for a client that asked the wrong broker (KIP-951)."""
    partition = broker.cluster.partition(topic, index)
    if partition is None or partition.leader < 0:
        return {"leader_id": -1, "leader_epoch": -1}, None
    leader = {"leader_id": partition.leader, "leader_epoch": partition.leader_epoch}
    node = broker.cluster.brokers.get(partition.leader)
    if node is None:
        return leader, None
    return leader, {"node_id": node.id, "host": node.host, "port": node.port, "rack": node.rack}
