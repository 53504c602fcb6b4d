"""Consumer groups as records of `__consumer_offsets`: what each change writes, and back.

A record per group epoch, per target, per member's subscription, target and current assignment, and
per regular expression; a tombstone for each that went. The functions that write take what changed
and give entries (type, key, value), so that an operation's records are one list in Kafka's order.
Loading brings groups to what the records say and begins every session anew.

Sources: KIP-848, KIP-1101; GroupCoordinatorRecordHelpers, GroupMetadataManager.replay@4.3.1;
compared with the records that 4.3.1 wrote for the same heartbeats.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from touchstone.reference_impl.group.consumer_group import (
    Classic,
    ConsumerGroup,
    ConsumerMember,
    Entry,
    MemberState,
    RegexResolution,
    TopicIdPartition,
    View,
)
from touchstone.reference_impl.group.java_maps import java_order, timeline_order
from touchstone.reference_impl.group.xxh3 import group_hash, topic_hash
from touchstone.reference_impl.wire import embedded
from touchstone.reference_impl.wire.embedded.consumer_group_records import RECORDS
from touchstone.reference_impl.wire.schema import Struct

EPOCH, TOPICS, MEMBER, TARGET_EPOCH, TARGET, CURRENT, REGEX = 3, 4, 5, 6, 7, 8, 16
_STATES = {MemberState.STABLE: 0, MemberState.UNREVOKED: 1, MemberState.UNRELEASED: 2}
_BY_NUMBER = {number: state for state, number in _STATES.items()}


def epoch(group: ConsumerGroup) -> Entry:
    hashed = 0 if group.rules.keeps_topics else group.hash
    return EPOCH, _of(group), {"epoch": group.epoch, "metadata_hash": hashed}


def topics(group: ConsumerGroup, view: View) -> Entry:
    """The topics that the group subscribes to, as they are now (before KIP-1101)."""
    rows = [
        {
            "topic_id": view.topics[name].id,
            "topic_name": name,
            "num_partitions": view.topics[name].partitions,
            "partition_metadata": [
                {"partition": index, "racks": java_order(set(racks))}
                for index, racks in enumerate(view.topics[name].racks)
                if racks
            ],
        }
        for name in java_order(group.subscribed() & view.topics.keys())
    ]
    return TOPICS, _of(group), {"topics": rows}


def member(group: ConsumerGroup, one: ConsumerMember) -> Entry:
    classic = one.classic and {
        "session_timeout_ms": one.classic.session_timeout,
        "supported_protocols": [
            {"name": name, "metadata": data} for name, data in one.classic.protocols
        ],
    }
    value = {
        "instance_id": one.instance_id,
        "rack_id": one.rack_id,
        "client_id": one.client_id,
        "client_host": one.client_host,
        "subscribed_topic_names": sorted(one.names),
        "subscribed_topic_regex": one.regex,
        "rebalance_timeout_ms": one.rebalance_timeout,
        "server_assignor": one.assignor,
        "classic_member_metadata": classic,
    }
    return MEMBER, _of(group, one.id), value


def target_epoch(group: ConsumerGroup) -> Entry:
    value = {
        "assignment_epoch": group.assignment_epoch,
        "assignment_timestamp": 0 if group.rules.keeps_topics else group.assigned_at,
    }
    return TARGET_EPOCH, _of(group), value


def target(group: ConsumerGroup, member_id: str) -> Entry:
    rows = [
        {"topic_id": topic, "partitions": indexes}
        for topic, indexes in by_topic(group.target[member_id])
    ]
    return TARGET, _of(group, member_id), {"topic_partitions": rows}


def current(group: ConsumerGroup, one: ConsumerMember) -> Entry:
    value = {
        "member_epoch": one.epoch,
        "previous_member_epoch": one.previous_epoch,
        "state": _STATES[one.state],
        "assigned_partitions": _with_epochs(group, one.assigned),
        "partitions_pending_revocation": _with_epochs(group, one.revoking),
    }
    return CURRENT, _of(group, one.id), value


def regex(group: ConsumerGroup, text: str) -> Entry:
    found = group.resolved[text]
    value = {"topics": sorted(found.topics), "version": found.version, "timestamp": found.at}
    return REGEX, _of(group) | {"regular_expression": text}, value


def regex_gone(group: ConsumerGroup, text: str) -> Entry:
    return REGEX, _of(group) | {"regular_expression": text}, None


def member_gone(group: ConsumerGroup, member_id: str) -> list[Entry]:
    return [(kind, _of(group, member_id), None) for kind in (CURRENT, TARGET, MEMBER)]


def whole(group: ConsumerGroup) -> list[Entry]:
    """Everything there is of a group, as when a classic one becomes it."""
    ids = timeline_order(group.members)
    return [
        *(member(group, group.members[each]) for each in ids),
        epoch(group),
        *(target(group, each) for each in ids),
        target_epoch(group),
        *(current(group, group.members[each]) for each in ids),
    ]


def group_tombstones(group: ConsumerGroup, members: Iterable[str] | None = None) -> list[Entry]:
    """Tombstones for all that is kept of a group."""
    ids = timeline_order(group.members) if members is None else list(members)
    return [
        *((CURRENT, _of(group, each), None) for each in ids),
        *((TARGET, _of(group, each), None) for each in ids),
        (TARGET_EPOCH, _of(group), None),
        *((MEMBER, _of(group, each), None) for each in ids),
        *(regex_gone(group, text) for text in timeline_order(group.resolved)),
        (TOPICS, _of(group), None),
        (EPOCH, _of(group), None),
    ]


def encoded(entry: Entry) -> tuple[bytes, bytes | None]:
    """Key and value as they stand in the log."""
    kind, key, value = entry
    data = None if value is None else embedded.encode_value(RECORDS, kind, 0, value)
    return embedded.encode_key(RECORDS, kind, key), data


def by_topic(places: Iterable[TopicIdPartition]) -> list[tuple[bytes, list[int]]]:
    """Partitions by topic, in the order of Java's map; the partitions of a set in their own."""
    topics: dict[bytes, list[int]] = {}
    for topic, index in sorted(places) if isinstance(places, Set) else places:
        topics.setdefault(topic, []).append(index)
    return [(topic, topics[topic]) for topic in java_order(topics)]


