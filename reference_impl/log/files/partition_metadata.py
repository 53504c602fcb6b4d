"""`partition.metadata`: the id of the topic whose partition lies in this folder (KIP-516).

Two lines, the second without an end. Written by KRaft brokers of 3.9.2 and 4.3.1; the ZooKeeper
ones of 2.8.2 were not seen to write it. A broker that finds another id than the topic's has the
remains of a deleted topic of the same name before it.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error

from .errors import FileFormatError

VERSION = 0
_ID_SIZE = 16


def encode(topic_id: bytes) -> bytes:
    return f"version: {VERSION}\ntopic_id: {uuid_text(topic_id)}".encode()


def decode(data: bytes) -> bytes:
    """The topic's id."""
    lines = [line.partition(": ") for line in data.decode("latin-1").splitlines()]
    if [name for name, _, _ in lines] != ["version", "topic_id"]:
        raise FileFormatError(1, "not a version and a topic_id")
    if lines[0][2] != str(VERSION):
        raise FileFormatError(1, f"version {lines[0][2]!r} of partition.metadata is unknown")
    return parse_uuid(lines[1][2])


def uuid_text(raw: bytes) -> str:
    """Sixteen bytes as Kafka prints them: base64 for addresses, without its filling."""
    return urlsafe_b64encode(raw).decode().rstrip("=")


def parse_uuid(text: str) -> bytes:
    try:
        raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (Base64Error, ValueError):
        raw = b""
    if len(raw) != _ID_SIZE:
        raise FileFormatError(2, f"{text!r} is no id")
    return raw
