"""AlterShareGroupOffsets: where a share group without members shall begin to read.

Sources: broker/coordinators/share_offsets.py; KIP-932; observed on 4.3.1.
"""

from __future__ import annotations

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.share_groups import ShareGroups
from touchstone.reference_impl.broker.coordinators.share_offsets import WORDS, Answers, ShareOffsets
from touchstone.reference_impl.broker.coordinators.share_persister import Answer
from touchstone.reference_impl.broker.data.share_partitions import UNHOSTED
from touchstone.reference_impl.broker.effects import Request, Wait, waiting
from touchstone.reference_impl.broker.replication.partitions import NO_TOPIC_ID
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct


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
    body = request.body
    group_id, known = body["group_id"], cluster.topics
    if not group_id:
        return fail(request, E.INVALID_GROUP_ID)
    code = groups.refusal(group_id, member=False)
    if code:
        return fail(request, code)
    wanted = {
        (known[topic["topic_name"]].id, row["partition_index"]): row["start_offset"]
        for topic in body["topics"]
        if topic["topic_name"] in known
        for row in topic["partitions"]
        if row["partition_index"] < len(known[topic["topic_name"]].partitions)
    }
    ticket: Ticket[Struct] = Ticket()

    def done(answers: Answers, at: int) -> None:
        ticket.give(_answer(request, cluster, answers))

    try:
        offsets.alter(group_id, wanted, now, done, names=bool(body["topics"]))
    except ApiError as refused:
        return fail(request, refused.code) | {"error_message": refused.message}
    if any(index < 0 for _, index in wanted):  # observed on 4.3.1: the whole request fails
        return fail(request, E.UNKNOWN_SERVER_ERROR)
    return waiting(ticket, lambda answer: answer)


def fail(request: Request, code: int) -> Struct:
    return {"error_code": code, "error_message": WORDS.get(E(code)), "responses": []}


def _answer(request: Request, cluster: Cluster, answers: Answers) -> Struct:
    known = cluster.topics
    topics = sorted(request.body["topics"], key=lambda topic: topic["topic_name"] in known)
    rows = []
    for topic in topics:
        found = known.get(topic["topic_name"])
        topic_id = found.id if found else NO_TOPIC_ID
        parts = [_row(answers, topic_id, row["partition_index"]) for row in topic["partitions"]]
        name = topic["topic_name"]
        rows.append({"topic_name": name, "topic_id": topic_id, "partitions": parts})
    return {"error_code": E.NONE, "error_message": None, "responses": rows}


def _row(answers: Answers, topic_id: bytes, index: int) -> Struct:
    answer = answers.get((topic_id, index))
    if answer is None:
        answer = Answer(E.UNKNOWN_TOPIC_OR_PARTITION, UNHOSTED)
    return {
        "partition_index": index, "error_code": answer.code, "error_message": answer.message
    }  # fmt: skip
