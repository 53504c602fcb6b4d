"""The records of __cluster_metadata: what a KRaft quorum decided (KIP-631).

A record has no key. Its value begins with three unsigned varints: the version of this frame, the
record type, the version of the record's body. RECORDS holds the types that a reader of 3.3 to 4.3
has to know to say what the cluster is; who is registered, fenced or controller is of no use after
the end of all of them, so those types are named in PASSING and skipped, as are no-ops.

Source: MetadataRecordSerde and metadata/src/main/resources/common/metadata at 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from typing import Any

from ..codec import decode, encode
from ..interpreter import DecodeError
from ..schema import Field, Message

FRAME_VERSION = 1

TOPIC = Message("TopicRecord", "0", "0+", [
    Field("name", "0+", "string"),
    Field("topic_id", "0+", "uuid"),
])

PARTITION = Message("PartitionRecord", "0-2", "0+", [
    Field("partition_id", "0+", "int32", default=-1),
    Field("topic_id", "0+", "uuid"),
    Field("replicas", "0+", "[]int32"),
    Field("isr", "0+", "[]int32"),
    Field("removing_replicas", "0+", "[]int32"),
    Field("adding_replicas", "0+", "[]int32"),
    Field("leader", "0+", "int32", default=-1),
    Field("leader_recovery_state", "0+", "int8", tag=0),
    Field("leader_epoch", "0+", "int32", default=-1),
    Field("partition_epoch", "0+", "int32", default=-1),
    Field("directories", "1+", "[]uuid"),
    Field("eligible_leader_replicas", "2+", "[]int32", nullable="2+", tag=1, default=None),
    Field("last_known_elr", "2+", "[]int32", nullable="2+", tag=2, default=None),
])

PARTITION_CHANGE = Message("PartitionChangeRecord", "0-2", "0+", [
    Field("partition_id", "0+", "int32", default=-1),
    Field("topic_id", "0+", "uuid"),
    Field("isr", "0+", "[]int32", nullable="0+", tag=0, default=None),
    Field("leader", "0+", "int32", tag=1, default=-2),
    Field("replicas", "0+", "[]int32", nullable="0+", tag=2, default=None),
    Field("removing_replicas", "0+", "[]int32", nullable="0+", tag=3, default=None),
    Field("adding_replicas", "0+", "[]int32", nullable="0+", tag=4, default=None),
    Field("leader_recovery_state", "0+", "int8", tag=5, default=-1),
    Field("directories", "1+", "[]uuid", nullable="1+", tag=8, default=None),
    Field("eligible_leader_replicas", "2+", "[]int32", nullable="2+", tag=6, default=None),
    Field("last_known_elr", "2+", "[]int32", nullable="2+", tag=7, default=None),
])

CONFIG = Message("ConfigRecord", "0", "0+", [
    Field("resource_type", "0+", "int8"),
    Field("resource_name", "0+", "string"),
    Field("name", "0+", "string"),
    Field("value", "0+", "string", nullable="0+"),
])

REMOVE_TOPIC = Message("RemoveTopicRecord", "0", "0+", [
    Field("topic_id", "0+", "uuid"),
])

DELEGATION_TOKEN = Message("DelegationTokenRecord", "0", "0+", [
    Field("owner", "0+", "string"),
    Field("requester", "0+", "string"),
    Field("renewers", "0+", "[]string"),
    Field("issue_timestamp", "0+", "int64"),
    Field("max_timestamp", "0+", "int64"),
    Field("expiration_timestamp", "0+", "int64"),
    Field("token_id", "0+", "string"),
])

USER_SCRAM_CREDENTIAL = Message("UserScramCredentialRecord", "0", "0+", [
    Field("name", "0+", "string"),
    Field("mechanism", "0+", "int8"),
    Field("salt", "0+", "bytes"),
    Field("stored_key", "0+", "bytes"),
    Field("server_key", "0+", "bytes"),
    Field("iterations", "0+", "int32"),
])

FEATURE_LEVEL = Message("FeatureLevelRecord", "0", "0+", [
    Field("name", "0+", "string"),
    Field("feature_level", "0+", "int16"),
])

CLIENT_QUOTA = Message("ClientQuotaRecord", "0", "0+", [
    Field("entity", "0+", "[]struct", fields=[
        Field("entity_type", "0+", "string"),
        Field("entity_name", "0+", "string", nullable="0+"),
    ]),
    Field("key", "0+", "string"),
    Field("value", "0+", "float64"),
    Field("remove", "0+", "bool"),
])

PRODUCER_IDS = Message("ProducerIdsRecord", "0", "0+", [
    Field("broker_id", "0+", "int32"),
    Field("broker_epoch", "0+", "int64", default=-1),
    Field("next_producer_id", "0+", "int64"),
])

ACCESS_CONTROL_ENTRY = Message("AccessControlEntryRecord", "0", "0+", [
    Field("id", "0+", "uuid"),
    Field("resource_type", "0+", "int8"),
    Field("resource_name", "0+", "string"),
    Field("pattern_type", "0+", "int8"),
    Field("principal", "0+", "string"),
    Field("host", "0+", "string"),
    Field("operation", "0+", "int8"),
    Field("permission_type", "0+", "int8"),
])

REMOVE_ACCESS_CONTROL_ENTRY = Message("RemoveAccessControlEntryRecord", "0", "0+", [
    Field("id", "0+", "uuid"),
])

REMOVE_USER_SCRAM_CREDENTIAL = Message("RemoveUserScramCredentialRecord", "0", "0+", [
    Field("name", "0+", "string"),
    Field("mechanism", "0+", "int8"),
])

BEGIN_TRANSACTION = Message("BeginTransactionRecord", "0", "0+", [
    Field("name", "0+", "string", nullable="0+", tag=0, default=None),
])

END_TRANSACTION = Message("EndTransactionRecord", "0", "0+", [])

ABORT_TRANSACTION = Message("AbortTransactionRecord", "0", "0+", [
    Field("reason", "0+", "string", nullable="0+", tag=0, default=None),
])

REMOVE_DELEGATION_TOKEN = Message("RemoveDelegationTokenRecord", "0", "0+", [
    Field("token_id", "0+", "string"),
])

CLEAR_ELR = Message("ClearElrRecord", "0", "0+", [
    Field("topic_name", "0+", "string"),
])

RECORDS = {  # by type
    2: TOPIC,
    3: PARTITION,
    4: CONFIG,
    5: PARTITION_CHANGE,
    9: REMOVE_TOPIC,
    10: DELEGATION_TOKEN,
    11: USER_SCRAM_CREDENTIAL,
    12: FEATURE_LEVEL,
    14: CLIENT_QUOTA,
    15: PRODUCER_IDS,
    18: ACCESS_CONTROL_ENTRY,
    19: REMOVE_ACCESS_CONTROL_ENTRY,
    22: REMOVE_USER_SCRAM_CREDENTIAL,
    23: BEGIN_TRANSACTION,
    24: END_TRANSACTION,
    25: ABORT_TRANSACTION,
    26: REMOVE_DELEGATION_TOKEN,
    28: CLEAR_ELR,
}
# RegisterBroker, UnregisterBroker, FenceBroker, UnfenceBroker, BrokerRegistrationChange, NoOp,
# ZkMigrationState, RegisterController
PASSING = frozenset({0, 1, 7, 8, 17, 20, 21, 27})


def decode_record(data: bytes) -> tuple[Message, dict[str, Any]] | None:
    """The record's schema and body; None for one that passes, DecodeError for an unknown one."""
    frame, at = _varint(data, 0)
    kind, at = _varint(data, at)
    version, at = _varint(data, at)
    if frame != FRAME_VERSION:
        raise DecodeError(0, "frame", f"version {frame} of a metadata record is unknown")
    if kind in PASSING:
        return None
    schema = RECORDS.get(kind)
    if schema is None:
        raise DecodeError(1, "type", f"no metadata record of type {kind} is known")
    if not schema.has(version):
        known = f"{schema.name} has versions {schema.versions}, not {version}"
        raise DecodeError(2, "version", known)
    return schema, decode(schema, version, data, at)[0]


def encode_record(schema: Message, version: int, body: dict[str, Any]) -> bytes:
    """The value of a record; a type is below 128, so each of the three varints is one byte."""
    kind = next(kind for kind, each in RECORDS.items() if each is schema)
    return bytes([FRAME_VERSION, kind, version]) + encode(schema, version, body)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(5):
        if at >= len(data):
            raise DecodeError(at, "frame", "the record is cut short")
        byte, at = data[at], at + 1
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value, at
    raise DecodeError(at, "frame", "a varint is too long")
