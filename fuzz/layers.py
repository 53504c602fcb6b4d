"""A frame opened down to a layer, changed there, and closed again with everything around it right.

Lengths, counts and checksums of the layers above the fault are computed anew, so that the fault is
the only thing that a peer can find: a changed field reaches the API's handler, and
a changed record passes the CRC of its batch. What cannot be opened is returned as it was.

Requests open alone, since they say what they are; an answer opens with the key and version of the
request that it answers. The mutators of the body and below work on what is open, and so on both.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from touchstone.fuzz.segments import frames_in
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.codec import encode
from touchstone.reference_impl.wire.headers import (
    decode_request,
    decode_request_header,
    decode_response,
    encode_request,
    response_header_version,
)
from touchstone.reference_impl.wire.interpreter import read_varint
from touchstone.reference_impl.wire.records import compress, entries
from touchstone.reference_impl.wire.records.batch import BatchHeader, payload_of, read_header
from touchstone.reference_impl.wire.schema import Field, Message, Struct, fields_of

SIZE = 4
"""Bytes of the size prefix."""
MAGIC_OF_BATCHES = 2
WIDTHS = {"int8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32, "int64": 64}
MOST_BYTES = 1 << 20  # of decompressed records

# Where a value stands: what holds it, under which name or index, and the row of the schema.
FieldPlace = tuple[Struct | list[Any], Any, Field]
ChangeBatch = Callable[[BatchHeader, bytes, random.Random], bytes]


def frame(body: bytes) -> bytes:
    """Put the right size prefix before a body."""
    return len(body).to_bytes(SIZE, "big") + body


@dataclass(slots=True)
class Opened:
    """One request or response: the bytes of its header, the decoded body, what follows it."""

    key: int
    version: int
    message: Message
    head: bytes
    body: Struct
    behind: bytes

    def closed(self) -> bytes:
        """The frame of the body as it is now, size included."""
        return self.around(encode(self.message, self.version, self.body))

    def around(self, body: bytes) -> bytes:
        """The frame of these bytes in the body's place."""
        return frame(self.head + body + self.behind)


Change = Callable[[Opened, random.Random], bytes]
"""Returns the frame with one fault, size included. ValueError or struct.error: no such place."""


def open_request(wire: bytes) -> Opened | None:
    """The one request of these bytes; None where there is no such."""
    frames, whole = frames_in(wire)
    if not whole or len(frames) != 1:
        return None
    with suppress(ValueError, struct.error):
        request = decode_request(frames[0])
        key, version = request.header.key, request.header.version
        _, at = decode_request_header(frames[0])
        head, behind = frames[0][:at], frames[0][request.end :]
        return Opened(key, version, API[key].request, head, request.body, behind)
    return None


def open_response(key: int, version: int, wire: bytes) -> Opened | None:
    """The one answer of these bytes to a request of this key and version; None if it is none."""
    frames, whole = frames_in(wire)
    if not whole or len(frames) != 1:
        return None
    with suppress(ValueError, KeyError, IndexError, struct.error):
        answer = decode_response(key, version, frames[0])
        at = SIZE
        if response_header_version(key, version):
            count, at = read_varint(frames[0], at)
            for _ in range(count):
                _, at = read_varint(frames[0], at)
                size, at = read_varint(frames[0], at)
                at += size
        head, behind = frames[0][:at], frames[0][answer.end :]
        return Opened(key, version, API[key].response, head, answer.body, behind)
    return None


@dataclass(frozen=True)
class OnRequest:
    """`change` as a mutator of requests: bytes that it cannot work on stay as they were. A value
    of a class, not a closure, because campaigns go to other processes.
    """

    change: Change

    def __call__(self, wire: bytes, draw: random.Random) -> bytes:
        return changed(self.change, open_request(wire), wire, draw)


def changed(change: Change, opened: Opened | None, wire: bytes, draw: random.Random) -> bytes:
    """What `change` makes of an opened message; `wire` where there is nothing to change."""
    if opened is None:
        return wire
    try:
        return change(opened, draw)
    except (ValueError, struct.error, TypeError, AttributeError):
        return wire


