"""OffsetCommit: a group's offsets are kept, if whoever commits may.

Partitions that are not there are answered at once and the rest goes on (OFFS-03). Version 0 keeps
offsets in ZooKeeper, apart from the coordinator's and without asking it (OFFS-01).

v1 group members; v2 to v4 a retention for all; v6 leader epochs (KIP-320); v7 instance ids
(KIP-345); v9 GROUP_ID_NOT_FOUND (KIP-848); v10 topic ids.

Sources: OFFS-01 to 17; group/coordinator.py, group/offsets.py; observed on all five releases.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.offset_commits import OffsetCommits
from touchstone.reference_impl.broker.coordinators.share_groups import ShareGroups
from touchstone.reference_impl.broker.effects import Request, Wait, waiting
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.topology import Cluster, Topic
from touchstone.reference_impl.group import member_epochs
from touchstone.reference_impl.group.member_epochs import Place
from touchstone.reference_impl.group.members import Group
from touchstone.reference_impl.group.offsets import CommittedOffset
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

FIRST_BY_ID, FIRST_NOT_FOUND = 10, 9
_NONE = int(ErrorCode.NONE)
OffsetsByPartition = dict[tuple[str, int], CommittedOffset]
# Per topic: what was asked, the topic if any of it is there, an answer per partition.
Rows = list[tuple[Struct, Topic | None, list[Struct]]]


def handle(
    request: Request,
    groups: Groups,
    shares: ShareGroups,
    commits: OffsetCommits,
    cluster: Cluster,
    persona: Persona,
    now: int,
) -> Struct | Wait:
    rows = _located(request, commits, cluster, persona)
    taken: Group | int = ErrorCode.NONE
    offsets: OffsetsByPartition = {}
    if any(topic is not None for _, topic, _ in rows):
        taken = _admitted(request, groups, shares, commits, cluster, persona, now)
        if taken is ErrorCode.UNSUPPORTED_VERSION:
            return fail(request, taken)
        if isinstance(taken, Group) or not taken:
            offsets = _offsets(request, commits, rows, now)
        else:
            _refuse(rows, taken)
    whole: Ticket[Struct] = Ticket()
    if isinstance(taken, Group) and offsets:
        _append(groups, taken, offsets, rows, whole, now)
    else:
        if offsets:
            commits.in_zookeeper(request.body["group_id"]).update(offsets)
        whole.give({})
    return waiting(whole, lambda _: _answer(rows))


def _answer(rows: Rows) -> Struct:
    return {
        "topics": [
            {"name": row["name"], "topic_id": row["topic_id"], "partitions": answers}
            for row, _, answers in rows
        ]
    }


def fail(request: Request, code: int) -> Struct:
    rows = [
        {
            "name": topic["name"],
            "topic_id": topic["topic_id"],
            "partitions": [
                {"partition_index": row["partition_index"], "error_code": code}
                for row in topic["partitions"]
            ],
        }
        for topic in request.body["topics"]
    ]
    return {"topics": rows}


def _located(request: Request, commits: OffsetCommits, cluster: Cluster, persona: Persona) -> Rows:
    rows = []
    by_id = request.header.version >= FIRST_BY_ID
    failed_first = persona.quirk("groups.newer-coordinator")
    topics = request.body["topics"]
    for asked in _each_once(topics) if persona.quirk("offset-commit.merges-topics") else topics:
        if by_id:
            topic = cluster.by_id.get(asked["topic_id"])
            missing = ErrorCode.UNKNOWN_TOPIC_ID if topic is None else None
        else:
            topic, missing = cluster.topics.get(asked["name"]), None
        indexes = commits.named([row["partition_index"] for row in asked["partitions"]])
        there = commits.present(topic, indexes)
        absent = missing or ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        answers = [
            {"partition_index": index, "error_code": _NONE if index in there else absent}
            for index in indexes
        ]
        if failed_first and len(there) < len(answers):
            answers.sort(key=lambda answer: not answer["error_code"])
        if answers:  # a topic without partitions is not answered
            rows.append((asked, topic if there else None, answers))
    return rows


def _each_once(topics: Sequence[Struct]) -> list[Struct]:
    """Each topic once, with the partitions of every time that it is named."""
    merged: dict[str, Struct] = {}
    for topic in topics:
        first = merged.setdefault(topic["name"], {**topic, "partitions": []})
        first["partitions"] += topic["partitions"]
    return list(merged.values())


def _admitted(
    request: Request,
    groups: Groups,
    shares: ShareGroups,
    commits: OffsetCommits,
    cluster: Cluster,
    persona: Persona,
    now: int,
) -> Group | int:
    """The group that takes the commit, or why none does."""
    body, version = request.body, request.header.version
    group_id, generation = body["group_id"], body["generation_id_or_member_epoch"]
    if version == 0:
        if not persona.quirk("offsets.in-zookeeper"):
            return ErrorCode.UNSUPPORTED_VERSION
        return ErrorCode.NONE if group_id else ErrorCode.UNKNOWN_SERVER_ERROR  # no such path
    code = groups.refusal(group_id, member=False)
    if code:
        return code
    if shares.is_shared(group_id):
        return ErrorCode.GROUP_ID_NOT_FOUND
    missing = ErrorCode.NONE
    if generation >= 0:
        newer = persona.quirk("groups.newer-coordinator") and version >= FIRST_NOT_FOUND
        missing = ErrorCode.GROUP_ID_NOT_FOUND if newer else ErrorCode.ILLEGAL_GENERATION
    group = commits.group_for(group_id, now, missing=missing)
    if not isinstance(group, Group):
        return group
    if group.newer_half is not None:
        return _admitted_by_members(request, cluster, group)
    code = groups.may_commit(group, body["member_id"], body["group_instance_id"], generation, now)
    return code or group


def _admitted_by_members(request: Request, cluster: Cluster, group: Group) -> Group | int:
    """The group looks at its member's epoch, which versions below 9 do not carry."""
    body, epoch = request.body, request.body["generation_id_or_member_epoch"]
    member_id = body["member_id"]
    old = request.header.version < FIRST_NOT_FOUND
    simple = epoch < 0 and not group.newer_members
    if old and not simple and member_epochs.speaks_newer(group, member_id):
        return ErrorCode.UNSUPPORTED_VERSION
    code = member_epochs.check_commit(group, member_id, epoch, _places(request, cluster))
    return code or group


