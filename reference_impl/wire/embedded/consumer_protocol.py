"""What consumers put into the opaque bytes of JoinGroup and SyncGroup, protocol type "consumer".

The bytes begin with an int16 version. A reader that meets a version newer than it knows reads the
newest it knows and leaves the rest alone, as ConsumerProtocol does, so members of different age
can share a group; a negative version is an error.

v0  topics and user_data; assigned_partitions and user_data
v1  subscription adds owned_partitions (KIP-429)
v2  subscription adds generation_id (KIP-792)
v3  subscription adds rack_id (KIP-881)
"""

from __future__ import annotations

from typing import Any

from ..codec import decode, encode
from ..interpreter import DecodeError
from ..schema import Field, Message

SUBSCRIPTION = Message("ConsumerProtocolSubscription", "0-3", "", [
    Field("topics", "0+", "[]string"),
    Field("user_data", "0+", "bytes", nullable="0+", default=None),
    Field("owned_partitions", "1+", "[]struct", ignorable=True, fields=[
        Field("topic", "1+", "string"),
        Field("partitions", "1+", "[]int32"),
    ]),
    Field("generation_id", "2+", "int32", default=-1, ignorable=True),
    Field("rack_id", "3+", "string", nullable="3+", default=None, ignorable=True),
])

ASSIGNMENT = Message("ConsumerProtocolAssignment", "0-3", "", [
    Field("assigned_partitions", "0+", "[]struct", fields=[
        Field("topic", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
    ]),
    Field("user_data", "0+", "bytes", nullable="0+", default=None),
])


def encode_subscription(version: int, body: dict[str, Any]) -> bytes:
    return _encode(SUBSCRIPTION, version, body)


def decode_subscription(data: bytes) -> tuple[int, dict[str, Any], int]:
    """(the version written, the fields of the version read, end)"""
    return _decode(SUBSCRIPTION, data)


def encode_assignment(version: int, body: dict[str, Any]) -> bytes:
    return _encode(ASSIGNMENT, version, body)


def decode_assignment(data: bytes) -> tuple[int, dict[str, Any], int]:
    return _decode(ASSIGNMENT, data)


def _encode(schema: Message, version: int, body: dict[str, Any]) -> bytes:
    return version.to_bytes(2, "big") + encode(schema, version, body)


def _decode(schema: Message, data: bytes) -> tuple[int, dict[str, Any], int]:
    if len(data) < 2:
        raise DecodeError(0, "version", f"2 bytes wanted, {len(data)} remain")
    version = int.from_bytes(data[:2], "big", signed=True)
    if version < 0:
        raise DecodeError(0, "version", f"a version of {version}")
    body, end = decode(schema, min(version, schema.all_versions()[-1]), data, 2)
    return version, body, end
