"""LeaderAndIsr: a ZooKeeper controller says what this broker leads and whom it follows.

The request is refused as a whole for an old controller or an earlier life of this broker; each
partition is believed only under a leader epoch higher than the one known (also the same one is
"stale"), and only if this broker is among its replicas. What is believed happens at once.

Sources: CTL-10, REPL-20, REPL-21; KIP-380, KIP-516; ReplicaManager.becomeLeaderOrFollower@1.0.2,
2.2.1, 2.8.2; observed on three nodes of the three, with requests of our own.
"""

from __future__ import annotations

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.configs.config_view import ConfiguredNode
from touchstone.reference_impl.broker.control.controller_requests import (
    ControllerRequests,
    by_topic,
)
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.broker.replication.replicas import Replicas
from touchstone.reference_impl.cluster.replica import LeaderState
from touchstone.reference_impl.cluster.topology import NO_TOPIC_ID
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

TopicRow = tuple[str, Struct]


def handle(
    request: Request,
    orders: ControllerRequests,
    replicas: Replicas,
    node: ConfiguredNode,
    persona: Persona,
    now: int,
) -> Struct:
    body = request.body
    try:
        orders.check_broker_epoch(body["broker_epoch"])
    except ApiError as refused:
        return fail(request, refused.code)
    try:
        orders.check_controller_epoch(body["controller_epoch"])
    except ApiError as refused:
        named = persona.quirk("controller.refusals-name-partitions")
        return fail(request, refused.code) if named else _answer(refused.code, [])
    rows = _rows(body)
    return _answer(
        ErrorCode.NONE, [(t, row, _believed(replicas, node, t, row, now)) for t, row in rows]
    )


def fail(request: Request, code: int) -> Struct:
    return _answer(code, [(topic, row, code) for topic, row in _rows(request.body)])


def _rows(body: Struct) -> list[TopicRow]:
    return by_topic(body, "topic_states", "ungrouped_partition_states")


def _answer(code: int, results: list[tuple[str, Struct, int]]) -> Struct:
    """Both groupings; the version sends one of them."""
    topics: dict[bytes, list[dict[str, int]]] = {}
    for _, row, each in results:
        errors = topics.setdefault(row.get("topic_id") or NO_TOPIC_ID, [])
        errors.append({"partition_index": row["partition_index"], "error_code": each})
    return {
        "error_code": code,
        "topics": [{"topic_id": i, "partition_errors": rows} for i, rows in topics.items()],
        "partition_errors": [
            {"topic_name": topic, "partition_index": row["partition_index"], "error_code": each}
            for topic, row, each in results
        ],
    }


def _believed(replicas: Replicas, node: ConfiguredNode, topic: str, row: Struct, now: int) -> int:
    replica = replicas.get(topic, row["partition_index"])
    topic_id = row.get("topic_id") or NO_TOPIC_ID
    if node.id not in row["replicas"]:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if replica is not None:
        if replica.offline:
            return ErrorCode.KAFKA_STORAGE_ERROR
        if topic_id not in (NO_TOPIC_ID, replica.topic_id):
            return ErrorCode.INCONSISTENT_TOPIC_ID
        if row["leader_epoch"] <= replica.leader_epoch:
            return ErrorCode.STALE_CONTROLLER_EPOCH
        topic_id = replica.topic_id
    state = LeaderState(
        topic,
        row["partition_index"],
        topic_id,
        row["leader"],
        row["leader_epoch"],
        row["partition_epoch"],
        tuple(row["isr"]),
        tuple(row["replicas"]),
        tuple(row.get("adding_replicas") or ()),
        tuple(row.get("removing_replicas") or ()),
        bool(row.get("is_new")),
    )
    replicas.apply(state, now)
    return ErrorCode.NONE
