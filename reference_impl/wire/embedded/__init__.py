"""Kafka's schemas that are not requests: the bytes inside records and inside group messages.

`consumer_protocol` is what members tell each other; the other files hold the records of Kafka's
internal topics, each a table RECORDS from record type to (key schema, value schema). A key begins
with an int16 that is its type and its version at once (which is why a type never changes shape);
a value begins with an int16 version. A record whose type nobody knows is kept by readers as bytes.

Source: GroupMetadataManager and TransactionLog at 2.8.2, CoordinatorRecordSerde at 4.3.1.
"""

from __future__ import annotations

from typing import Any

from ..codec import decode, encode
from ..interpreter import DecodeError
from ..schema import Message

Records = dict[int, tuple[Message, Message]]


def encode_key(records: Records, kind: int, body: dict[str, Any]) -> bytes:
    return kind.to_bytes(2, "big") + encode(records[kind][0], 0, body)


def decode_key(records: Records, data: bytes) -> tuple[int, dict[str, Any]]:
    """(record type, key)"""
    kind = _number(data, "type")
    if kind not in records:
        raise DecodeError(0, "type", f"no record of type {kind} here")
    return kind, decode(records[kind][0], 0, data, 2)[0]


def encode_value(records: Records, kind: int, version: int, body: dict[str, Any]) -> bytes:
    return version.to_bytes(2, "big") + encode(records[kind][1], version, body)


def decode_value(records: Records, kind: int, data: bytes) -> tuple[int, dict[str, Any]]:
    """(version, value)"""
    version = _number(data, "version")
    schema = records[kind][1]
    if not schema.has(version):
        raise DecodeError(0, "version", f"{schema.name} has versions {schema.versions}")
    return version, decode(schema, version, data, 2)[0]


def _number(data: bytes, path: str) -> int:
    if len(data) < 2:
        raise DecodeError(0, path, f"2 bytes wanted, {len(data)} remain")
    return int.from_bytes(data[:2], "big", signed=True)
