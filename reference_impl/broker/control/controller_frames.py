"""The three requests of a ZooKeeper controller get their bodies here, in every version.

A version sends its partitions in one list or by topic; both shapes are filled and the schema takes
its own. The leader -2 says that a partition is being deleted, and so does the leader epoch -2.

Sources: LeaderAndIsrRequest, UpdateMetadataRequest, StopReplicaRequest@1.0.2 to 2.8.2; KIP-380,
KIP-516, KIP-570; LeaderAndIsr.LeaderDuringDelete, EpochDuringDelete@2.8.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from touchstone.reference_impl.broker.control.controller_requests import by_topic
from touchstone.reference_impl.cluster.endpoints import PLAINTEXT, PROTOCOLS, Endpoint
from touchstone.reference_impl.cluster.replica import LeaderState
from touchstone.reference_impl.cluster.topology import Cluster, Node, PartitionDeletion
from touchstone.reference_impl.cluster.view import NO_TOPIC_ID
from touchstone.reference_impl.wire.schema import Struct

DELETED = -2
FIRST_WITH_MOVES = FIRST_WITH_STOP_EPOCHS = 3
_LEADERS, _STOPS, _METADATA = 4, 5, 6  # keys
_BY_TOPIC = {_LEADERS: 2, _METADATA: 5}
Rows = Sequence[LeaderState | PartitionDeletion]


class Form(NamedTuple):
    key: int
    body: Callable[..., Struct]


def _shaped(form: int, version: int, rows: list[Struct], ids: dict[str, bytes]) -> Struct:
    """The rows in one list, or by topic from the version on that has it so."""
    if version < _BY_TOPIC[form]:
        return {"topic_states": [], "ungrouped_partition_states": rows}
    topics = _grouped(rows)
    for topic in topics:
        topic["topic_id"] = ids.get(topic["topic_name"], NO_TOPIC_ID)
    return {"topic_states": topics, "ungrouped_partition_states": []}


def _grouped(rows: list[Struct]) -> list[Struct]:
    """A name stands with its rows now, no longer in them."""
    topics: dict[str, list[Struct]] = {}
    for row in rows:
        topics.setdefault(row.pop("topic_name"), []).append(row)
    return [{"topic_name": name, "partition_states": states} for name, states in topics.items()]


def _row(state: LeaderState) -> Struct:
    return {
        "topic_name": state.topic,
        "partition_index": state.index,
        "controller_epoch": state.controller_epoch,
        "leader": state.leader,
        "leader_epoch": state.leader_epoch,
        "isr": list(state.isr),
        "replicas": list(state.replicas),
    }


def _leader_and_isr(cluster: Cluster, version: int, states: list[LeaderState]) -> Struct:
    rows = [
        {**_row(state), "partition_epoch": state.partition_epoch, "is_new": state.is_new}
        for state in states
    ]
    for row, state in zip(rows, states, strict=True):
        if version >= FIRST_WITH_MOVES:
            row |= {
                "adding_replicas": list(state.adding),
                "removing_replicas": list(state.removing),
            }
    leaders = sorted({state.leader for state in states} & cluster.brokers.keys())
    nodes = [cluster.brokers[leader] for leader in leaders]
    return {
        "type": 0,  # some partitions, not all of them
        **_shaped(_LEADERS, version, rows, {state.topic: state.topic_id for state in states}),
        "live_leaders": [
            {"broker_id": node.id, "host_name": node.host, "port": node.port} for node in nodes
        ],
    }


def _update_metadata(cluster: Cluster, version: int, changes: Rows) -> Struct:
    alive = {node.id for node in cluster.alive}
    rows = [_told_of(change, alive) for change in changes]
    ids = {c.topic: c.topic_id for c in changes if type(c) is LeaderState}
    return {
        **_shaped(_METADATA, version, rows, ids),
        "live_brokers": [_endpoints(node) for node in cluster.alive],
    }


def _told_of(change: LeaderState | PartitionDeletion, alive: set[int]) -> Struct:
    if type(change) is LeaderState:
        offline = [r for r in change.replicas if r in change.lost or r not in alive]
        return {
            **_row(change),
            "zk_version": change.partition_epoch,
            "offline_replicas": offline,
        }
    return {
        "topic_name": change.topic,
        "partition_index": change.index,
        "controller_epoch": 0,
        "leader": DELETED,
        "leader_epoch": 0,
        "isr": [],
        "zk_version": 0,
        "replicas": list(change.replicas),
        "offline_replicas": [],
    }


def _endpoints(node: Node) -> Struct:
    endpoints = [
        {
            "port": each.port,
            "host": each.host,
            "listener": each.listener,
            "security_protocol": PROTOCOLS.index(each.protocol),
        }
        for each in node.advertised
    ]
    return {
        "id": node.id,
        "endpoints": endpoints,
        "rack": node.rack,
        "v0_host": node.host,
        "v0_port": node.port,
    }


def _stop_replica(cluster: Cluster, version: int, changes: Rows, *, delete: bool = False) -> Struct:
    rows = [{"topic_name": each.topic, "partition_index": each.index} for each in changes]
    if version == 0:
        return {
            "delete_partitions": delete,
            "ungrouped_partitions": rows,
            "topics": [],
            "topic_states": [],
        }
    for row, each in zip(rows, changes, strict=True):
        row["leader_epoch"] = each.leader_epoch if type(each) is LeaderState else DELETED
        row["delete_partition"] = delete
    topics = _grouped(rows)
    named = [
        {
            "name": topic["topic_name"],
            "partition_indexes": [row["partition_index"] for row in topic["partition_states"]],
        }
        for topic in topics
    ]
    return {
        "delete_partitions": delete,
        "ungrouped_partitions": [],
        "topics": named if version < FIRST_WITH_STOP_EPOCHS else [],
        "topic_states": topics if version >= FIRST_WITH_STOP_EPOCHS else [],
    }


LEADER_AND_ISR = Form(_LEADERS, _leader_and_isr)
STOP_REPLICA = Form(_STOPS, _stop_replica)
UPDATE_METADATA = Form(_METADATA, _update_metadata)


# ---------------------------------------------------------------------- what UpdateMetadata says


def told_brokers(body: Struct) -> list[Node]:
    return [_node(row) for row in body["live_brokers"]]


def _node(row: Struct) -> Node:
    found = tuple(_endpoint(each) for each in row["endpoints"] or ())
    plain = next((each for each in found if each.protocol == PLAINTEXT), None)
    if [each.listener for each in found] == [PLAINTEXT]:
        found = ()  # a node without more is one of a PLAINTEXT listener
    if plain is not None:
        return Node(row["id"], plain.host, plain.port, row["rack"], endpoints=found)
    host, port = row["v0_host"] or "", row["v0_port"] or -1
    return Node(row["id"], host, port, row["rack"], endpoints=found)


def _endpoint(row: Struct) -> Endpoint:
    number = row["security_protocol"]
    protocol = PROTOCOLS[number] if 0 <= number < len(PROTOCOLS) else str(number)
    at = row["host"], row["port"]
    return Endpoint(row["listener"] or protocol, protocol, *at, bound=at)


def told_partitions(body: Struct) -> list[LeaderState | PartitionDeletion]:
    return [
        _change(topic, row)
        for topic, row in by_topic(body, "topic_states", "ungrouped_partition_states")
    ]


def _change(topic: str, row: Struct) -> LeaderState | PartitionDeletion:
    if row["leader"] == DELETED:
        return PartitionDeletion(topic, row["partition_index"], tuple(row["replicas"]))
    return LeaderState(
        topic,
        row["partition_index"],
        row.get("topic_id") or NO_TOPIC_ID,
        row["leader"],
        row["leader_epoch"],
        row["zk_version"],
        tuple(row["isr"]),
        tuple(row["replicas"]),
        lost=tuple(row.get("offline_replicas") or ()),
        controller_epoch=row["controller_epoch"],
    )
