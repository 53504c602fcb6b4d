"""ShareGroupHeartbeat: joins, goes on, leaves, and tells which partitions to read (KIP-932).

Sources: share/membership.py; observed on 4.3.1.
"""

from __future__ import annotations

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.coordinators.group_answers import (
    heartbeat_answer,
    heartbeat_refusal,
)
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.share_groups import ShareGroups
from touchstone.reference_impl.broker.effects import Request, Wait, waiting
from touchstone.reference_impl.share.membership import Beat, HeartbeatResult, check
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, groups: Groups, shares: ShareGroups, now: int) -> Struct | Wait:
    if not shares.enabled():
        return fail(request, ErrorCode.UNSUPPORTED_VERSION)
    beat = _beat(request)
    try:
        check(beat)
    except ApiError as refused:
        return _refused(refused)
    code = groups.refusal(beat.group_id, member=False)
    if code:
        return fail(request, code)
    ticket: Ticket[Struct] = Ticket()

    def then(told: HeartbeatResult | ApiError, at: int) -> None:
        ticket.give(_refused(told) if isinstance(told, ApiError) else _answer(shares, beat, told))

    shares.heartbeat(beat, now, then)
    return waiting(ticket, lambda answer: answer)


def fail(request: Request, code: int) -> Struct:
    return heartbeat_refusal(code)


def _refused(refused: ApiError) -> Struct:
    return heartbeat_refusal(refused.code, refused.message or None)


def _answer(shares: ShareGroups, beat: Beat, told: HeartbeatResult) -> Struct:
    interval = shares.heartbeat_interval(beat.group_id)
    return heartbeat_answer(beat.member_id, told.epoch, interval, told.assignment)


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
