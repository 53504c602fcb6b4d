"""OffsetDelete: a group's offsets are removed where nobody subscribes to the topic (KIP-496).

Up to the coordinator of KIP-848 an empty group without offsets goes with the request that looked
for some, also one that an id was given out for (found by random histories).

Sources: GroupCoordinator.handleDeleteOffsets@2.8.2; observed on the three releases that have it.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.coordinators.group_log import nobody_waits
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.group.members import CONSUMER, Group
from touchstone.reference_impl.group.offsets import forget, is_over
from touchstone.reference_impl.group.states import State
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(
    request: Request, groups: Groups, cluster: Cluster, persona: Persona, now: int
) -> Struct:
    body = request.body
    groups.forget_deleted()
    code = groups.refusal(body["group_id"], member=True)
    group = None if code else groups.coordinator.groups.get(body["group_id"])
    if group is None:
        return {"error_code": code or ErrorCode.GROUP_ID_NOT_FOUND, "topics": []}
    if group.state is not State.EMPTY and group.protocol_type != CONSUMER:
        return {"error_code": ErrorCode.NON_EMPTY_GROUP, "topics": []}
    there = set(group.offsets)
    topics = [
        {
            "name": topic["name"],
            "partitions": [
                {
                    "partition_index": row["partition_index"],
                    "error_code": _delete(cluster, group, topic["name"], row["partition_index"]),
                }
                for row in topic["partitions"]
            ],
        }
        for topic in body["topics"]
        if topic["partitions"]
    ]
    gone: dict[tuple[str, int], None] = {
        (topic["name"], row["partition_index"]): None
        for topic in topics
        for row in topic["partitions"]
        if not row["error_code"] and (topic["name"], row["partition_index"]) in there
    }
    if gone:
        groups.log.keep_offsets(group.id, gone, now, nobody_waits)
    taken = any(not row["error_code"] for topic in topics for row in topic["partitions"])
    if taken and persona.quirk("offsets.groups-end-with-their-last") and is_over(group):
        groups.log.forget(group, now)
        groups.coordinator.forget(group)
    if persona.quirk("offsets.failed-deletions-come-first"):
        missing = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        for topic in topics:
            topic["partitions"].sort(key=lambda row: row["error_code"] != missing)
    return {"error_code": ErrorCode.NONE, "topics": topics}


def fail(request: Request, code: int) -> Struct:
    return {"error_code": code, "topics": []}


def _delete(cluster: Cluster, group: Group, name: str, index: int) -> int:
    if cluster.partition(name, index) is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if group.newer_half is not None or group.state is not State.EMPTY:
        subscribed = group.subscribed()
        if subscribed is None or name in subscribed:
            return ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    forget(group, (name, index))
    return ErrorCode.NONE
