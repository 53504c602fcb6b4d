"""StreamsGroupHeartbeat: joins, goes on, leaves, and tells which tasks to run (KIP-1071).

The topics of a topology are looked at first: no internal topic of the brokers', and only names that
a topic may have. Where internal topics of the application are missing they are asked for after the
answer.

Sources: KIP-1071; KafkaApis.handleStreamsGroupHeartbeat@4.3.1; group/streams; observed on
4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.control import internal_topics, topic_names
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.streams_groups import StreamsGroups
from touchstone.reference_impl.broker.coordinators.streams_topics import StreamsTopics
from touchstone.reference_impl.broker.effects import Access, Request, Wait, waiting
from touchstone.reference_impl.cluster.acls import Operation
from touchstone.reference_impl.group.streams.group import Endpoint
from touchstone.reference_impl.group.streams.heartbeat import (
    Beat,
    EndpointTasks,
    HeartbeatResult,
    check,
)
from touchstone.reference_impl.group.streams.status import MISSING_INTERNAL, Status
from touchstone.reference_impl.group.streams.tasks import KINDS, rows
from touchstone.reference_impl.group.streams.topology import InternalTopic
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

PATIENCE = 2  # heartbeats for which a topic that was refused is not asked for again


def handle(
    request: Request, groups: Groups, streams: StreamsGroups, topics: StreamsTopics, now: int
) -> Struct | Wait:
    if not streams.enabled():
        return fail(request, ErrorCode.UNSUPPORTED_VERSION)
    body, interval = request.body, streams.heartbeat_interval(request.body["group_id"])

    client_id, host = request.header.client_id or "", "/" + request.connection.peer_host

    def form(code: int, told: HeartbeatResult, at: int) -> Struct:
        if code:
            return fail(request, code)
        denied = _not_to_create(request.access, told.missing)
        if denied:
            statuses = with_denied(told.statuses, denied)
        else:
            topics.make(told.missing, client_id, at, patience_ms=PATIENCE * interval)
            statuses = topics.explained(told.statuses, told.missing, at)
        return _answer(told, interval) | {
            "status": [{"status_code": code, "status_detail": words} for code, words in statuses]
        }

    try:
        if body["topology"] is not None:
            _check_topics(body["topology"], request.access)
        check(body)
        code = groups.refusal(body["group_id"], member=True)
        if code:
            return fail(request, code)
        ticket = streams.heartbeat(Beat.of(body, client_id, host), form, now)
    except ApiError as refused:
        return fail(request, refused.code) | {"error_message": refused.message}
    return waiting(ticket, dict)


def fail(request: Request, code: int) -> Struct:
    return {
        "error_code": code,
        "member_id": "",
        "member_epoch": 0,
        "heartbeat_interval_ms": 0,
        "acceptable_recovery_lag": 0,
        "task_offset_interval_ms": 0,
        "status": [],
        "endpoint_information_epoch": 0,
    }


def _not_to_create(access: Access | None, missing: Iterable[InternalTopic]) -> list[str]:
    """Those that the peer may not have the coordinator make."""
    if access is None or access.cluster(Operation.CREATE):
        return []
    return [each.name for each in missing if not access.topic(Operation.CREATE, each.name)]


def with_denied(statuses: Iterable[Status], denied: list[str]) -> list[Status]:
    """The statuses, where topics are missing with those that the peer may not create."""
    words = f"Unauthorized to CREATE on topics {', '.join(denied)}."
    told = list(statuses)
    for at, status in enumerate(told):
        if status.code == MISSING_INTERNAL:
            told[at] = Status(MISSING_INTERNAL, f"{status.detail}; {words}")
            return told
    return [*told, Status(MISSING_INTERNAL, words)]


def _check_topics(topology: Struct, access: Access | None) -> None:
    """Raise ApiError for topics that no application may name, or not this one."""
    named: dict[str, None] = {}
    for one in topology["subtopologies"]:
        named |= dict.fromkeys((*one["source_topics"], *one["repartition_sink_topics"]))
        for kind in ("repartition_source_topics", "state_changelog_topics"):
            named |= dict.fromkeys(topic["name"] for topic in one[kind])
    internal = [name for name in named if name in internal_topics.ALL]
    if internal:
        words = f"Use of Kafka internal topics {','.join(internal)} in a Kafka Streams topology is"
        raise ApiError(ErrorCode.STREAMS_INVALID_TOPOLOGY, f"{words} prohibited.")
    invalid = [name for name in named if topic_names.fault(name)]
    if invalid:
        words = f"Topic names {','.join(invalid)} are not valid topic names."
        raise ApiError(ErrorCode.STREAMS_INVALID_TOPOLOGY, words)
    if access and not all(access.topic(Operation.DESCRIBE, name) for name in named):
        raise ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)


def _answer(told: HeartbeatResult, interval_ms: int) -> Struct:
    """Who has left (a negative epoch) is told of no interval."""
    answer: Struct = {
        "error_code": ErrorCode.NONE,
        "member_id": told.member_id,
        "member_epoch": told.epoch,
        "heartbeat_interval_ms": interval_ms if told.epoch >= 0 else 0,
        "acceptable_recovery_lag": 0,
        "task_offset_interval_ms": 0,
        "endpoint_information_epoch": told.endpoint_epoch,
        "partitions_by_user_endpoint": None,
    }
    if told.assigned is not None:
        for kind, tasks in zip(KINDS, told.assigned.of_kinds(), strict=True):
            answer[kind] = rows(tasks, as_java=True)
    if told.endpoints is not None:
        answer["partitions_by_user_endpoint"] = [_endpoint(each) for each in told.endpoints]
    return answer


def _endpoint(told: EndpointTasks) -> Struct:
    def listed(places: tuple[tuple[str, tuple[int, ...]], ...]) -> list[Struct]:
        return [{"topic": topic, "partitions": list(indexes)} for topic, indexes in places]

    return {
        "user_endpoint": endpoint_row(told.endpoint),
        "active_partitions": listed(told.active),
        "standby_partitions": listed(told.standby),
    }


def endpoint_row(endpoint: Endpoint) -> Struct:
    return {"host": endpoint.host, "port": endpoint.port}
