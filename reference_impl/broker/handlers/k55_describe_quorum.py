"""DescribeQuorum: who votes on the metadata log, who only follows it, and how far each one is.

There is one voter, which is the only broker or a node apart (`REGISTRY`) where there are several,
as the clusters were set up that we compare with; it is never behind, and neither is a live broker.
The log itself does not exist here: its end is the number of changes the registry has seen.

Sources: KIP-595, KIP-836, KIP-853; observed on 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.configs.config_view import ConfiguredNode
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.cluster.membership import REGISTRY
from touchstone.reference_impl.cluster.topology import METADATA_TOPIC, Cluster
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

NO_DIRECTORY = bytes(16)
EPOCH = 1


def handle(request: Request, cluster: Cluster, node: ConfiguredNode, now: int) -> Struct:
    asked = request.body["topics"]
    known = len(asked) == 1 and asked[0]["topic_name"] == METADATA_TOPIC
    if known:
        known = [row["partition_index"] for row in asked[0]["partitions"]] == [0]
    row = _quorum if known else _unknown
    topics = [
        {
            "topic_name": topic["topic_name"],
            "partitions": [row(cluster, p["partition_index"], now) for p in topic["partitions"]],
        }
        for topic in asked
    ]
    nodes = [_node(cluster, node)] if known else []
    return {"error_code": ErrorCode.NONE, "error_message": "", "topics": topics, "nodes": nodes}


def _voter(cluster: Cluster) -> int:
    brokers = cluster.brokers
    return next(iter(brokers)) if len(brokers) == 1 else REGISTRY


def _node(cluster: Cluster, node: ConfiguredNode) -> Struct:
    own = cluster.node(node.id)
    listener = {"name": "CONTROLLER", "host": own.host, "port": own.port}
    return {"node_id": _voter(cluster), "listeners": [listener]}


def _quorum(cluster: Cluster, index: int, now: int) -> Struct:
    voter = _voter(cluster)
    observers = [each.id for each in cluster.alive if each.id != voter]
    return {
        "partition_index": index,
        "error_code": ErrorCode.NONE,
        "error_message": "",
        "leader_id": voter,
        "leader_epoch": EPOCH,
        "high_watermark": cluster.generation,
        "current_voters": [_replica(cluster.generation, voter, now)],
        "observers": [_replica(cluster.generation, each, now) for each in observers],
    }


def _replica(end: int, number: int, now: int) -> Struct:
    return {
        "replica_id": number,
        "replica_directory_id": NO_DIRECTORY,
        "log_end_offset": end,
        "last_fetch_timestamp": now,
        "last_caught_up_timestamp": now,
    }


def _unknown(cluster: Cluster, index: int, now: int) -> Struct:
    return {
        "partition_index": index,
        "error_code": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "error_message": "This server does not host this topic-partition.",
        "leader_id": 0,
        "leader_epoch": 0,
        "high_watermark": 0,
        "current_voters": [],
        "observers": [],
    }
