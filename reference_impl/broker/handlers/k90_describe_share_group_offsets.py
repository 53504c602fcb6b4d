"""DescribeShareGroupOffsets: where share groups begin to read, and how far behind they are.

Without topics all that the group's coordinator knows of. v1 adds the lag (KIP-1226).

Sources: broker/coordinators/share_offsets.py; KIP-932; observed on 4.3.1.
"""

from __future__ import annotations

from typing import Any

from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.share_groups import ShareGroups
from touchstone.reference_impl.broker.coordinators.share_offsets import (
    Answers,
    ShareOffsets,
)
from touchstone.reference_impl.broker.coordinators.share_persister import Answer
from touchstone.reference_impl.broker.effects import Request, Wait, waiting
from touchstone.reference_impl.broker.replication.partitions import NO_TOPIC_ID
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.share.group import TopicIdPartition
from touchstone.reference_impl.share.state_batches import NO_OFFSET
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

_UNKNOWN = -1


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
    asked = request.body["groups"]
    ticket: Ticket[Struct] = Ticket()
    rows: dict[int, Struct] = {}
    if not asked:
        return {"groups": []}

    def told(number: int, row: Struct) -> None:
        rows[number] = row
        if len(rows) == len(asked):
            ticket.give({"groups": [rows[each] for each in sorted(rows)]})

    for number, group in enumerate(asked):
        _describe(
            groups,
            shares,
            offsets,
            cluster,
            group,
            now,
            lambda row, number=number: told(number, row),
        )
    return waiting(ticket, lambda answer: answer)


def fail(request: Request, code: int) -> Struct:
    return {"groups": [_row(group["group_id"], code) for group in request.body["groups"]]}


def _describe(
    groups: Groups,
    shares: ShareGroups,
    offsets: ShareOffsets,
    cluster: Cluster,
    asked: Struct,
    now: int,
    then: Any,
) -> None:
    group_id, topics = asked["group_id"], asked["topics"]
    missing: list[Struct] = []
    if topics is None:
        code = groups.refusal(group_id, member=False)
        if code:
            then(_row(group_id, code))
            return
        group = shares.groups.get(group_id)
        known = group.initialised.items() if group else ()
        places = [
            (topic_id, index)
            for topic_id, row in known
            for index in sorted(row.partitions)
            if topic_id in cluster.by_id
        ]
    else:
        places = []
        for topic in topics:
            found = cluster.topics.get(topic["topic_name"])
            if found is None:
                missing.append(_missing(topic))
            else:
                places += [(found.id, index) for index in topic["partitions"]]
    _summarise(offsets, cluster, group_id, places, missing, now, then)


def _summarise(
    offsets: ShareOffsets,
    cluster: Cluster,
    group_id: str,
    places: list[TopicIdPartition],
    missing: list[Struct],
    now: int,
    then: Any,
) -> None:
    names = {topic_id: cluster.by_id[topic_id].name for topic_id, _ in places}  # when asked

    def summed(answers: Answers, at: int) -> None:
        wanted = {
            place: answer.kept
            for place, answer in answers.items()
            if not answer.code and answer.kept and _counts(answer.kept)
        }

        def measured(lags: dict[TopicIdPartition, tuple[int, int]], later: int) -> None:
            rows: dict[bytes, list[Struct]] = {}
            for place, answer in answers.items():
                row = _partition(place, answer, lags.get(place))
                rows.setdefault(place[0], []).append(row)
            topics = [
                {"topic_name": names[topic_id], "topic_id": topic_id, "partitions": parts}
                for topic_id, parts in rows.items()
            ]
            then(_row(group_id, E.NONE, topics + missing))

        offsets.lags(wanted, at, measured)

    offsets.summaries(group_id, places, now, summed)


def _counts(kept: Any) -> bool:
    return NO_OFFSET not in (kept.start, kept.done)


def _partition(place: TopicIdPartition, answer: Answer, lag: tuple[int, int] | None) -> Struct:
    kept = None if answer.code else answer.kept
    row = {
        "partition_index": place[1],
        "start_offset": kept.start if kept else NO_OFFSET,
        "leader_epoch": kept.leader_epoch if kept else 0,
        "lag": _UNKNOWN,
        "error_code": E.NONE,
        "error_message": None,
    }
    if lag is None:
        return row
    code, behind = lag
    if code:
        return row | {"start_offset": 0, "leader_epoch": 0, "error_code": code}
    return row | {"lag": behind}


def _missing(topic: Struct) -> Struct:
    return {
        "topic_name": topic["topic_name"],
        "topic_id": NO_TOPIC_ID,
        "partitions": [
            {"partition_index": index, "start_offset": NO_OFFSET} for index in topic["partitions"]
        ],
    }


def _row(group_id: str, code: int, topics: list[Struct] | None = None) -> Struct:
    return {
        "group_id": group_id,
        "topics": topics or [],
        "error_code": code,
        "error_message": None,
    }
