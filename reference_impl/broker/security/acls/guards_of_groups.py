"""Guards of groups, of their members and of what they committed.

Sources: KafkaApis@1.0.2, 2.2.1, 2.8.2, 3.9; observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from touchstone.reference_impl.broker import registry
from touchstone.reference_impl.broker.security.acls.guarding import (
    GROUP,
    TOPIC,
    TRANSACTIONAL_ID,
    Asked,
    Guard,
    NameOf,
    Rows,
    Serve,
    chain,
    cluster,
    left_out,
    named,
    of_field,
    of_topic,
    once_there,
    told_bits,
)
from touchstone.reference_impl.cluster.acls import Operation as Op
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

FIRST_BATCHED_FETCH = 8
FIRST_SHARE_COORDINATOR = 6
GROUP_KEY, TRANSACTION_KEY, SHARE_KEY = 0, 1, 2
_FOUND = {
    GROUP_KEY: Rows(GROUP, Op.DESCRIBE, "coordinator_keys", "coordinators", of_field(None)),
    TRANSACTION_KEY: Rows(
        TRANSACTIONAL_ID, Op.DESCRIBE, "coordinator_keys", "coordinators", of_field(None)
    ),
}
_FIRST_BATCHED_KEYS = 4


def find_coordinator(asked: Asked, serve: Serve) -> Any:
    kind = asked.body["key_type"]
    if kind == SHARE_KEY and asked.version >= FIRST_SHARE_COORDINATOR:
        return cluster(Op.CLUSTER_ACTION)(asked, serve)
    if kind not in _FOUND:
        return serve(asked)
    if asked.version >= _FIRST_BATCHED_KEYS:
        return _FOUND[kind](asked, serve)
    return named(_FOUND[kind].kind, Op.DESCRIBE, "key")(asked, serve)


def list_groups(asked: Asked, serve: Serve) -> Any:
    """All of them to whoever may describe the cluster; else those that may be described (KIP-231);
    before, none.
    """
    if not asked.persona.quirk("acls.groups-are-listed-one-by-one"):
        return cluster(Op.DESCRIBE)(asked, serve)
    return left_out(GROUP, Op.DESCRIBE, "groups", "group_id", unless=Op.DESCRIBE)(asked, serve)


# --- offsets of groups, and of share groups -----------------------------------------------------


def _uncommitted(row: Struct, code: int) -> Struct:
    partitions = [
        {"partition_index": index, "committed_offset": -1, "metadata": "", "error_code": code}
        for index in row["partition_indexes"]
    ]
    return {"name": row.get("name") or "", "partitions": partitions} | _id(row)


def _unshared(row: Struct, code: int) -> Struct:
    partitions = [
        {"partition_index": index, "start_offset": -1, "leader_epoch": 0, "error_code": code}
        for index in row["partitions"]
    ]
    return {"topic_name": row["topic_name"], "partitions": partitions}


def _id(row: Struct) -> Struct:
    return {"topic_id": row["topic_id"]} if "topic_id" in row else {}


class _OffsetsOf:
    """The offsets of groups: those of topics that may be described."""

    def __init__(self, field: str, name_of: NameOf, denied: Callable[[Struct, int], Struct]):
        """`field` names a topic in the answer, `name_of` in the request."""
        self._field, self._name_of, self._denied = field, name_of, denied

    def one(self, asked: Asked, serve: Serve) -> Any:
        """The group that is the whole request. Of v0 KRaft tells nothing, whatever is asked."""
        if not asked.version and not asked.persona.quirk("offsets.in-zookeeper"):
            return serve(asked)
        served = serve(asked.having(topics=self._seen(asked, asked.body)))
        return once_there(served, lambda body: self._told(asked, asked.body, body))

    def many(self, asked: Asked, serve: Serve) -> Any:
        """Many groups at once; a group that may not be described has no topics."""
        groups = asked.body["groups"]
        may = [asked.access.may(Op.DESCRIBE, GROUP, each["group_id"]) for each in groups]
        if groups and not any(may):
            return asked.refused(E.GROUP_AUTHORIZATION_FAILED)
        pairs = list(zip(groups, may, strict=True))
        left = [{**each, "topics": self._seen(asked, each)} for each, fine in pairs if fine]

        def form(body: Struct) -> Struct:
            rows = iter(body["groups"])
            told = [
                self._told(asked, each, next(rows)) if fine else _refused_group(asked, each)
                for each, fine in pairs
            ]
            return {**body, "groups": told}

        return once_there(serve(asked.having(groups=left)), form)

    def _may(self, asked: Asked, name: str | None) -> bool:
        return name is None or asked.access.topic(Op.DESCRIBE, name)

    def _seen(self, asked: Asked, group: Struct) -> list[Struct] | None:
        if group["topics"] is None:
            return None
        return [row for row in group["topics"] if self._may(asked, self._name_of(asked, row))]

    def _told(self, asked: Asked, group: Struct, row: Struct) -> Struct:
        if row.get("error_code"):
            return row
        if group["topics"] is None:
            kept = [each for each in row["topics"] if self._may(asked, each[self._field])]
            return {**row, "topics": kept}
        code = E.TOPIC_AUTHORIZATION_FAILED
        denied = [
            self._denied(each, code)
            for each in group["topics"]
            if not self._may(asked, self._name_of(asked, each))
        ]
        return {**row, "topics": [*row["topics"], *denied]}


def _refused_group(asked: Asked, group: Struct) -> Struct:
    alone = asked.having(groups=[group]).request
    return (registry.refusal(alone, E.GROUP_AUTHORIZATION_FAILED) or {})["groups"][0]


_COMMITTED = _OffsetsOf("name", of_topic(), _uncommitted)
_SHARED = _OffsetsOf("topic_name", of_field("topic_name"), _unshared)
_ONE_GROUP = chain(named(GROUP, Op.DESCRIBE, "group_id"), _COMMITTED.one)


def offset_fetch(asked: Asked, serve: Serve) -> Any:
    if asked.version >= FIRST_BATCHED_FETCH:
        return _COMMITTED.many(asked, serve)
    return _ONE_GROUP(asked, serve)


describe_share_offsets: Guard = _SHARED.many


def _undeleted(row: Struct, code: int) -> Struct:
    partitions = [
        {"partition_index": each["partition_index"], "error_code": code}
        for each in row["partitions"]
    ]
    return {"name": row["name"], "partitions": partitions}


offset_delete: Guard = Rows(
    TOPIC, Op.READ, "topics", "topics", of_field("name"), denied=_undeleted, empty=True
)


def _unaltered(row: Struct, code: int) -> Struct:
    partitions = [
        {"partition_index": each["partition_index"], "error_code": code}
        for each in row["partitions"]
    ]
    return {"topic_name": row["topic_name"], "partitions": partitions}


def _unforgotten(row: Struct, code: int) -> Struct:
    return {"topic_name": row["topic_name"], "error_code": code}


alter_share_offsets: Guard = Rows(
    TOPIC, Op.READ, "topics", "responses", of_field("topic_name"), denied=_unaltered, empty=True
)
delete_share_offsets: Guard = Rows(
    TOPIC, Op.READ, "topics", "responses", of_field("topic_name"), denied=_unforgotten, empty=True
)

# --- members ------------------------------------------------------------------------------------


def _subscribes(asked: Asked, serve: Serve) -> Any:
    names = asked.body["subscribed_topic_names"] or ()
    if all(asked.access.topic(Op.DESCRIBE, name) for name in names):
        return serve(asked)
    return asked.refused(E.TOPIC_AUTHORIZATION_FAILED)


member_heartbeat: Guard = chain(named(GROUP, Op.READ, "group_id"), _subscribes)


def _assigned(row: Struct) -> set[str]:
    return {
        each["topic_name"]
        for member in row.get("members", ())
        for place in ("assignment", "target_assignment")
        for each in member.get(place, {}).get("topic_partitions", ())
    }


def _of_topology(row: Struct) -> set[str]:
    names: set[str] = set()
    for one in (row.get("topology") or {}).get("subtopologies", ()):
        names |= {*one["source_topics"], *one["repartition_sink_topics"]}
        for kind in ("repartition_source_topics", "state_changelog_topics"):
            names |= {topic["name"] for topic in one[kind]}
    return names


def _whose_topics_are_seen(topics_of: Callable[[Struct], set[str]]) -> Guard:
    """A group one of whose topics may not be described is not described."""

    def guarded(asked: Asked, serve: Serve) -> Any:
        def shown(row: Struct) -> Struct:
            if all(asked.access.topic(Op.DESCRIBE, name) for name in topics_of(row)):
                return row
            alone = asked.having(group_ids=[row["group_id"]]).request
            body = registry.refusal(alone, E.TOPIC_AUTHORIZATION_FAILED)
            return (body or {})["groups"][0]

        def form(body: Struct) -> Struct:
            return {**body, "groups": [shown(row) for row in body["groups"]]}

        return once_there(serve(asked), form)

    return guarded


def _describe(topics_of: Callable[[Struct], set[str]]) -> Guard:
    return chain(
        told_bits(GROUP, "groups", "group_id", "authorized_operations"),
        Rows(GROUP, Op.DESCRIBE, "group_ids", "groups", of_field(None), first=True),
        _whose_topics_are_seen(topics_of),
    )


describe_members: Guard = _describe(_assigned)
describe_streams: Guard = _describe(_of_topology)
