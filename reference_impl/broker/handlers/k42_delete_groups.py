"""DeleteGroups: groups without members are removed with their offsets (KIP-229).

A share group goes once the share coordinator has forgotten it (KIP-932).

Sources: group/states.py; observed on the four releases that have it.
"""

from __future__ import annotations

from functools import partial

from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.share_groups import ShareGroups
from touchstone.reference_impl.broker.coordinators.share_offsets import ShareOffsets
from touchstone.reference_impl.broker.effects import Request, Wait, waiting
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(
    request: Request, groups: Groups, shares: ShareGroups, offsets: ShareOffsets, now: int
) -> Struct | Wait:
    asked = list(dict.fromkeys(request.body["groups_names"]))
    codes: dict[str, int] = {}
    ticket: Ticket[Struct] = Ticket()

    def told(group_id: str, code: int) -> None:
        codes[group_id] = code
        if len(codes) == len(asked):
            rows = [{"group_id": each, "error_code": codes[each]} for each in asked]
            ticket.give({"results": rows})

    for group_id in asked:
        code = groups.refusal(group_id, member=False)
        share_group = None if code else shares.groups.get(group_id)
        if share_group is None:
            told(group_id, code or _delete(groups, group_id, now))
        else:
            offsets.delete_group(share_group, now, partial(told, group_id))
    return waiting(ticket, lambda answer: answer) if asked else {"results": []}


def fail(request: Request, code: int) -> Struct:
    rows = [{"group_id": name, "error_code": code} for name in request.body["groups_names"]]
    return {"results": rows}


def _delete(groups: Groups, group_id: str, now: int) -> int:
    coordinator = groups.coordinator
    group = coordinator.groups.get(group_id)
    if group is not None and group.newer_members:
        return ErrorCode.NON_EMPTY_GROUP
    code = coordinator.delete(group_id)
    if group is not None and not code:
        groups.log.forget(group, now)
    return code
