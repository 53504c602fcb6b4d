"""DeleteShareGroupOffsets: a share group without members forgets where it was in topics.

Sources: broker/coordinators/share_offsets.py; KIP-932; observed on 4.3.1.
"""

from __future__ import annotations

from typing import Any

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.coordinators import share_offsets
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.share_groups import (
    share_group,
    share_groups_enabled,
)
from touchstone.reference_impl.broker.data.share_partitions import UNHOSTED
from touchstone.reference_impl.broker.effects import Request, Wait, waiting
from touchstone.reference_impl.broker.replication.partitions import NO_TOPIC_ID
from touchstone.reference_impl.group.members import Ticket
from touchstone.reference_impl.share.group import ShareGroup
from touchstone.reference_impl.wire.errors import ErrorCode as E

NOTHING = "There is no offset information to delete."


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any] | Wait:
    if not share_groups_enabled(broker):
        return fail(request, E.UNSUPPORTED_VERSION)
    group_id = request.body["group_id"]
    if not group_id:
        return fail(request, E.INVALID_GROUP_ID)
    code = broker.room(Groups).refusal(group_id, member=False)
    if code:
        return fail(request, code)
    try:
        group = share_group(broker, group_id)
    except ApiError as refused:
        return fail(request, refused.code) | {"error_message": refused.message}
    if group.members:
        answer = fail(request, E.NON_EMPTY_GROUP)
        return answer | {"error_message": share_offsets.NOT_EMPTY}
    topics, refused = _sorted_out(request, broker, group)
    ticket = Ticket()

    def done(codes: dict[bytes, int], at: int) -> None:
        rows = [_row(topics[each], each, code, None) for each, code in codes.items()]
        ticket.give({"error_code": E.NONE, "error_message": None, "responses": rows + refused})

    share_offsets.delete(broker, group, topics, now, done)
    return waiting(ticket, lambda answer: answer)


def fail(request: Request, code: int) -> dict[str, Any]:
    return {"error_code": code, "error_message": share_offsets.WORDS.get(code), "responses": []}


def _sorted_out(
    request: Request, broker: Broker, group: ShareGroup
) -> tuple[dict[bytes, str], list[dict[str, Any]]]:
    """(topics the group has anything of, rows of the others)."""
    topics: dict[bytes, str] = {}
    refused = []
    for row in request.body["topics"]:
        name = row["topic_name"]
        topic = broker.cluster.topics.get(name)
        if topic is not None and (topic.id in group.initialised or topic.id in group.deleting):
            topics[topic.id] = name
            continue
        words = UNHOSTED if topic is None else NOTHING
        refused.append(_row(name, NO_TOPIC_ID, E.UNKNOWN_TOPIC_OR_PARTITION, words))
    return topics, refused


def _row(name: str, topic_id: bytes, code: int, message: str | None) -> dict[str, Any]:
    return {
        "topic_name": name,
        "topic_id": topic_id,
        "error_code": code,
        "error_message": message,
    }
