"""ConsumerGroupHeartbeat: joins, reports, leaves, and tells what to own (KIP-848).

v1 regular expressions, and member ids that the client makes.

Sources: KIP-848; group/consumer_coordinator.py; observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.coordinators.consumer_groups import ASSIGNORS, ConsumerGroups
from touchstone.reference_impl.broker.coordinators.group_answers import (
    heartbeat_answer,
    heartbeat_refusal,
)
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.effects import Request, Wait, waiting
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.acls import Operation
from touchstone.reference_impl.group.heartbeat import Beat, HeartbeatResult, check
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

FIRST_CLIENT_IDS = 1


def handle(
    request: Request, groups: Groups, consumers: ConsumerGroups, persona: Persona, now: int
) -> Struct | Wait:
    if not (persona.quirk("groups.consumer-protocol-is-on") and groups.serves("consumer")):
        return fail(request, ErrorCode.UNSUPPORTED_VERSION)
    given = request.header.version < FIRST_CLIENT_IDS
    beat = _beat(request)

    def form(code: int, told: HeartbeatResult | str | None) -> Struct:
        if code or not isinstance(told, HeartbeatResult):
            return fail(request, code)
        interval = consumers.heartbeat_interval(beat.group_id)
        return heartbeat_answer(told.member_id, told.epoch, interval, told.assignment)

    try:
        check(beat, ASSIGNORS, consumers.rules, ids_are_given=given)
        code = groups.refusal(beat.group_id, member=True)
        if code:
            return fail(request, code)
        if not beat.member_id:
            beat = replace(beat, member_id=consumers.new_id())
        return waiting(consumers.heartbeat(beat, form, now), dict)
    except ApiError as refused:
        return heartbeat_refusal(refused.code, refused.message)


def fail(request: Request, code: int) -> Struct:
    return heartbeat_refusal(code)


def _sees(request: Request) -> Callable[[str], bool] | None:
    """Which topics a regular expression of this peer matches (KIP-848)."""
    access = request.access
    return None if access is None else lambda name: access.topic(Operation.DESCRIBE, name)


def _beat(request: Request) -> Beat:
    body = request.body
    names, owned = body["subscribed_topic_names"], body["topic_partitions"]
    return Beat(
        group_id=body["group_id"],
        member_id=body["member_id"],
        epoch=body["member_epoch"],
        instance_id=body["instance_id"],
        rack_id=body["rack_id"],
        rebalance_timeout=body["rebalance_timeout_ms"],
        names=None if names is None else frozenset(names),
        regex=body["subscribed_topic_regex"],
        assignor=body["server_assignor"],
        owned=None
        if owned is None
        else frozenset(
            (bytes(row["topic_id"]), index) for row in owned for index in row["partitions"]
        ),
        rows=len(owned or ()),
        client_id=request.header.client_id or "",
        client_host="/" + request.connection.peer_host,
        sees=_sees(request),
    )
