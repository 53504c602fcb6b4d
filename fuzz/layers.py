"""A frame opened down to a layer, changed there, and closed again with everything around it right.

Lengths, counts and checksums of the layers above the fault are computed anew, so that the fault is
the only thing that a peer can find (fuzzing.md F2): a changed field reaches the API's handler, and
a changed record passes the CRC of its batch. What cannot be opened is returned as it was.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from typing import Any

from touchstone.fuzz.mutators import frame
from touchstone.fuzz.segments import frames_in
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import decode_request, encode_request
from touchstone.reference_impl.wire.records import compress, entries
from touchstone.reference_impl.wire.records.batch import BatchHeader, payload_of, read_header
from touchstone.reference_impl.wire.schema import Field, Struct, fields_of

MAGIC_OF_BATCHES = 2
WIDTHS = {"int8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32, "int64": 64}
MOST_BYTES = 1 << 20  # of decompressed records

# Where a value stands: what holds it, under which name or index, and the row of the schema.
Place = tuple[Struct | list[Any], Any, Field]
ChangeBatch = Callable[[BatchHeader, bytes, random.Random], bytes]


def within_body(wire: bytes, change: Callable[[int, int, Struct], object]) -> bytes:
    """The frame after `change` (key, version, body) has changed the decoded body in place."""
    frames, whole = frames_in(wire)
    if not whole or len(frames) != 1:
        return wire
    try:
        request = decode_request(frames[0])
        header, body = request.header, request.body
        change(header.key, header.version, body)
        changed = encode_request(
            header.key, header.version, header.correlation_id, header.client_id, body,
            tags=header.tags,
        )  # fmt: skip
    except (ValueError, struct.error):
        return wire
    return frame(changed + frames[0][request.end :])


def places(key: int, version: int, body: Struct) -> list[Place]:
    """Every value of a body: structs, arrays, their elements and the fields within."""
    return list(_places(API[key].request.fields, version, body))


def _places(
    rows: tuple[Field, ...] | list[Field], version: int, struct_: Struct
) -> Iterator[Place]:
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
    """The integers at which a decoder of this type, or whoever counts with it, may trip."""
    bits = WIDTHS[type_]
    low, high = (0, 2**bits - 1) if type_[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    near = {low, low + 1, -2, -1, 0, 1, 2, 2**7, 2**15, 2**31 - 1, 2**31, 2**62, high - 1, high}
    return sorted(edge for edge in near if low <= edge <= high)


def is_scalar(place: Place) -> bool:
    """Whether it is a value of a primitive type; records are a layer of their own."""
    holder, _, row = place
    stands = row.element if isinstance(holder, list) else row.type
    return stands not in ("struct", "records") and not stands.startswith("[]")


def is_array(place: Place) -> bool:
    holder, name, row = place
    return row.is_array and isinstance(holder, dict) and isinstance(holder.get(name), list)


def within_batch(wire: bytes, draw: random.Random, change: ChangeBatch) -> bytes:
    """The frame with one record batch (magic 2) of it changed: `change` gets its header and its
    payload as it is stored, and returns the whole batch.
    """

    def open_records(key: int, version: int, body: Struct) -> None:
        held = [
            (holder, name)
            for holder, name, row in places(key, version, body)
            if row.type == "records" and holder[name]
        ]
        if not held:
            return
        holder, name = draw.choice(held)
        buf = bytes(holder[name])
        whole = [(at, size) for at, size, magic in entries(buf) if magic == MAGIC_OF_BATCHES]
        if whole:
            pos, size = draw.choice(whole)
            header = read_header(buf, pos)
            fresh = change(header, payload_of(buf, pos, header, MOST_BYTES), draw)
            holder[name] = buf[:pos] + fresh + buf[pos + size :]

    return within_body(wire, open_records)


def stored(header: BatchHeader, payload: bytes) -> bytes:
    """A batch of these records, compressed as its header says, with the right length and CRC."""
    return header.encode(compress(header.compression, payload))
