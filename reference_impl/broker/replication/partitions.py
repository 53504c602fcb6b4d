"""A data request names a topic and a partition; here is what is said of it.

Produce, Fetch, ListOffsets, DeleteRecords and OffsetForLeaderEpoch ask `Replicas.locate` for the
replica, or the error code that the release gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.cluster.replica import Replica
    from touchstone.reference_impl.cluster.topology import Node
    from touchstone.reference_impl.cluster.view import MetadataView

NO_TOPIC_ID = bytes(16)
CONSUMER, DEBUGGING = -1, -2  # replica ids of those who are no replicas


class LocatedReplica(NamedTuple):
    """A replica this broker leads (or has), or why it cannot be used."""

    replica: Replica | None
    error: int = ErrorCode.NONE


def log_key(topic: str, index: int) -> tuple[str, str, int]:
    """The purgatory key of everything that waits for this partition."""
    return ("partition", topic, index)


def name_of(metadata: MetadataView, row: Struct, *, by_id: bool) -> str | None:
    """The topic's name, or None when its id is not known (KIP-516)."""
    if not by_id:
        return row["name"]
    topic = metadata.by_id.get(row["topic_id"])
    return topic.name if topic else None


def leader_of(
    metadata: MetadataView, topic: str, index: int, listener: str
) -> tuple[Struct, Struct | None]:
    """Current leader and its endpoint, for a client that asked the wrong broker (KIP-951)."""
    partition = metadata.partition(topic, index)
    if partition is None or partition.leader < 0:
        return {"leader_id": -1, "leader_epoch": -1}, None
    leader = {"leader_id": partition.leader, "leader_epoch": partition.leader_epoch}
    node = metadata.brokers.get(partition.leader)
    return leader, None if node is None else endpoint_row(node, listener)


def endpoint_row(node: Node, listener: str) -> Struct | None:
    """A broker as clients of this listener are told of it; None where it has no such listener."""
    found = node.at(listener)
    if found is None:
        return None
    return {"node_id": node.id, "host": found[0], "port": found[1], "rack": node.rack}


def each_once(body: Struct) -> list[tuple[str, list[Struct]]]:
    """Each topic of a request once with each of its partitions; of one that is named twice the last
    counts.
    """
    topics: dict[str, dict[int, Struct]] = {}
    for topic in body["topics"]:
        rows = topics.setdefault(topic["name"], {})
        rows.update((row["partition_index"], row) for row in topic["partitions"])
    return [(name, list(rows.values())) for name, rows in topics.items()]