def replay(group: ConsumerGroup, kind: int, key: Struct, value: Struct | None) -> bool:
    """Bring the group up to this record; whether it is still there."""
    member_id = key.get("member_id", "")
    if kind == EPOCH:
        if value is None:
            return False
        group.epoch, group.hash = value["epoch"], value.get("metadata_hash", 0)
    elif kind == TOPICS:
        group.topics = 0 if value is None else group_hash(_hashes(value["topics"]))
    elif kind == TARGET_EPOCH:
        group.assignment_epoch = -1 if value is None else value["assignment_epoch"]
        group.assigned_at = 0 if value is None else value.get("assignment_timestamp", 0)
    elif kind == TARGET:
        if value is None:
            group.target.pop(member_id, None)
        else:
            group.target[member_id] = frozenset(_places(value["topic_partitions"]))
    elif kind == REGEX:
        text = key["regular_expression"]
        if value is None:
            group.resolved.pop(text, None)
        else:
            topics = frozenset(value["topics"])
            group.resolved[text] = RegexResolution(topics, value["version"], value["timestamp"])
    elif kind == MEMBER:
        _replay_member(group, member_id, value)
    elif kind == CURRENT:
        _replay_current(group, member_id, value)
    return True


def _of(group: ConsumerGroup, member_id: str | None = None) -> Struct:
    key = {"group_id": group.id}
    return key if member_id is None else key | {"member_id": member_id}


def _with_epochs(group: ConsumerGroup, held: dict[TopicIdPartition, int]) -> list[Struct]:
    told = not group.rules.keeps_topics
    rows: list[Struct] = []
    for topic, indexes in by_topic(held):
        epochs = {"assignment_epochs": [held[topic, index] for index in indexes]} if told else {}
        rows.append({"topic_id": topic, "partitions": indexes} | epochs)
    return rows


def _places(rows: list[Struct]) -> list[TopicIdPartition]:
    return [(bytes(row["topic_id"]), index) for row in rows for index in row["partitions"]]


def _held(rows: list[Struct], otherwise: int) -> dict[TopicIdPartition, int]:
    held: dict[TopicIdPartition, int] = {}
    for row in rows:
        epochs = row.get("assignment_epochs") or [max(otherwise, 0)] * len(row["partitions"])
        for index, at in zip(row["partitions"], epochs, strict=True):
            held[bytes(row["topic_id"]), index] = at
    return held


def _hashes(rows: list[Struct]) -> dict[str, int]:
    """By topic the hash that the coordinator's view has of it (`topic_view.py`)."""
    found = {}
    for row in rows:
        racks: list[tuple[str, ...]] = [()] * row["num_partitions"]
        for one in row["partition_metadata"]:
            racks[one["partition"]] = tuple(sorted(one["racks"]))
        name = row["topic_name"]
        found[name] = topic_hash(name, bytes(row["topic_id"]), tuple(racks))
    return found


def _replay_member(group: ConsumerGroup, member_id: str, value: Struct | None) -> None:
    if value is None:
        if member_id in group.members:
            group.remove(group.members[member_id])
        return
    one = group.members.get(member_id) or ConsumerMember(member_id)
    classic = value.get("classic_member_metadata")
    one.instance_id, one.rack_id = value["instance_id"], value["rack_id"]
    one.client_id, one.client_host = value["client_id"], value["client_host"]
    one.names = frozenset(value["subscribed_topic_names"])
    one.regex = value["subscribed_topic_regex"] or ""
    one.rebalance_timeout, one.assignor = value["rebalance_timeout_ms"], value["server_assignor"]
    one.classic = classic and Classic(
        classic["session_timeout_ms"],
        tuple((row["name"], bytes(row["metadata"])) for row in classic["supported_protocols"]),
    )
    group.add(one)


def _replay_current(group: ConsumerGroup, member_id: str, value: Struct | None) -> None:
    one = group.members.get(member_id)
    if one is None:
        if value is None:
            return
        one = ConsumerMember(member_id)
        group.add(one)
    if value is None:
        one.epoch = one.previous_epoch = -1
        one.assigned, one.revoking = {}, {}
        return
    one.epoch, one.previous_epoch = value["member_epoch"], value["previous_member_epoch"]
    one.state = _BY_NUMBER[value["state"]]
    one.assigned = _held(value["assigned_partitions"], one.epoch)
    one.revoking = _held(value["partitions_pending_revocation"], one.epoch)
