"""DeleteShareGroupOffsets: a share group without members forgets where it was in topics.

Sources: broker/coordinators/share_offsets.py; KIP-932; observed on 4.3.1.
"""

from __future__ import annotations

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.share_groups import ShareGroups
from touchstone.reference_impl.broker.coordinators.share_offsets import (
    NOT_EMPTY,
    WORDS,
    ShareOffsets,
)
from touchstone.reference_impl.broker.data.share_partitions import UNHOSTED
from touchstone.reference_impl.broker.effects import Request, Wait, waiting
from touchstone.reference_impl.broker.replication.partitions import NO_TOPIC_ID
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.share.group import ShareGroup
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

NOTHING = "There is no offset information to delete."


def handle(
    request: Request,
    groups: Groups,
    shares: ShareGroups,
    offsets: ShareOffsets,
    cluster: Cluster,
    now: int,
) -> Struct | Wait:
    if not shares.enabled():
        return fail(request, E.UNSUPPORTED_VERSION)
    group_id = request.body["group_id"]
    if not group_id:
        return fail(request, E.INVALID_GROUP_ID)
    code = groups.refusal(group_id, member=False)
    if code:
        return fail(request, code)
    try:
        group = shares.share_group(group_id)
    except ApiError as refused:
        return fail(request, refused.code) | {"error_message": refused.message}
    if group.members:
        answer = fail(request, E.NON_EMPTY_GROUP)
        return answer | {"error_message": NOT_EMPTY}
    topics, unfit = _sorted_out(request, cluster, group)
    ticket: Ticket[Struct] = Ticket()

    def done(codes: dict[bytes, int], at: int) -> None:
        rows = [_row(topics[each], each, code, None) for each, code in codes.items()]
        ticket.give({"error_code": E.NONE, "error_message": None, "responses": rows + unfit})

    offsets.delete(group, topics, now, done)
    return waiting(ticket, lambda answer: answer)


def fail(request: Request, code: int) -> Struct:
    return {"error_code": code, "error_message": WORDS.get(E(code)), "responses": []}


def _sorted_out(
    request: Request, cluster: Cluster, group: ShareGroup
) -> tuple[dict[bytes, str], list[Struct]]:
    """(topics the group has anything of, rows of the others)."""
    topics: dict[bytes, str] = {}
    refused = []
    for row in request.body["topics"]:
        name = row["topic_name"]
        topic = cluster.topics.get(name)
        if topic is not None and (topic.id in group.initialised or topic.id in group.deleting):
            topics[topic.id] = name
            continue
        words = UNHOSTED if topic is None else NOTHING
        refused.append(_row(name, NO_TOPIC_ID, E.UNKNOWN_TOPIC_OR_PARTITION, words))
    return topics, refused


def _row(name: str, topic_id: bytes, code: int, message: str | None) -> Struct:
    return {
        "topic_name": name,
        "topic_id": topic_id,
        "error_code": code,
        "error_message": message,
    }