def within_body(wire: bytes, change: Callable[[int, int, Struct], object]) -> bytes:
    """The frame after `change` (key, version, body) has changed the decoded body in place."""
    frames, whole = frames_in(wire)
    if not whole or len(frames) != 1:
        return wire
    try:
        request = decode_request(frames[0])
        header, body = request.header, request.body
        change(header.key, header.version, body)
        done = encode_request(
            header.key, header.version, header.correlation_id, header.client_id, body,
            tags=header.tags,
        )  # fmt: skip
    except (ValueError, struct.error):
        return wire
    return frame(done + frames[0][request.end :])


def places(message: Message, version: int, body: Struct) -> list[FieldPlace]:
    """Every value of a body: structs, arrays, their elements and the fields within."""
    return list(_places(message.fields, version, body))


def _places(
    rows: tuple[Field, ...] | list[Field], version: int, struct_: Struct
) -> Iterator[FieldPlace]:
    for row in fields_of(rows, version):
        yield struct_, row.name, row
        value = struct_.get(row.name)
        if row.is_array and value:
            for index, element in enumerate(value):
                if row.element == "struct":
                    yield from _places(row.fields, version, element)
                else:
                    yield value, index, row
        elif row.type == "struct" and value is not None:
            yield from _places(row.fields, version, value)


def edges(type_: str) -> list[int]:
    """The integers at which a decoder of this type, or code that counts with them, may fail."""
    bits = WIDTHS[type_]
    low, high = (0, 2**bits - 1) if type_[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    near = {low, low + 1, -2, -1, 0, 1, 2, 2**7, 2**15, 2**31 - 1, 2**31, 2**62, high - 1, high}
    return sorted(edge for edge in near if low <= edge <= high)


def is_scalar(place: FieldPlace) -> bool:
    """Whether it is a value of a primitive type; records are a layer of their own."""
    holder, _, row = place
    stands = row.element if isinstance(holder, list) else row.type
    return stands not in ("struct", "records") and not stands.startswith("[]")


def is_array(place: FieldPlace) -> bool:
    holder, name, row = place
    return row.is_array and isinstance(holder, dict) and isinstance(holder.get(name), list)


class NothingHere(ValueError):
    """The message has no place for this fault."""


def within_blob(opened: Opened, draw: random.Random, wanted: Callable[[FieldPlace], bool],
                change: Callable[[bytes], bytes]) -> bytes:  # fmt: skip
    """The frame with the bytes of one field replaced by what `change` makes of them. Raises
    NothingHere.
    """
    held = [place for place in places(opened.message, opened.version, opened.body) if wanted(place)]
    held = [(holder, name, row) for holder, name, row in held if holder[name]]
    if not held:
        raise NothingHere
    holder, name, _ = draw.choice(held)
    holder[name] = change(bytes(holder[name]))
    return opened.closed()


def is_records(place: FieldPlace) -> bool:
    return place[2].type == "records"


def within_batch(opened: Opened, draw: random.Random, change: ChangeBatch) -> bytes:
    """The frame with one record batch (magic 2) of it changed: `change` gets its header and its
    payload as it is stored, and returns the whole batch. Raises NothingHere.
    """

    def in_records(buf: bytes) -> bytes:
        whole = [(at, size) for at, size, magic in entries(buf) if magic == MAGIC_OF_BATCHES]
        if not whole:
            raise NothingHere
        pos, size = draw.choice(whole)
        header = read_header(buf, pos)
        fresh = change(header, payload_of(buf, pos, header, MOST_BYTES), draw)
        return buf[:pos] + fresh + buf[pos + size :]

    return within_blob(opened, draw, is_records, in_records)


def stored(header: BatchHeader, payload: bytes) -> bytes:
    """A batch of these records, compressed as its header says, with the right length and CRC."""
    return header.encode(compress(header.compression, payload))
