"""StopReplica: a ZooKeeper controller takes a partition away from this broker, with its log or not.

A partition that is not here is as good as stopped, but what is left of it goes. From v3 on
(KIP-570) each row may name the leader epoch it was decided in; an older one than the replica's own
is refused, no epoch (-1) and the epoch of a deletion (-2) never are.

Sources: CTL-10, REPL-24; KIP-380, KIP-570; ReplicaManager.stopReplicas@1.0.2, 2.2.1, 2.8.2;
observed on three nodes of the three, with requests of our own.
"""

from __future__ import annotations

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.control.controller_requests import (
    ControllerRequests,
    by_topic,
)
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.broker.replication.replicas import Replicas
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

NO_EPOCH = -1


def handle(
    request: Request, orders: ControllerRequests, replicas: Replicas, persona: Persona, now: int
) -> Struct:
    body = request.body
    try:
        orders.check_broker_epoch(body["broker_epoch"])
        orders.check_controller_epoch(body["controller_epoch"])
    except ApiError as refused:
        return {"error_code": refused.code, "partition_errors": []}
    return {
        "error_code": ErrorCode.NONE,
        "partition_errors": [
            {
                "topic_name": topic,
                "partition_index": index,
                "error_code": _stopped(
                    replicas, persona, topic, index, epoch, delete=delete, now=now
                ),
            }
            for topic, index, epoch, delete in _rows(body)
        ],
    }


def fail(request: Request, code: int) -> Struct:
    """The whole and each partition with this error, as StopReplicaRequest.getErrorResponse; stale
    epochs alone are answered without partitions.
    """
    rows = [
        {"topic_name": topic, "partition_index": index, "error_code": code}
        for topic, index, _, _ in _rows(request.body)
    ]
    return {"error_code": code, "partition_errors": rows}


def _rows(body: Struct) -> list[tuple[str, int, int, bool]]:
    """(topic, partition, leader epoch, delete) however the version says it."""
    delete = bool(body["delete_partitions"])
    rows = [
        (row["topic_name"], row["partition_index"], NO_EPOCH, delete)
        for row in body["ungrouped_partitions"] or ()
    ]
    for topic in body["topics"] or ():
        rows += [(topic["name"], i, NO_EPOCH, delete) for i in topic["partition_indexes"]]
    for topic, row in by_topic(body | {"": ()}, "topic_states", ""):
        index, epoch = row["partition_index"], row["leader_epoch"]
        rows.append((topic, index, epoch, row["delete_partition"]))
    return rows


def _stopped(
    replicas: Replicas,
    persona: Persona,
    topic: str,
    index: int,
    epoch: int,
    *,
    delete: bool,
    now: int,
) -> int:
    replica = replicas.get(topic, index)
    if replica is None:
        if delete:
            replicas.logs.remove(topic, index, now)
        return ErrorCode.NONE
    if replica.offline:
        return ErrorCode.KAFKA_STORAGE_ERROR
    fenced = persona.quirk("controller.stops-are-fenced")
    if fenced and NO_EPOCH < epoch < replica.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    replicas.stop(topic, index, delete=delete, now=now)
    return ErrorCode.NONE
