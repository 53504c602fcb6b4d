"""DeleteGroups: groups without members are removed with their offsets (KIP-229).

A share group goes once the share coordinator has forgotten it (KIP-932).

Sources: group/states.py; observed on the four releases that have it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.share_groups import groups_of
from touchstone.reference_impl.broker.coordinators.share_offsets import delete_group
from touchstone.reference_impl.broker.effects import Request, Wait, waiting
from touchstone.reference_impl.group.members import Ticket
from touchstone.reference_impl.wire.errors import ErrorCode


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any] | Wait:
    asked = list(dict.fromkeys(request.body["groups_names"]))
    codes: dict[str, int] = {}
    ticket = Ticket()

    def told(group_id: str, code: int) -> None:
        codes[group_id] = code
        if len(codes) == len(asked):
            rows = [{"group_id": each, "error_code": codes[each]} for each in asked]
            ticket.give({"results": rows})

    for group_id in asked:
        code = broker.room(Groups).refusal(group_id, member=False)
        shares = None if code else groups_of(broker).get(group_id)
        if shares is None:
            told(group_id, code or _delete(broker, group_id, now))
        else:
            delete_group(broker, shares, now, partial(told, group_id))
    return waiting(ticket, lambda answer: answer) if asked else {"results": []}


def fail(request: Request, code: int) -> dict[str, Any]:
    rows = [{"group_id": name, "error_code": code} for name in request.body["groups_names"]]
    return {"results": rows}


def _delete(broker: Broker, group_id: str, now: int) -> int:
    coordinator = broker.room(Groups).coordinator
    group = coordinator.groups.get(group_id)
    if group is not None and group.consumer_group is not None and group.consumer_group.members:
        return ErrorCode.NON_EMPTY_GROUP
    code = coordinator.delete(group_id)
    if group is not None and not code:
        broker.room(Groups).log.forget(group, now)
    return code
