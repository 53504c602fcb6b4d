"""Groups and committed offsets as records of `__consumer_offsets`, and back.

A key per group and partition, and one per group; the last record of a key counts, one without a
value (a tombstone) forgets. Offsets of a transaction count from its commit marker on; until then
they stand beside the group's (KIP-98). An offset with an end of its own needs value version 1, the
others the version that their release writes (quirks `offsets.value-version`,
`groups.value-version`).

Sources: GroupMetadataManager and GroupMetadata at 1.0.2, 2.2.1, 2.8.2; KIP-211, KIP-320, KIP-345;
OFFS-17, OFFS-25, GROUP-18, GROUP-30.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from types import ModuleType

from touchstone.reference_impl.group import consumer_records
from touchstone.reference_impl.group.consumer_group import ConsumerGroup
from touchstone.reference_impl.group.members import CONSUMER, Group, Member
from touchstone.reference_impl.group.offsets import CommittedOffset, transaction_ended
from touchstone.reference_impl.group.states import State
from touchstone.reference_impl.wire import embedded
from touchstone.reference_impl.wire.embedded import consumer_group_records
from touchstone.reference_impl.wire.embedded.consumer_offsets import RECORDS
from touchstone.reference_impl.wire.interpreter import DecodeError
from touchstone.reference_impl.wire.records import batch, control, convert, entries
from touchstone.reference_impl.wire.schema import Struct

_OFFSET, _GROUP, _WITH_END, _WITH_TOPIC_ID = 1, 2, 1, 4
_VERSION, _INT, _LONG = 2, 4, 8  # bytes of a value's version, of a partition, of an offset
TopicPartition = tuple[str, int]


def offsets_batch(
    group_id: str,
    offsets: Mapping[TopicPartition, CommittedOffset | None],
    *,
    version: int,
    now: int,
    producer: tuple[int, int] | None = None,
) -> bytes:
    """Make one batch of these offsets, None for a tombstone; in the transaction of `producer`.

    Records of one commit differ in little, and in the same place whatever the version: a partition
    is the last of its key, an offset the first of its value. What is around them is encoded once.
    """
    heads: dict[str, bytes] = {}  # by topic
    # by all that is kept but the offset
    around: dict[tuple[str, int, str, int, int | None], tuple[bytes, bytes]] = {}
    pairs: list[tuple[bytes, bytes | None]] = []
    for (topic, index), stored in offsets.items():
        head = heads.get(topic)
        if head is None:
            head = heads[topic] = _offset_key(group_id, topic, 0)[:-_INT]
        value = None
        if stored is not None:
            offset, epoch, metadata, committed, expires, *_ = stored
            about = (topic, epoch, metadata, committed, expires)
            ends = around.get(about)
            if ends is None:
                whole = _offset_value(stored, version, named=producer is None)
                ends = around[about] = (whole[:_VERSION], whole[_VERSION + _LONG :])
            value = offset.to_bytes(_LONG, "big", signed=True).join(ends)
        pairs.append((head + index.to_bytes(_INT, "big", signed=True), value))
    return batch_of(pairs, now, producer)


def group_batch(group: Group, assignments: Mapping[str, bytes], *, version: int, now: int) -> bytes:
    """The group as it will be with these assignments."""
    return batch_of([group_entry(group, assignments, version=version, now=now)], now)


def group_entry(
    group: Group, assignments: Mapping[str, bytes], *, version: int, now: int
) -> tuple[bytes, bytes]:
    body = {
        "protocol_type": group.protocol_type or "",
        "generation": group.generation,
        "protocol": group.protocol,
        "leader": group.leader,
        "current_state_timestamp": now,
        "members": [
            {
                "member_id": member.id,
                "group_instance_id": member.instance_id,
                "client_id": member.client_id,
                "client_host": member.client_host,
                "rebalance_timeout": member.rebalance_timeout_ms,
                "session_timeout": member.session_timeout_ms,
                "subscription": member.metadata(group.protocol),
                "assignment": assignments.get(member.id, b""),
            }
            for member in group.members.values()
        ],
    }
    return _group_key(group.id), embedded.encode_value(RECORDS, _GROUP, version, body)


def group_tombstone(group_id: str) -> tuple[bytes, None]:
    return _group_key(group_id), None


def forgotten_batch(group: Group, now: int, *, lived: bool = True) -> bytes:
    """Tombstones for all that was kept of a group: of itself only if it `lived`."""
    pairs: list[tuple[bytes, bytes | None]]
    pairs = [(_offset_key(group.id, *key), None) for key in group.offsets]
    if group.newer_half is not None:
        pairs += newer_tombstones(group)
    elif lived:
        pairs.append(group_tombstone(group.id))
    return batch_of(pairs, now)


def newer_tombstones(group: Group) -> list[tuple[bytes, bytes | None]]:
    """Tombstones for all that is kept of a group's newer half."""
    if group.consumer_group is not None:
        entries = consumer_records.group_tombstones(group.consumer_group)
        return [consumer_records.encoded(entry) for entry in entries]
    return [] if group.streams_group is None else _streams().tombstones(group.streams_group)


