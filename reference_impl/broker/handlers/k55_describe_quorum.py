"""DescribeQuorum: who votes on the metadata log, who only follows it, and how far each one is.

There is one voter, which is the only broker or a node apart (`REGISTRY`) where there are several,
as the clusters were set up that we compare with; it is never behind, and neither is a live broker.
The log itself does not exist here: its end is the number of changes the registry has seen.

Sources: KIP-595, KIP-836, KIP-853; observed on 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from typing import Any

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.cluster.membership import REGISTRY
from touchstone.reference_impl.cluster.topology import METADATA_TOPIC
from touchstone.reference_impl.wire.errors import ErrorCode

NO_DIRECTORY = bytes(16)
EPOCH = 1


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    asked = request.body["topics"]
    known = len(asked) == 1 and asked[0]["topic_name"] == METADATA_TOPIC
    if known:
        known = [row["partition_index"] for row in asked[0]["partitions"]] == [0]
    row = _quorum if known else _unknown
    topics = [
        {
            "topic_name": topic["topic_name"],
            "partitions": [row(broker, p["partition_index"], now) for p in topic["partitions"]],
        }
        for topic in asked
    ]
    nodes = [_node(broker)] if known else []
    return {"error_code": ErrorCode.NONE, "error_message": "", "topics": topics, "nodes": nodes}


def _voter(broker: Broker) -> int:
    brokers = broker.cluster.brokers
    return next(iter(brokers)) if len(brokers) == 1 else REGISTRY


def _node(broker: Broker) -> dict[str, Any]:
    own = broker.cluster.brokers[broker.id]
    listener = {"name": "CONTROLLER", "host": own.host, "port": own.port}
    return {"node_id": _voter(broker), "listeners": [listener]}


def _quorum(broker: Broker, index: int, now: int) -> dict[str, Any]:
    voter, cluster = _voter(broker), broker.cluster
    observers = [node.id for node in cluster.alive if node.id != voter]
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


def _replica(end: int, number: int, now: int) -> dict[str, Any]:
    return {
        "replica_id": number,
        "replica_directory_id": NO_DIRECTORY,
        "log_end_offset": end,
        "last_fetch_timestamp": now,
        "last_caught_up_timestamp": now,
    }


def _unknown(broker: Broker, index: int, now: int) -> dict[str, Any]:
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
