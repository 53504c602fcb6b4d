"""DescribeTopicPartitions: topics and their partitions, page by page (KIP-966).

Topics come in the order of their names. A page holds so many partitions as the request allows,
at least one and at most `max.request.partition.size.limit`; where it ends, a cursor names the next
partition. A cursor must name a topic of the request and a partition that is not negative.

Sources: DescribeTopicPartitionsRequestHandler@3.9.2, 4.3.1; observed on both.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.authorized_operations import TOPIC_OPERATIONS
from touchstone.reference_impl.broker.configs.config_view import ConfiguredNode
from touchstone.reference_impl.broker.control import topic_names
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.cluster.acls import Operation
from touchstone.reference_impl.cluster.replica import LeaderState
from touchstone.reference_impl.cluster.topology import NO_LEADER
from touchstone.reference_impl.cluster.view import MetadataView
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, metadata: MetadataView, node: ConfiguredNode, now: int) -> Struct:
    body = request.body
    names = {row["name"] for row in body["topics"]}
    if "" in names:
        return fail(request, ErrorCode.UNKNOWN_SERVER_ERROR)
    everything, cursor = not body["topics"], body["cursor"]
    if everything:
        names = set(metadata.topics)
    first = 0
    if cursor is not None:
        start, first = cursor["topic_name"], cursor["partition_index"]
        listed = everything or start in names
        if first < 0 or not listed:
            return fail(request, ErrorCode.INVALID_REQUEST)
        names = {name for name in names if name >= start}
        if start not in names:
            first = 0
    hidden = set()
    if request.access is not None:
        may = request.access.topic
        hidden = {name for name in names if not may(Operation.DESCRIBE, name)}
    ceiling = node.number("max.request.partition.size.limit", 2000)
    room = max(1, min(body["response_partition_limit"], ceiling))
    page = _page(metadata, sorted(names - hidden), first, room)
    if not everything:  # of all topics these are left out
        page["topics"] += [_hidden(name) for name in sorted(hidden)]
    return page


def _page(metadata: MetadataView, names: list[str], first: int, room: int) -> Struct:
    """Rows until the room is used up; `first` counts in the first topic only."""
    rows: list[Struct] = []
    for name in names:
        if room == 0:  # whoever comes next is named, there or not
            return _with_cursor(rows, name, first)
        topic = metadata.topics.get(name)
        if topic is None:
            wrong = topic_names.fault(name)
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            code = ErrorCode.INVALID_TOPIC_EXCEPTION if wrong else code
            rows.append(_row(code, name, partitions=[]))
            first = 0
            continue
        shown = topic.partitions[first : first + room]
        row = _row(ErrorCode.NONE, name, partitions=[_partition(metadata, p) for p in shown])
        rows.append(row | {"topic_id": topic.id, "is_internal": topic.internal})
        room -= len(shown)
        if first + len(shown) < len(topic.partitions):
            return _with_cursor(rows, name, first + len(shown))
        first = 0
    return {"topics": rows, "next_cursor": None}


def _hidden(name: str) -> Struct:
    return {"error_code": ErrorCode.TOPIC_AUTHORIZATION_FAILED, "name": name, "partitions": []}


def _with_cursor(rows: list[Struct], name: str, partition: int) -> Struct:
    return {"topics": rows, "next_cursor": {"topic_name": name, "partition_index": partition}}


def _row(code: int, name: str, *, partitions: list[Struct]) -> Struct:
    return {
        "error_code": code,
        "name": name,
        "partitions": partitions,
        "topic_authorized_operations": TOPIC_OPERATIONS,
    }


def _partition(metadata: MetadataView, partition: LeaderState) -> Struct:
    offline = metadata.offline(partition)
    leaderless = partition.leader == NO_LEADER or partition.leader in offline
    return {
        "error_code": ErrorCode.NONE,
        "partition_index": partition.index,
        "leader_id": NO_LEADER if leaderless else partition.leader,
        "leader_epoch": partition.leader_epoch,
        "replica_nodes": list(partition.replicas),
        "isr_nodes": list(partition.isr),
        "eligible_leader_replicas": list(partition.elr),
        "last_known_elr": list(partition.last_known_elr),
        "offline_replicas": offline,
    }


def fail(request: Request, code: int) -> Struct:
    names = dict.fromkeys(row["name"] for row in request.body["topics"])
    return {"topics": [{"error_code": code, "name": name} for name in names]}