def _places(request: Request, cluster: Cluster) -> set[Place]:
    places = set()
    for asked in request.body["topics"]:
        if request.header.version >= FIRST_BY_ID:
            topic = cluster.by_id.get(asked["topic_id"])
        else:
            topic = cluster.topics.get(asked["name"])
        if topic is not None:
            places |= {
                Place(topic.name, topic.id, row["partition_index"]) for row in asked["partitions"]
            }
    return places


def _append(
    groups: Groups,
    group: Group,
    offsets: OffsetsByPartition,
    rows: Rows,
    whole: Ticket[Struct],
    now: int,
) -> None:
    """Into the log, then into the cache, then into the answer (OFFS-17)."""

    def kept(code: int, at: int) -> None:
        if code:
            _refuse(rows, code, offsets)
        else:
            group.offsets.update(offsets)
        whole.give({})

    groups.log.keep_offsets(group.id, offsets, now, kept)


def _refuse(rows: Rows, code: int, only: Container[tuple[str, int]] | None = None) -> None:
    """This code for every partition that is there, or for those whose offsets are `only` these."""
    for _, topic, answers in rows:
        if topic is None:
            continue
        for answer in answers:
            if only is None:
                answer["error_code"] = answer["error_code"] or code
            elif (topic.name, answer["partition_index"]) in only:
                answer["error_code"] = code


def _offsets(request: Request, commits: OffsetCommits, rows: Rows, now: int) -> OffsetsByPartition:
    """What may be stored; each partition that may not has its code in its answer."""
    take = commits.taker(now, retention=request.body["retention_time_ms"])
    offsets: OffsetsByPartition = {}
    for asked, topic, answers in rows:
        if topic is None:
            continue
        name, by_index = topic.name, {row["partition_index"]: row for row in asked["partitions"]}
        for answer in answers:
            if answer["error_code"]:
                continue
            index = answer["partition_index"]
            row = by_index[index]
            kept = take(row, topic, row["commit_timestamp"])
            if type(kept) is CommittedOffset:
                offsets[name, index] = kept
            else:
                answer["error_code"] = kept
    return offsets