def read(
    records: bytes, groups: dict[str, Group], topic: Callable[[str], object], now: int
) -> int | None:
    """Bring `groups` up to date with these record bytes; the offset after the last, if any."""
    after = None
    for position, _, magic in entries(records):
        head = batch.read_header(records, position)
        after = head.last_offset + 1
        for record in convert.records_of(records, position, magic):
            if head.control:
                commit = control.read_key(record.key).type == control.COMMIT
                for group in groups.values():
                    transaction_ended(group, head.producer_id, commit=commit)
                continue
            try:
                kind, key = embedded.decode_key(RECORDS, record.key or b"")
            except DecodeError:
                _read_other(groups, record, now)
                continue
            group = groups.setdefault(key["group"], Group(key["group"], emptied_at_ms=now))
            if kind != _GROUP:
                producer = head.producer_id if head.transactional else None
                _read_offset(group, key, record, producer, topic)
            elif record.value is None:
                del groups[key["group"]]
            else:
                _read_group(group, record.value, now)
    return after


def lasting(groups: Mapping[str, Group]) -> dict[str, Group]:
    """Those that a whole log says something of; one whose offsets are all gone, and that never had
    a record of its own, is no group (GroupMetadataManager.loadGroupsAndOffsets@2.8.2).
    """
    return {
        id: group
        for id, group in groups.items()
        if group.written or group.newer_half or group.offsets or any(group.unstable.values())
    }


def batch_of(
    pairs: Iterable[tuple[bytes, bytes | None]], now: int, producer: tuple[int, int] | None = None
) -> bytes:
    producer_id, epoch = producer or (-1, -1)
    attributes = 0 if producer is None else batch.TRANSACTIONAL
    return batch.encode_pairs(
        pairs,
        base_timestamp=now,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=0,  # observed on 1.0.2 to 4.3.1; tombstones have -1 before 4.0
        attributes=attributes,
    )


def _group_key(group_id: str) -> bytes:
    return embedded.encode_key(RECORDS, _GROUP, {"group": group_id})


def _offset_key(group_id: str, topic: str, index: int) -> bytes:
    body = {"group": group_id, "topic": topic, "partition": index}
    return embedded.encode_key(RECORDS, _OFFSET, body)


def _offset_value(stored: CommittedOffset, version: int, *, named: bool) -> bytes:
    """Offsets of a transaction do not name their topic by id, whose request has none."""
    body = {
        "offset": stored.offset,
        "leader_epoch": stored.leader_epoch,
        "metadata": stored.metadata,
        "commit_timestamp": stored.committed,
        "expire_timestamp": -1 if stored.expires is None else stored.expires,
    }
    wanted = version if stored.expires is None else _WITH_END
    if wanted != _WITH_END:
        del body["expire_timestamp"]
    if wanted >= _WITH_TOPIC_ID:
        body["topic_id"] = getattr(stored.topic, "id", bytes(16)) if named else bytes(16)
    return embedded.encode_value(RECORDS, _OFFSET, wanted, body)


def _read_offset(
    group: Group,
    key: Struct,
    record: convert.Flat,
    producer: int | None,
    topic: Callable[[str], object],
) -> None:
    at = key["topic"], key["partition"]
    kept = group.offsets if producer is None else group.unstable.setdefault(producer, {})
    if record.value is None:
        kept.pop(at, None)
        return
    _, value = embedded.decode_value(RECORDS, _OFFSET, record.value)
    expires = value.get("expire_timestamp", -1)
    kept[at] = CommittedOffset(
        value["offset"],
        value.get("leader_epoch", -1),
        value["metadata"],
        value["commit_timestamp"],
        None if expires == -1 else expires,
        topic(key["topic"]),
        record.offset,
    )


def _read_other(groups: dict[str, Group], record: convert.Flat, now: int) -> None:
    """A record of a consumer group, of a streams group, or of a share group, kept elsewhere."""
    try:
        kind, key = embedded.decode_key(consumer_group_records.RECORDS, record.key or b"")
    except DecodeError:
        _streams().read(groups, record.key or b"", record.value, now)
        return
    group = groups.get(key["group_id"])
    if group is None or group.consumer_group is None:
        if record.value is None:
            return
        if group is None:
            group = groups[key["group_id"]] = Group(key["group_id"], emptied_at_ms=now)
        group.consumer_group, group.protocol_type = ConsumerGroup(group.id), CONSUMER
    value = None
    if record.value is not None:
        _, value = embedded.decode_value(consumer_group_records.RECORDS, kind, record.value)
    if not consumer_records.replay(group.consumer_group, kind, key, value):
        del groups[group.id]


def _streams() -> ModuleType:
    """Loaded where a log has something of streams groups, which few have."""
    return import_module("touchstone.reference_impl.group.streams.log")


def _read_group(group: Group, data: bytes, now: int) -> None:
    """Members with their sessions begun anew: a stable group, or an empty one (GROUP-30)."""
    _, value = embedded.decode_value(RECORDS, _GROUP, data)
    group.clear()
    group.written = True
    for row in value["members"]:
        member = Member(
            row["member_id"],
            row.get("group_instance_id"),
            row["client_id"],
            row["client_host"],
            row["session_timeout"],
            row.get("rebalance_timeout", row["session_timeout"]),
            [(value["protocol"] or "", row["subscription"])],
            assignment=row["assignment"],
            expires_at_ms=now + row["session_timeout"],
        )
        group.add(member, value["protocol_type"])
    group.state = State.STABLE if group.members else State.EMPTY
    group.protocol_type = value["protocol_type"] or None
    group.generation, group.protocol = value["generation"], value["protocol"]
    group.leader = value["leader"]
    group.emptied_at_ms = max(0, value.get("current_state_timestamp", -1))
