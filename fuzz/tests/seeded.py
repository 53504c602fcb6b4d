"""Findings that are there because somebody put them there, each with the least that shows it.

A seeded finding is a planted defect (a switch of the reference broker, or a lie in front of it) and
a script made by hand that shows it and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from touchstone.fuzz.mutators import frame
from touchstone.fuzz.script import Reference, Script, Step
from touchstone.harness.targets.misbehaviour import HangUp, Liar, Lie, Turn
from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.headers import encode_request
from touchstone.reference_impl.wire.records.batch import (
    CRC_AT,
    HEADER_SIZE,
    Record,
    encode_batch,
    read_header,
)
from touchstone.reference_impl.wire.schema import Struct, fields_of

Asked = tuple[str, int, Struct]  # API, version, the fields that are not at their defaults


def frame_of(asked: Asked, client: str | None = None) -> bytes:
    name, version, fields = asked
    api = by_name(name)
    return frame(encode_request(api.key, version, 1, client, filled_up(api, version, fields)))


def filled_up(api: Any, version: int, fields: Struct) -> Struct:
    body = {row.name: row.default_value(version) for row in fields_of(api.request.fields, version)}
    return _merged(api.request.fields, version, body, fields)


def _merged(rows: Any, version: int, body: Struct, fields: Struct) -> Struct:
    by = {row.name: row for row in fields_of(rows, version)}
    assert not fields.keys() - by.keys(), fields.keys() - by.keys()
    for name, value in fields.items():
        row = by[name]
        if row.element == "struct" and isinstance(value, list):
            value = [
                _merged(
                    row.fields,
                    version,
                    {c.name: c.default_value(version) for c in fields_of(row.fields, version)},
                    one,
                )
                for one in value
            ]
        body[name] = value
    return body


def batch(*, crc_is_wrong: bool = False, last_offset_delta: int = 0, **fields: Any) -> bytes:
    """A batch of one record without key and value, of which a header may be a lie."""
    made = encode_batch([Record(0, 0, None, None)], base_timestamp=0, **fields)
    header = read_header(made)._replace(last_offset_delta=last_offset_delta)
    fresh = bytearray(header.encode(made[HEADER_SIZE:]))
    fresh[CRC_AT] ^= crc_is_wrong
    return bytes(fresh)


def produce(records: bytes, acks: int = -1, topic: str = "fuzz-a") -> Asked:
    rows = [{"name": topic, "partition_data": [{"index": 0, "records": records}]}]
    return ("Produce", 9, {"acks": acks, "topic_data": rows})


def create(name: str, configs: Mapping[str, str] | None = None, **fields: Any) -> Asked:
    pairs = [{"name": key, "value": value} for key, value in (configs or {}).items()]
    row = {"name": name, "num_partitions": 1, "replication_factor": 1, "configs": pairs}
    return ("CreateTopics", 4, {"topics": [row], "timeout_ms": 5000} | fields)


JOIN = {
    "group_id": "g", "session_timeout_ms": 6000, "rebalance_timeout_ms": 100,
    "protocol_type": "c", "protocols": [{"name": "r"}],
}  # fmt: skip


@dataclass(frozen=True)
class Seeded:
    """A defect (switches, or a lie) and the least that shows it; `references` by step."""

    name: str
    asked: tuple[Asked, ...]
    switches: tuple[str, ...] = ()
    lie: Liar | None = None
    references: Mapping[int, tuple[Reference, ...]] = field(default_factory=dict)
    config: Mapping[str, str] = field(default_factory=dict)
    release: str = "4.3"
    wire: bytes | None = None  # of a step that is no request of any schema
    lanes: tuple[int, ...] = ()

    @property
    def by_hand(self) -> Script:
        wires = [frame_of(one) for one in self.asked] + ([self.wire] if self.wire else [])
        return Script(
            tuple(
                Step(wire, self.lanes[n] if self.lanes else 0, self.references.get(n, ()))
                for n, wire in enumerate(wires)
            )
        )


def switch(name: str, *asked: Asked, **more: Any) -> Seeded:
    return Seeded(name, asked, (name,), **more)


MEMBER = Reference("member_id", 0, "member_id")
PRODUCER = Reference("producer_id", 0, "producer_id")
GUARDED = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}
DENY, ALLOW = 2, 3
DENIED = {
    "resource_pattern_type": 3, "principal": "User:ANONYMOUS", "host": "*", "operation": 2,
    "permission_type": DENY,
}  # fmt: skip
SWITCHED = (
    switch("crc-not-checked", produce(batch(crc_is_wrong=True))),
    switch("record-count-not-checked", produce(batch(last_offset_delta=1))),
    switch("topic-created-without-validation", create("..")),
    switch("configs-not-validated", create("t", {"x": "y"})),
    switch(
        "validate-only-creates",
        create("t", validate_only=True),
        ("Metadata", 4, {"topics": [{"name": "t"}], "allow_auto_topic_creation": False}),
    ),
    switch(
        "sequence-gap-accepted",
        produce(batch(producer_id=7, producer_epoch=0, base_sequence=0)),
        produce(batch(producer_id=7, producer_epoch=0, base_sequence=5)),
    ),
    switch(
        "producer-epoch-not-checked",
        produce(batch(producer_id=7, producer_epoch=1, base_sequence=0)),
        produce(batch(producer_id=7, producer_epoch=0, base_sequence=1)),
    ),
    switch(
        "leader-epoch-not-checked",
        ("ListOffsets", 4, {"topics": [{"name": "fuzz-a", "partitions": [
            {"partition_index": 0, "current_leader_epoch": 9, "timestamp": -1}]}]}),
    ),
    switch("acks-zero-answered", produce(batch(), acks=0)),
    switch(
        "unknown-version-answered", wire=frame(bytes.fromhex("0003 0063 00000001 ffff 00 00000000"))
    ),
    switch(
        "transaction-timeout-not-validated",
        ("InitProducerId", 0, {"transactional_id": "t", "transaction_timeout_ms": 0}),
    ),
    switch(
        "commit-metadata-unlimited",
        ("OffsetCommit", 2, {"group_id": "g", "generation_id_or_member_epoch": -1, "topics": [
            {"name": "fuzz-a", "partitions": [{"committed_metadata": "m" * 4097}]}]}),
    ),
    switch(
        "strangers-commit",
        ("JoinGroup", 2, JOIN),
        ("SyncGroup", 0, {"group_id": "g", "generation_id": 1}),
        ("OffsetCommit", 2, {"group_id": "g", "generation_id_or_member_epoch": 1, "topics": [
            {"name": "fuzz-a", "partitions": [{}]}]}),
        references={1: (MEMBER,)},
    ),
    switch(
        "stale-generation-committed",
        ("JoinGroup", 2, JOIN),
        ("SyncGroup", 0, {"group_id": "g", "generation_id": 1}),
        ("OffsetCommit", 2, {"group_id": "g", "generation_id_or_member_epoch": 9, "topics": [
            {"name": "fuzz-a", "partitions": [{}]}]}),
        references={1: (MEMBER,), 2: (MEMBER,)},
    ),
    switch(
        "no-authorizer-no-acls",
        ("DescribeAcls", 1, {"resource_type_filter": 1, "pattern_type_filter": 1, "operation": 1,
            "permission_type": 1}),
    ),
    switch("any-handshake-welcome", ("SaslHandshake", 1, {"mechanism": ""})),
    switch(
        "auto-creation-not-asked-for",
        *2 * (("Metadata", 4, {"topics": [{"name": "t"}], "allow_auto_topic_creation": False}),),
        config={"auto.create.topics.enable": "true"},
    ),
    switch(
        "keyless-on-compacted-accepted",
        create("t", {"cleanup.policy": "compact"}),
        produce(batch(), topic="t"),
    ),
    switch(
        "max-message-bytes-ignored",
        create("t", {"max.message.bytes": "1"}),
        produce(batch(), topic="t"),
    ),
    switch(
        "member-epoch-not-fenced",
        ("ConsumerGroupHeartbeat", 1, {"group_id": "g", "member_id": "m", "rebalance_timeout_ms": 9,
            "subscribed_topic_names": [], "topic_partitions": []}),
        ("ConsumerGroupHeartbeat", 1, {"group_id": "g", "member_id": "m", "member_epoch": 9}),
    ),
    switch(
        "fenced-instance-accepted",
        ("JoinGroup", 5, JOIN | {"group_instance_id": "i"}),
        ("JoinGroup", 5, JOIN | {"group_instance_id": "i"}),
        ("Heartbeat", 3, {"group_id": "g", "group_instance_id": "i"}),
        references={2: (MEMBER,)},
    ),
    switch(
        "fencing-skipped",
        ("InitProducerId", 0, {"transactional_id": "t", "transaction_timeout_ms": 9}),
        ("InitProducerId", 0, {"transactional_id": "t", "transaction_timeout_ms": 9}),
        ("EndTxn", 0, {"transactional_id": "t"}),
        references={2: (PRODUCER,)},
    ),
    switch("version-0-refused", ("OffsetCommit", 0, {"group_id": "g", "topics": [
        {"name": "fuzz-a", "partitions": [{}]}]}), release="2.8"),
    switch(
        "min-isr-ignored", produce(batch()), config={"min.insync.replicas": "2"}, release="2.8"
    ),
    switch(
        "group-size-ignored",
        *2 * (("JoinGroup", 2, JOIN),),
        config={"group.max.size": "1"},
    ),
    switch(
        "generation-not-bumped",
        ("JoinGroup", 2, JOIN),
        ("JoinGroup", 2, JOIN | {"protocols": [{"name": "r", "metadata": b"x"}]}),
        ("SyncGroup", 0, {"group_id": "g", "generation_id": 2}),
        references={1: (MEMBER,), 2: (MEMBER,)},
    ),
    switch(
        "rebalance-not-told-to-commits",
        ("JoinGroup", 2, JOIN),
        ("OffsetCommit", 2, {"group_id": "g", "generation_id_or_member_epoch": 1, "topics": [
            {"name": "fuzz-a", "partitions": [{}]}]}),
        references={1: (MEMBER,)},
    ),
    switch(
        "unstable-offsets-fetched",
        ("InitProducerId", 0, {"transactional_id": "t", "transaction_timeout_ms": 9000}),
        ("AddOffsetsToTxn", 0, {"transactional_id": "t", "group_id": "g"}),
        ("TxnOffsetCommit", 0, {"transactional_id": "t", "group_id": "g", "topics": [
            {"name": "fuzz-a", "partitions": [{}]}]}),
        ("OffsetFetch", 7, {"group_id": "g", "require_stable": True, "topics": [
            {"name": "fuzz-a", "partition_indexes": [0]}]}),
        references={1: (PRODUCER,), 2: (PRODUCER,)},
    ),
    switch(
        "fetch-waits-time-out",
        ("Fetch", 4, {"max_wait_ms": 1, "min_bytes": 1, "max_bytes": 9, "topics": [
            {"topic": "fuzz-b", "partitions": [{"partition_max_bytes": 9}]}]}),
    ),
    switch(
        "config-lists-fixed",
        ("IncrementalAlterConfigs", 0, {"resources": [{"resource_type": 2,
            "resource_name": "fuzz-a", "configs": [
                {"name": "cleanup.policy", "config_operation": 2, "value": "compact"}]}]}),
    ),
    switch(
        "new-partitions-not-answered",
        ("CreatePartitions", 0, {"topics": [{"name": "fuzz-a", "count": 9}], "timeout_ms": 5000}),
    ),
    switch(
        "newer-api-versions-refused", wire=frame(bytes.fromhex("0012 0063 00000001 ffff 00"))
    ),
    switch(
        "denials-ignored",
        ("CreateAcls", 1, {"creations": [
            {**DENIED, "resource_type": 2, "resource_name": "fuzz-a", "permission_type": kind}
            for kind in (DENY, ALLOW)]}),
        produce(batch()),
        config=GUARDED,
    ),
    switch(
        "groups-unguarded",
        ("CreateAcls", 1, {"creations": [DENIED | {"resource_type": 3, "resource_name": "g"}]}),
        ("Heartbeat", 0, {"group_id": "g"}),
        config=GUARDED,
    ),
)  # fmt: skip


def _when(api: str, says: Any) -> Any:
    """A lie about one API where `says` holds of the request's body."""

    def decorated(lie: Lie) -> Lie:
        def told(turn: Turn) -> list[bytes] | None:
            try:
                applies = turn.api == api and turn.honest is not None and says(turn.request)
            except (KeyError, TypeError, IndexError):
                return None
            return lie(turn) if applies else None

        return told

    return decorated


