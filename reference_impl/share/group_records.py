"""Share groups as records of `__consumer_offsets`, and back: six kinds, one key for each thing.

A change is written as the difference between what stood there and what stands there now, in Kafka's
order: members, the epoch, the target, where members are, and which share partitions are known to
the share coordinator. What is gone gets a tombstone.

Sources: GroupCoordinatorRecordHelpers@4.3.1; KIP-932.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy

from touchstone.reference_impl.share.group import (
    Initials,
    Member,
    ShareGroup,
    TopicIdPartition,
    TopicPartitions,
)
from touchstone.reference_impl.wire import embedded
from touchstone.reference_impl.wire.embedded.share_group_records import RECORDS
from touchstone.reference_impl.wire.interpreter import DecodeError
from touchstone.reference_impl.wire.records import batch, convert, entries
from touchstone.reference_impl.wire.schema import Struct

MEMBER, EPOCH, TARGET, TARGET_OF, CURRENT, PARTITIONS = 10, 11, 12, 13, 14, 15
_VERSION, _STABLE = 0, 0
Entry = tuple[int, str, str | None]  # kind, group, member
Stand = dict[Entry, Struct | None]


def stand(group: ShareGroup | None) -> Stand:
    """Everything that records say of a group, by what they are about."""
    if group is None:
        return {}
    members = group.members.values()
    rows: Stand = {(MEMBER, group.id, m.id): _subscription(m) for m in members}
    rows[EPOCH, group.id, None] = {"epoch": group.epoch, "metadata_hash": group.hash}
    rows |= {(TARGET_OF, group.id, m): _places(p) for m, p in group.target.items()}
    rows[TARGET, group.id, None] = {
        "assignment_epoch": group.assignment_epoch,
        "assignment_timestamp": group.assigned_at or 0,
    }
    rows |= {(CURRENT, group.id, m.id): _current(m) for m in members}
    rows[PARTITIONS, group.id, None] = {
        "initializing_topics": _initials(group.initialising),
        "initialized_topics": _initials(group.initialised),
        "deleting_topics": [
            {"topic_id": topic, "topic_name": name} for topic, name in group.deleting.items()
        ],
    }
    return rows


def difference(before: Stand, after: Stand, now: int) -> bytes | None:
    """A batch that leads from the one to the other, if there is anything to say."""
    gone = {entry: None for entry in reversed(before) if entry not in after}
    changed = {entry: row for entry, row in after.items() if before.get(entry) != row}
    pairs = [_pair(entry, row) for entry, row in (gone | changed).items()]
    if not pairs:
        return None
    records = [batch.Record(at, 0, key, value) for at, (key, value) in enumerate(pairs)]
    return batch.encode_batch(records, base_timestamp=now)


def read(records: bytes, groups: dict[str, ShareGroup], now: int) -> int | None:
    """Bring `groups` up to date with these record bytes; the offset after the last, if any.

    What is of other kinds is passed over.
    """
    after = None
    for position, _, magic in entries(records):
        after = batch.read_header(records, position).last_offset + 1
        _read_batch(records, position, magic, groups, now)
    return after


def _read_batch(
    records: bytes, position: int, magic: int, groups: dict[str, ShareGroup], now: int
) -> None:
    for kind, key, value in _entries(records, position, magic):
        group = groups.get(key["group_id"])
        if value is None:
            if group is not None:
                _FORGET[kind](group, key.get("member_id", ""))
                if kind == EPOCH:
                    del groups[group.id]
            continue
        if group is None:
            group = groups[key["group_id"]] = ShareGroup(key["group_id"])
        _TAKE[kind](group, key.get("member_id", ""), value, now)


def _entries(
    records: bytes, position: int, magic: int
) -> Iterator[tuple[int, Struct, Struct | None]]:
    for record in convert.records_of(records, position, magic):
        try:
            kind, key = embedded.decode_key(RECORDS, record.key or b"")
        except DecodeError:
            continue
        if kind in _TAKE:
            value = None
            if record.value is not None:
                _, value = embedded.decode_value(RECORDS, kind, record.value)
            yield kind, key, value


def _pair(entry: Entry, row: Struct | None) -> tuple[bytes, bytes | None]:
    kind, group, member = entry
    key = {"group_id": group} | ({} if member is None else {"member_id": member})
    encoded = embedded.encode_key(RECORDS, kind, key)
    if row is None:
        return encoded, None
    return encoded, embedded.encode_value(RECORDS, kind, _VERSION, deepcopy(row))


def _subscription(member: Member) -> Struct:
    return {
        "rack_id": member.rack_id,
        "client_id": member.client_id,
        "client_host": member.client_host,
        "subscribed_topic_names": sorted(member.names),
    }


def _current(member: Member) -> Struct:
    return {
        "member_epoch": member.epoch,
        "previous_member_epoch": member.previous_epoch,
        "state": _STABLE,
        "assigned_partitions": _rows(member.assigned),
    }


def _places(places: Iterable[TopicIdPartition]) -> Struct:
    return {"topic_partitions": _rows(places)}


def _rows(places: Iterable[TopicIdPartition]) -> list[Struct]:
    topics: dict[bytes, list[int]] = {}
    for topic, index in sorted(places):
        topics.setdefault(topic, []).append(index)
    return [{"topic_id": each, "partitions": at} for each, at in topics.items()]


def _initials(rows: Initials) -> list[Struct]:
    return [
        {"topic_id": topic, "topic_name": row.name, "partitions": sorted(row.partitions)}
        for topic, row in rows.items()
    ]


# --- reading ---------------------------------------------------------------------------------


def _member(group: ShareGroup, member_id: str) -> Member:
    return group.members.setdefault(member_id, Member(member_id))


def _take_member(group: ShareGroup, member_id: str, value: Struct, now: int) -> None:
    member = _member(group, member_id)
    member.rack_id, member.client_id = value["rack_id"], value["client_id"]
    member.client_host = value["client_host"]
    member.names = frozenset(value["subscribed_topic_names"])


def _take_epoch(group: ShareGroup, _: str, value: Struct, now: int) -> None:
    group.epoch, group.hash = value["epoch"], value["metadata_hash"]


def _take_target(group: ShareGroup, _: str, value: Struct, now: int) -> None:
    group.assignment_epoch = value["assignment_epoch"]
    group.assigned_at = value.get("assignment_timestamp") or None


def _take_target_of(group: ShareGroup, member_id: str, value: Struct, now: int) -> None:
    group.target[member_id] = _read_places(value["topic_partitions"])


def _take_current(group: ShareGroup, member_id: str, value: Struct, now: int) -> None:
    member = _member(group, member_id)
    member.epoch = value["member_epoch"]
    member.previous_epoch = value["previous_member_epoch"]
    member.assigned = _read_places(value["assigned_partitions"])


def _take_partitions(group: ShareGroup, _: str, value: Struct, now: int) -> None:
    group.initialising = _read_initials(value["initializing_topics"], now)
    group.initialised = _read_initials(value["initialized_topics"], now)
    group.deleting = {bytes(r["topic_id"]): r["topic_name"] for r in value["deleting_topics"]}


def _read_places(rows: Iterable[Struct]) -> frozenset[TopicIdPartition]:
    return frozenset((bytes(row["topic_id"]), at) for row in rows for at in row["partitions"])


def _read_initials(rows: Iterable[Struct], now: int) -> Initials:
    return {
        bytes(row["topic_id"]): TopicPartitions(
            row["topic_name"], frozenset(row["partitions"]), now
        )
        for row in rows
    }


def _forget_member(group: ShareGroup, member_id: str) -> None:
    group.members.pop(member_id, None)


def _forget_target(group: ShareGroup, member_id: str) -> None:
    group.target.pop(member_id, None)


def _nothing(group: ShareGroup, member_id: str) -> None:
    """Goes with the group."""


_TAKE: dict[int, Callable[[ShareGroup, str, Struct, int], None]] = {
    MEMBER: _take_member,
    EPOCH: _take_epoch,
    TARGET: _take_target,
    TARGET_OF: _take_target_of,
    CURRENT: _take_current,
    PARTITIONS: _take_partitions,
}
_FORGET: dict[int, Callable[[ShareGroup, str], None]] = {
    MEMBER: _forget_member,
    EPOCH: _nothing,
    TARGET: _nothing,
    TARGET_OF: _forget_target,
    CURRENT: _nothing,
    PARTITIONS: _nothing,
}
