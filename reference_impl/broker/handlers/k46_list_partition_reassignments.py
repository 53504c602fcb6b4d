"""ListPartitionReassignments: the moves that are not finished (KIP-455).

Only partitions on the move are shown, whoever was asked for; KRaft shows one as often as it is
named.

Sources: KIP-455; KafkaController.listPartitionReassignments@2.8.2,
ReplicationControlManager.listPartitionReassignments@3.9.2, 4.3.1; observed on three nodes of each.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.control.cluster_controller import (
    NOT_CONTROLLER_MESSAGE,
    ClusterController,
)
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.effects import Request
    from touchstone.reference_impl.cluster.topology import Partition


def handle(
    request: Request, controller: ClusterController, cluster: Cluster, persona: Persona, now: int
) -> Struct:
    if not controller.here:
        return _answer(ErrorCode.NOT_CONTROLLER, NOT_CONTROLLER_MESSAGE, ())
    rows, kraft = request.body["topics"], persona.kraft
    if rows is None:
        found: Iterable[Partition | None] = cluster.all_partitions()
    else:
        places = [(row["name"], index) for row in rows for index in row["partition_indexes"]]
        if not kraft:
            places = list(dict.fromkeys(places))
        found = (cluster.partition(*place) for place in places)
    moving = [p for p in found if p is not None and (p.adding or p.removing)]
    return _answer(ErrorCode.NONE, None if kraft else "", moving)


def _answer(code: int, message: str | None, moving: Iterable[Partition]) -> Struct:
    by_topic: dict[str, list[Struct]] = {}
    for partition in moving:
        by_topic.setdefault(partition.topic, []).append(
            {
                "partition_index": partition.index,
                "replicas": partition.replicas,
                "adding_replicas": list(partition.adding),
                "removing_replicas": list(partition.removing),
            }
        )
    topics = [{"name": name, "partitions": rows} for name, rows in by_topic.items()]
    return {"error_code": code, "error_message": message, "topics": topics}
