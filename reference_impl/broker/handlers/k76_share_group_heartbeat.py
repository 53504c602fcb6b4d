"""ShareGroupHeartbeat: joins, goes on, leaves, and tells which partitions to read (KIP-932).

Sources: share/membership.py; observed on 4.3.1.
"""

from __future__ import annotations

from typing import Any

from reference_impl.broker.broker import Broker
from reference_impl.broker.effects import Request, Wait
from reference_impl.broker.groups import refusal, waiting
from reference_impl.broker.handlers.k68_consumer_group_heartbeat import topic_rows
from reference_impl.broker.share_groups import are_on, heartbeat, heartbeat_interval
from reference_impl.group.members import Ticket
from reference_impl.share.membership import Beat, Refused, Told, check
from reference_impl.wire.errors import ErrorCode


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any] | Wait:
    if not are_on(broker):
        return fail(request, ErrorCode.UNSUPPORTED_VERSION)
    beat = _beat(request)
    try:
        check(beat)
    except Refused as refused:
        return _refused(request, refused)
    code = refusal(broker, beat.group_id, member=False)
    if code:
        return fail(request, code)
    ticket = Ticket()

    def then(told: Told | Refused, at: int) -> None:
        refused = isinstance(told, Refused)
        ticket.give(_refused(request, told) if refused else _answer(broker, beat, told))

    heartbeat(broker, beat, now, then)
    return waiting(broker, ticket, lambda answer: answer)


def fail(request: Request, code: int) -> dict[str, Any]:
    return {
        "error_code": code,
        "error_message": None,
        "member_id": None,
        "member_epoch": 0,
        "heartbeat_interval_ms": 0,
        "assignment": None,
    }


def _refused(request: Request, refused: Refused) -> dict[str, Any]:
    return fail(request, refused.code) | {"error_message": refused.message or None}


def _answer(broker: Broker, beat: Beat, told: Told) -> dict[str, Any]:
    rows = None
    if told.assignment is not None:
        rows = {"topic_partitions": topic_rows(told.assignment)}
    return {
        "error_code": ErrorCode.NONE,
        "error_message": None,
        "member_id": beat.member_id,
        "member_epoch": told.epoch,
        "heartbeat_interval_ms": heartbeat_interval(broker, beat.group_id)
        if told.epoch >= 0
        else 0,
        "assignment": rows,
    }


def _beat(request: Request) -> Beat:
    body = request.body
    names = body["subscribed_topic_names"]
    return Beat(
        group_id=body["group_id"],
        member_id=body["member_id"],
        epoch=body["member_epoch"],
        rack_id=body["rack_id"],
        names=None if names is None else frozenset(names),
        client_id=request.header.client_id or "",
        client_host="/" + request.connection.peer_host,
    )
