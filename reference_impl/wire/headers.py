"""Frames with their headers: which header a request or response wears, and the doors for both.

A frame here is everything after the four bytes of its size. The header's version follows from the
API and its version, with two exceptions that clients rely on:
- An ApiVersions response always wears header v0: the client cannot yet know whether the broker
  reads flexible headers (KIP-511).
- A ControlledShutdown v0 request wears header v0, which has no client id.
The client id stays a plain (not compact) nullable string even in the flexible header v2, so that a
broker can read it before it knows the version (KIP-482).

Source: RequestHeader.json, ResponseHeader.json, ApiKeys.requestHeaderVersion at 2.8.2 and 4.3.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from struct import Struct
from typing import Any

from .apis import API
from .codec import decode, encode, encode_parts
from .interpreter import DecodeError, TooLargeError, interpret_decode, unsigned_varint
from .schema import Field, Message

API_VERSIONS, CONTROLLED_SHUTDOWN = 18, 7
_FIXED = Struct(">hhi")
_ID = Struct(">i")
_LENGTH = Struct(">h")
_WORTH_GATHERING = 1 << 14
_MOST_JOINED = 1 << 28  # bytes of an answer that are copied to be sent; records are not
_MOST_BYTES = 2**31 - 1  # of a frame, whose size is an int32

REQUEST_HEADER = Message(
    "RequestHeader",
    "0-2",
    "2+",
    [
        Field("request_api_key", "0+", "int16"),
        Field("request_api_version", "0+", "int16"),
        Field("correlation_id", "0+", "int32"),
        Field("client_id", "1+", "string", nullable="1+", ignorable=True),  # never compact
    ],
)

RESPONSE_HEADER = Message(
    "ResponseHeader",
    "0-1",
    "1+",
    [
        Field("correlation_id", "0+", "int32"),
    ],
)
_TAGS = Message("TaggedFields", "0", "0+", [])


@dataclass(slots=True)  # not frozen: made for every request, and that costs the most
class RequestHeader:
    key: int
    version: int
    correlation_id: int
    client_id: str | None
    tags: dict[int, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    header: RequestHeader
    body: dict[str, Any]
    end: int


@dataclass(frozen=True, slots=True)
class Response:
    correlation_id: int
    tags: dict[int, bytes]
    body: dict[str, Any]
    end: int


@lru_cache(maxsize=1024)  # a peer may ask for 2**32 pairs
def request_header_version(key: int, version: int) -> int:
    """A version we do not know wears the header of the nearest one we do."""
    api = API.get(key)
    if api is not None and api.request.flexible and version >= int(api.request.flexible[:-1]):
        return 2
    return 0 if key == CONTROLLED_SHUTDOWN and version == 0 else 1


@lru_cache(maxsize=1024)  # a peer may ask for 2**32 pairs
def response_header_version(key: int, version: int) -> int:
    if key == API_VERSIONS:
        return 0
    api = API.get(key)
    flexible = api.response.flexible if api is not None else ""
    return int(bool(flexible) and version >= int(flexible[:-1]))


def encode_request_header(header: RequestHeader, *, header_version: int | None = None) -> bytes:
    """Any key and version, also unknown ones: a peer may ask for what does not exist."""
    if header_version is None:
        header_version = request_header_version(header.key, header.version)
    out = _FIXED.pack(header.key, header.version, header.correlation_id)
    if header_version == 0:
        return out
    if header.client_id is None:
        out += b"\xff\xff"
    else:
        client = header.client_id.encode("utf-8", "surrogateescape")
        out += _LENGTH.pack(len(client)) + client
    return out if header_version == 1 else out + encode_tags(header.tags)


def encode_tags(tags: dict[int, bytes]) -> bytes:
    if not tags:
        return b"\0"
    out = [unsigned_varint(len(tags))]
    for tag, content in sorted(tags.items()):
        number = unsigned_varint(
            tag & 0xFFFFFFFF
        )  # readers have it as an int, which may be below 0
        out += (number, unsigned_varint(len(content)), content)
    return b"".join(out)


def decode_request_header(frame: bytes) -> tuple[RequestHeader, int]:
    """(header, offset of the body). The first eight bytes alone decide how to read the rest."""
    if len(frame) < _FIXED.size:
        raise DecodeError(0, "header", f"{_FIXED.size} bytes wanted, {len(frame)} remain")
    key, version, correlation_id = _FIXED.unpack_from(frame)
    header_version = request_header_version(key, version)
    if header_version == 0:
        return RequestHeader(key, version, correlation_id, None), _FIXED.size
    client_id, at = _decode_client_id(frame)
    tags: dict[int, bytes] = {}
    if header_version == 2:
        if frame[at : at + 1] == b"\0":
            at += 1
        else:
            tags, at = _decode_tags(frame, at)
    return RequestHeader(key, version, correlation_id, client_id, tags), at


def _decode_client_id(frame: bytes) -> tuple[str | None, int]:
    """The short way for every well-formed one; the interpreter has the words for the others."""
    at = _FIXED.size + _LENGTH.size
    if len(frame) >= at:
        size = _LENGTH.unpack_from(frame, _FIXED.size)[0]
        if size == -1:
            return None, at
        raw = frame[at : at + size] if size >= 0 else b""
        if len(raw) == size and raw.isascii():
            return raw.decode("ascii"), at + size
    plain, at = interpret_decode(REQUEST_HEADER, 1, frame, 0, fill=False)
    return plain["client_id"], at


def _decode_tags(frame: bytes, at: int) -> tuple[dict[int, bytes], int]:
    if at < len(frame) and frame[at] == 0:
        return {}, at + 1
    value, at = decode(_TAGS, 0, frame, at)
    return value.get("_tags", {}), at


def encode_request(
    key: int,
    version: int,
    correlation_id: int,
    client_id: str | None,
    body: dict[str, Any],
    *,
    tags: dict[int, bytes] | None = None,
) -> bytes:
    header = RequestHeader(key, version, correlation_id, client_id, tags or {})
    return encode_request_header(header) + encode(API[key].request, version, body)


def decode_request(frame: bytes, *, fill: bool = False) -> Request:
    header, at = decode_request_header(frame)
    api = API.get(header.key)
    if api is None or not api.request.has(header.version):
        raise DecodeError(0, "header", f"no schema for key {header.key} version {header.version}")
    body, end = decode(api.request, header.version, frame, at, fill=fill)
    return Request(header, body, end)


def encode_response(
    key: int,
    version: int,
    correlation_id: int,
    body: dict[str, Any],
    *,
    tags: dict[int, bytes] | None = None,
) -> bytes:
    head = _ID.pack(correlation_id)
    if response_header_version(key, version):
        head += encode_tags(tags) if tags else b"\0"
    return head + encode(API[key].response, version, body)


def encode_response_parts(
    key: int, version: int, correlation_id: int, body: dict[str, Any]
) -> tuple[bytes, ...]:
    """The same frame in few parts, where records stand uncopied between joined small fields.

    TooLargeError for one of more bytes than a frame can have, or than are joined.
    """
    head = _ID.pack(correlation_id)
    if response_header_version(key, version):
        head += b"\0"
    encoded = encode_parts(API[key].response, version, body)
    size = sum(map(len, encoded))
    if size < _WORTH_GATHERING:
        return (head + b"".join(encoded),)
    if size > _MOST_JOINED:
        joined = sum(len(part) for part in encoded if len(part) < _WORTH_GATHERING)
        if joined > _MOST_JOINED or size + len(head) > _MOST_BYTES:
            raise TooLargeError
    parts: list[bytes] = []
    small = [head]
    for part in encoded:
        if len(part) < _WORTH_GATHERING:
            small.append(part)
        else:
            parts += (b"".join(small), part)
            small = []
    if small:
        parts.append(b"".join(small))
    return tuple(parts)


def decode_response(key: int, version: int, frame: bytes) -> Response:
    if len(frame) < _ID.size:
        raise DecodeError(0, "header", f"{_ID.size} bytes wanted, {len(frame)} remain")
    correlation_id, at = _ID.unpack_from(frame)[0], _ID.size
    tags: dict[int, bytes] = {}
    if response_header_version(key, version):
        tags, at = _decode_tags(frame, at)
    body, end = decode(API[key].response, version, frame, at)
    return Response(correlation_id, tags, body, end)