def _topics(body: Struct) -> set[str]:
    return {row["name"] for row in body["topics"] or ()}


@_when("Metadata", lambda body: "fuzz-b" in _topics(body))
def _other_id(turn: Turn) -> list[bytes]:
    assert turn.honest is not None
    return [(turn.correlation_id + 7).to_bytes(4, "big") + turn.honest[4:]]


@_when("ListOffsets", lambda body: body["isolation_level"] == 1)
def _trailing(turn: Turn) -> list[bytes]:
    assert turn.honest is not None
    return [turn.honest + b"\0\0\0"]


@_when("FindCoordinator", lambda body: body["key_type"] == 1)
def _hangs_up(turn: Turn) -> list[bytes]:
    raise HangUp


@_when("DescribeConfigs", lambda body: len(body["resources"]) > 1)
def _unknown_error(turn: Turn) -> list[bytes]:
    body = turn.answer
    body["results"][1]["error_code"] = -1
    return [turn.encoded(body)]


@_when("OffsetFetch", lambda body: body["group_id"] == "fuzz-group-7")
def _garbage(turn: Turn) -> list[bytes]:
    return [b"\xff\xff\xff\xf0HTTP"]


@_when("Heartbeat", lambda body: body["generation_id"] < 0)
def _endless(turn: Turn) -> list[bytes]:
    return [(16 << 20).to_bytes(4, "big") + turn.frame[4:8]]  # all that follows is swallowed


def _lie(name: str, lie: Lie, *asked: Asked, raw: bool = False) -> Seeded:
    return Seeded(name, asked, lie=Liar(name, "", "", lie, raw))


LIES = (
    _lie("wrong-id-for-a-topic", _other_id, ("Metadata", 5, {"topics": [{"name": "fuzz-b"}]})),
    _lie("bytes-behind-an-answer", _trailing, ("ListOffsets", 2, {"isolation_level": 1})),
    _lie("hangs-up-on-transactions", _hangs_up, ("FindCoordinator", 1, {"key_type": 1})),
    _lie(
        "two-resources-are-too-much",
        _unknown_error,
        ("DescribeConfigs", 1, {"resources": [{}, {}]}),
    ),
    _lie(
        "garbage-for-a-group", _garbage, ("OffsetFetch", 5, {"group_id": "fuzz-group-7"}), raw=True
    ),
    _lie("silent-to-who-is-no-member", _endless, ("Heartbeat", 2, {"generation_id": -1}), raw=True),
)
ALL = (*SWITCHED, *LIES)
