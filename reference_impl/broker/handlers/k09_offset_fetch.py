"""OffsetFetch: what a group committed, by partition, or all of it.

Answered in any state of the group; nothing kept is offset -1 without an error (OFFS-21). Version 0
reads ZooKeeper, where nothing kept is UNKNOWN_TOPIC_OR_PARTITION (OFFS-02).

v2 all partitions, one error for all (KIP-88); v5 leader epochs (KIP-320); v7 only stable offsets
(KIP-447: not those that an open transaction may replace); v8 many groups (KIP-709); v9 members
(KIP-848: a consumer group looks at their epoch, a classic one does not); v10 topic ids.

Sources: OFFS-02, OFFS-04, OFFS-21; observed on all five releases.
"""

from __future__ import annotations

from typing import Any

from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.offset_commits import OffsetCommits
from touchstone.reference_impl.broker.effects import NEVER, Request, Wait
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.group import member_epochs
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

FIRST_ONE_ERROR, FIRST_BATCHED, FIRST_WITH_MEMBER, FIRST_BY_ID = 2, 8, 9, 10
NO_OFFSET = -1
OffsetsByPartition = dict[tuple[str, int], Any]  # Stored, or None for one that is not stable
_NOTHING = object()


def handle(
    request: Request,
    groups: Groups,
    commits: OffsetCommits,
    cluster: Cluster,
    persona: Persona,
    now: int,
) -> Struct | Wait:
    body, version = request.body, request.header.version
    groups.forget_deleted()
    if version >= FIRST_BATCHED:
        if not body["groups"] and persona.quirk("offsets.no-groups-never-answered"):
            return Wait(NEVER, (), lambda _: None, lambda _: None)
        stable = body["require_stable"]
        wholes: dict[tuple[str, str | None, int], Struct] = {}  # a group may be named many times
        rows = []
        for asked in body["groups"]:
            who = asked["group_id"], asked["member_id"], asked["member_epoch"]
            row = wholes.get(who) if asked["topics"] is None else None
            if row is None:
                row = _batched(groups, commits, cluster, persona, asked, version, stable)
                if asked["topics"] is None:
                    wholes[who] = row
            rows.append(row)
        return {"groups": rows}
    if version == 0:
        if not persona.quirk("offsets.in-zookeeper"):
            return fail(request, ErrorCode.UNSUPPORTED_VERSION)
        return {"topics": _from_zookeeper(request, commits, cluster)}
    stable, whole = body["require_stable"], body["topics"] is None
    code, offsets = _offsets(groups, body["group_id"], stable=stable, whole=whole)
    if code:
        return fail(request, code)
    return {
        "error_code": code,
        "topics": _topics(commits, cluster, persona, body["topics"], offsets, version),
    }


def fail(request: Request, code: int) -> Struct:
    """The error once for all from v2 on, before in each partition."""
    body, version = request.body, request.header.version
    if version >= FIRST_BATCHED:
        rows = [
            {"group_id": asked["group_id"], "topics": [], "error_code": code}
            for asked in body["groups"]
        ]
        return {"groups": rows}
    topics = []
    if version < FIRST_ONE_ERROR:
        topics = [
            {
                "name": topic["name"],
                "partitions": [_nothing(index, code) for index in topic["partition_indexes"]],
            }
            for topic in body["topics"]
        ]
    return {"topics": topics, "error_code": code}


def _offsets(
    groups: Groups, group_id: str, *, stable: bool, whole: bool
) -> tuple[int, OffsetsByPartition]:
    """(why not, offsets by partition; None for one that is not stable if only those count).

    Who asks for the whole of them is not told of partitions that only an open transaction has.
    """
    code = groups.refusal(group_id, member=False)
    group = None if code else groups.coordinator.groups.get(group_id)
    if group is None:
        return code, {}
    if not stable or not group.unstable:
        return code, group.offsets
    pending = {
        key: None
        for kept in group.unstable.values()
        for key in kept
        if not whole or key in group.offsets
    }
    return code, {**group.offsets, **pending}


def _batched(
    groups: Groups,
    commits: OffsetCommits,
    cluster: Cluster,
    persona: Persona,
    asked: Struct,
    version: int,
    stable: bool,
) -> Struct:
    whole = asked["topics"] is None
    code, offsets = _offsets(groups, asked["group_id"], stable=stable, whole=whole)
    group = groups.coordinator.groups.get(asked["group_id"])
    if not code and version >= FIRST_WITH_MEMBER and group is not None:
        code = member_epochs.check_fetch(group, asked["member_id"], asked["member_epoch"])
    topics = [] if code else _topics(commits, cluster, persona, asked["topics"], offsets, version)
    return {"group_id": asked["group_id"], "error_code": code, "topics": topics}


def _topics(
    commits: OffsetCommits,
    cluster: Cluster,
    persona: Persona,
    asked: list[Struct] | None,
    offsets: OffsetsByPartition,
    version: int,
) -> list[Struct]:
    by_id = version >= FIRST_BY_ID
    if asked is None:
        names: dict[str, list[int]] = {}
        for name, index in offsets:
            names.setdefault(name, []).append(index)
        asked = [
            {"name": name, "topic_id": cluster.topics[name].id, "partition_indexes": rows}
            for name, rows in names.items()
        ]
    once = persona.quirk("offsets.partitions-are-answered-once")
    topics = []
    for row in asked:
        topic = cluster.by_id.get(row["topic_id"]) if by_id else None
        name = topic.name if topic is not None else row["name"]
        if by_id and topic is None:
            unknown = ErrorCode.UNKNOWN_TOPIC_ID
            partitions = [_nothing(index, unknown) for index in row["partition_indexes"]]
        else:
            indexes = commits.named(row["partition_indexes"])
            partitions = [_row(offsets, name, index) for index in indexes]
        if once and not partitions:
            continue
        answer = {"name": name, "partitions": partitions}
        topics.append(answer | {"topic_id": row["topic_id"]} if by_id else answer)
    return topics


def _row(offsets: OffsetsByPartition, name: str, index: int) -> Struct:
    stored = offsets.get((name, index), _NOTHING)
    if stored is None:
        return _nothing(index, ErrorCode.UNSTABLE_OFFSET_COMMIT)
    if stored is _NOTHING:
        return _nothing(index, ErrorCode.NONE)
    return {
        "partition_index": index,
        "committed_offset": stored.offset,
        "committed_leader_epoch": stored.leader_epoch,
        "metadata": stored.metadata,
        "error_code": ErrorCode.NONE,
    }


def _nothing(index: int, code: int) -> Struct:
    return {
        "partition_index": index,
        "committed_offset": NO_OFFSET,
        "metadata": "",
        "error_code": code,
    }


def _from_zookeeper(request: Request, commits: OffsetCommits, cluster: Cluster) -> list[Struct]:
    kept = commits.in_zookeeper(request.body["group_id"])
    known = bool(request.body["group_id"])  # else there is no such path
    missing = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if known else ErrorCode.UNKNOWN_SERVER_ERROR
    topics = []
    for asked in request.body["topics"]:
        name, rows = asked["name"], []
        for index in asked["partition_indexes"]:
            if cluster.topics.get(name) is not None and (name, index) in kept:
                rows.append({**_row(kept, name, index), "metadata": ""})
            else:
                rows.append(_nothing(index, missing))
        topics.append({"name": name, "partitions": rows})
    return topics
