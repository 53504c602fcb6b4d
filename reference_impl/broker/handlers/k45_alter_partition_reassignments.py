"""AlterPartitionReassignments: other replicas for a partition, or the end of a move (KIP-455).

The answer comes at once; the data moves afterwards, and ListPartitionReassignments shows it until
every new replica is in sync. ZooKeeper's controller takes brokers that are alive, KRaft's brokers
that are registered; of two entries for one partition ZooKeeper's keeps the last.

Sources: KIP-455, KIP-860; CTL-22; KafkaController.processApiPartitionReassignment@2.8.2,
ReplicationControlManager.alterPartitionReassignments@3.9.2, 4.3.1; observed on three nodes of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.control import kraft_topics
from touchstone.reference_impl.broker.control.cluster_controller import (
    NOT_CONTROLLER_MESSAGE,
    ClusterController,
)
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.kraft_controller import KRaftController
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.effects import Request
    from touchstone.reference_impl.cluster.topology import Partition, Topic

PartitionRow = tuple[int, int, str | None]  # partition, code, message
Move = tuple["Partition", list[int]]


def handle(
    request: Request, controller: ClusterController, cluster: Cluster, persona: Persona, now: int
) -> Struct:
    body = request.body
    if not persona.kraft:
        if not controller.here:
            return _answer([], ErrorCode.NOT_CONTROLLER, NOT_CONTROLLER_MESSAGE)
        return _answer(_zookeeper(controller, cluster, body["topics"]), ErrorCode.NONE, "")
    if not body["topics"]:
        return _answer([], ErrorCode.NONE, "") | _echo(body)
    if body["timeout_ms"] <= 0:
        return fail(request, ErrorCode.REQUEST_TIMED_OUT)
    moves: list[Move] = []
    rows = [
        (topic["name"], _outcomes(controller, cluster, body, topic, moves))
        for topic in body["topics"]
    ]
    active = controller.active
    assert isinstance(active, KRaftController)
    active.reassign_together(moves)
    return _answer(rows, ErrorCode.NONE, None) | _echo(body)


def fail(request: Request, code: int) -> Struct:
    rows: list[tuple[str, list[PartitionRow]]] = [
        (row["name"], [(p["partition_index"], code, None) for p in row["partitions"]])
        for row in request.body["topics"]
    ]
    return _answer(rows, code, None) | _echo(request.body)


def _echo(body: Struct) -> Struct:
    return {"allow_replication_factor_change": body["allow_replication_factor_change"]}


def _answer(rows: list[tuple[str, list[PartitionRow]]], code: int, message: str | None) -> Struct:
    return {
        "error_code": code,
        "error_message": message,
        "responses": [
            {
                "name": topic,
                "partitions": [
                    {"partition_index": index, "error_code": each, "error_message": words}
                    for index, each, words in partitions
                ],
            }
            for topic, partitions in rows
        ],
    }


def _outcomes(
    controller: ClusterController,
    cluster: Cluster,
    body: Struct,
    asked: Struct,
    moves: list[Move],
) -> list[PartitionRow]:
    """The rows of a topic's entries; what is to be moved for them goes to `moves`."""
    topic = cluster.topic(asked["name"])
    if topic is None:
        # Once for all: a name that no topic can have may be of 32 KB.
        message = f"Unable to find a topic named {asked['name']}."
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return [(row["partition_index"], unknown, message) for row in asked["partitions"]]
    return [
        (row["partition_index"], *_outcome(controller, cluster, body, topic, row, moves))
        for row in asked["partitions"]
    ]


def _outcome(
    controller: ClusterController,
    cluster: Cluster,
    body: Struct,
    topic: Topic,
    row: Struct,
    moves: list[Move],
) -> tuple[int, str | None]:
    try:
        partition = _kraft_partition(topic, row["partition_index"])
        if row["replicas"] is None:
            if not controller.active.cancel(partition):
                raise ApiError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
        else:
            _check_row(cluster, body, partition, row["replicas"])
            moves.append((partition, row["replicas"]))
    except ApiError as refused:
        return refused.code, refused.message
    return ErrorCode.NONE, None


# ------------------------------------------------------------------------------------- KRaft


def _kraft_partition(topic: Topic, index: int) -> Partition:
    partition = topic.partition(index)
    if partition is None:
        message = f"Unable to find partition {topic.name}:{index}."
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    return partition


def _check_row(cluster: Cluster, body: Struct, partition: Partition, replicas: list[int]) -> None:
    kraft_topics.check_manual(cluster, replicas, None)
    before = len([r for r in partition.replicas if r not in partition.adding])
    if not body["allow_replication_factor_change"] and len(replicas) != before:
        message = f"The replication factor is changed from {before} to {len(replicas)}"
        raise ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, message)


# --------------------------------------------------------------------------------- ZooKeeper


def _zookeeper(
    controller: ClusterController, cluster: Cluster, topics: list[Struct]
) -> list[tuple[str, list[PartitionRow]]]:
    asked = {
        (topic["name"], row["partition_index"]): row["replicas"]
        for topic in topics
        for row in topic["partitions"]
    }
    found: dict[str, list[PartitionRow]] = {}
    for (topic, index), replicas in asked.items():
        code: int = ErrorCode.NONE
        message: str | None = None
        try:
            _reassign(controller, cluster, topic, index, replicas)
        except ApiError as refused:
            code, message = refused.code, refused.message
        found.setdefault(topic, []).append((index, code, message))
    return list(found.items())


def _reassign(
    controller: ClusterController,
    cluster: Cluster,
    topic: str,
    index: int,
    replicas: list[int] | None,
) -> None:
    partition = cluster.partition(topic, index)
    if replicas is not None:
        _check_replicas(cluster, partition, replicas)
    if replicas is None:
        if partition is None or not controller.active.cancel(partition):
            message = "No partition reassignment is in progress."
            raise ApiError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, message)
    elif partition is None:
        message = "The partition does not exist."
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    else:
        controller.active.reassign(partition, replicas)


def _check_replicas(cluster: Cluster, partition: Partition | None, replicas: list[int]) -> None:
    """A list without elements, one that says a broker twice, and ids that cannot be come first."""
    shown = f"ArrayBuffer({', '.join(map(str, replicas))})"
    bad = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    if not replicas:
        raise ApiError(bad, "Empty replica list specified in partition reassignment.")
    if len(set(replicas)) != len(replicas):
        message = f"Duplicate replica ids in partition reassignment replica list: {shown}"
        raise ApiError(bad, message)
    if any(replica < 0 for replica in replicas):
        raise ApiError(bad, f"Invalid broker id in replica list: {shown}")
    alive = [node.id for node in cluster.alive]
    held = [r for r in partition.replicas if r not in partition.adding] if partition else []
    added = [replica for replica in replicas if replica not in held]
    if not set(added) <= set(alive):
        message = (
            "Replica assignment has brokers that are not alive. Replica list: "
            f"ArrayBuffer({', '.join(map(str, added))}), "
            f"live broker list: Set({', '.join(map(str, alive))})"
        )
        raise ApiError(bad, message)
