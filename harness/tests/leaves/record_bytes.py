"""Record bytes with one leaf changed: of batches, messages, records, headers, markers.

Whatever is changed is encoded again, compressed as it was, with the right CRC, so that nothing but
the leaf is another. Records of internal topics are changed field by field inside keys and values.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from touchstone.harness.tests.leaves import values
from touchstone.harness.tests.leaves.walk import at, leaves, spelled
from touchstone.reference_impl.wire import embedded
from touchstone.reference_impl.wire.interpreter import DecodeError
from touchstone.reference_impl.wire.records import batch as batches
from touchstone.reference_impl.wire.records import compression as codecs
from touchstone.reference_impl.wire.records import message_set
from touchstone.reference_impl.wire.records.errors import RecordError
from touchstone.reference_impl.wire.records.walk import entries
from touchstone.reference_impl.wire.schema import Field, Message

LIMIT = 64 << 20
OTHERS = "(of others)"  # in paths of what other cases left in the same place
GZIP = 1
_WIDTHS = {
    "base_offset": "int64", "partition_leader_epoch": "int32", "last_offset_delta": "int32",
    "base_timestamp": "int64", "max_timestamp": "int64", "producer_id": "int64",
    "producer_epoch": "int16", "base_sequence": "int32", "records_count": "int32",
}  # fmt: skip
_BITS = {
    3: "timestamp type", 4: "transactional", 5: "control", 6: "delete horizon", 7: "unknown bit",
}  # fmt: skip
_BYTES = Field("", "0+", "bytes", nullable="0+")
_TEXT = Field("", "0+", "string")
_MARKER = {"key.version": (0, 0), "key.type": (0, 1), "value.version": (1, 0),
           "value.coordinator_epoch": (1, 1)}  # fmt: skip


class Doctored(NamedTuple):
    """One change of record bytes; made when it is asked for."""

    path: str
    shape: str
    kind: str
    make: Callable[[], bytes]


def changes(
    data: bytes, clock_ms: int, names: tuple[str, ...], kinds: embedded.Records | None
) -> Iterator[Doctored]:
    """Each change of these bytes. `kinds`: the records of the internal topic they are of."""
    try:
        found = [(pos, size, magic) for pos, size, magic in entries(data)]
    except RecordError:
        return
    pieces = [data[pos : pos + size] for pos, size, _ in found]
    end = data[sum(map(len, pieces)) :]
    yield Doctored("", "bytes", "cut entry at the end", lambda: data + data[:20])
    if end:
        yield Doctored("", "bytes", "cut entry gone", lambda: b"".join(pieces))
    whose = {} if kinds is None else {"own": lambda piece: _has_own(piece, names, kinds)}
    for kind, new in values.array(pieces, **whose):
        yield Doctored("", "entries", kind, lambda new=new: b"".join((*new, end)))
    for index, (_, _, magic) in enumerate(found):
        one = _batch if magic == 2 else _message
        others = bool(whose) and not whose["own"](pieces[index])
        for path, shape, kind, make in one(pieces[index], clock_ms, names, kinds):
            if others:
                path, shape = f"{OTHERS}.{path}", "any"
            yield Doctored(
                path, shape, kind,
                lambda make=make, i=index: b"".join((*pieces[:i], make(), *pieces[i + 1 :], end)),
            )  # fmt: skip


# magic 2


def _batch(
    data: bytes, clock_ms: int, names: tuple[str, ...], kinds: embedded.Records | None
) -> Iterator[Doctored]:
    try:
        found = batches.decode_batch(data, strict=False, limit=LIMIT)
    except RecordError:
        return
    head, records = found.header, found.records
    yield from _header(head, records, clock_ms, names)
    wrong = head.crc ^ 1
    yield Doctored("batch.crc", "crc", "wrong", lambda: head.encode(found.payload, crc=wrong))
    if len(records) > 1:
        halves = records[:1], records[1:]
        deltas = [part[-1].offset_delta for part in halves]
        heads = [head._replace(last_offset_delta=delta, records_count=len(part))
                 for delta, part in zip(deltas, halves, strict=True)]  # fmt: skip
        yield Doctored("batch", "records", "split", lambda: b"".join(map(_sealed, heads, halves)))
    for kind, new in values.array(records):
        yield Doctored(
            "records", "array" if len(records) > 1 else "one element", kind,
            lambda new=new: _sealed(head._replace(records_count=len(new)), new),
        )  # fmt: skip
    for index, record in enumerate(records):
        others = kinds is not None and not head.control and not _own(record, names, kinds)
        for path, shape, kind, changed in _record(record, clock_ms, names, head.control, kinds):
            if others:
                path, shape = f"{OTHERS}.{path}", "any"
            yield Doctored(
                f"records.{path}", shape, kind,
                lambda i=index, changed=changed: _sealed(
                    head, [*records[:i], changed(), *records[i + 1 :]]
                ),
            )  # fmt: skip


def _sealed(header: batches.BatchHeader, records: Sequence[batches.Record]) -> bytes:
    """The batch of this header and these records, with the lengths and the CRC that are right."""
    payload = batches.encode_records(records)
    if header.compression:
        payload = codecs.compress(header.compression, payload)
    return header.encode(payload)


def _header(
    head: batches.BatchHeader, records: list[batches.Record], clock_ms: int, names: tuple[str, ...]
) -> Iterator[Doctored]:
    """Changes of a batch's header beside the same records."""
    for word, width in _WIDTHS.items():
        row, value = Field(word, "0+", width), getattr(head, word)
        for kind, new in values.changes(row, 0, value, []):

            def header(word: str = word, new: int = new, by: int = value - new) -> bytes:
                inner, changed = records, head._replace(**{word: new})
                if word == "base_timestamp":  # the records keep their times
                    deltas = [one.timestamp_delta + by for one in records]
                    inner = [one._replace(timestamp_delta=delta)
                             for one, delta in zip(records, deltas, strict=True)]  # fmt: skip
                return _sealed(changed, inner)

            yield Doctored(f"batch.{word}", values.shape(row, value, clock_ms, names), kind, header)
    for bit, word in _BITS.items():
        flags = head.attributes ^ (1 << bit)
        yield Doctored(
            "batch.attributes", "flags", word,
            lambda flags=flags: _sealed(head._replace(attributes=flags), records),
        )  # fmt: skip
    flags = head.attributes & ~7 | (0 if head.compression else GZIP)
    yield Doctored("batch.attributes", "codec" if head.compression else "no codec", "codec",
                   lambda: _sealed(head._replace(attributes=flags), records))  # fmt: skip
    if head.compression:  # by our codec, which is another than Kafka's
        yield Doctored("batch.payload", "codec", "compressed anew", lambda: _sealed(head, records))


def _has_own(data: bytes, names: tuple[str, ...], kinds: embedded.Records) -> bool:
    """Whether an entry of an internal topic has a record of this case; markers count as its own."""
    try:
        found = batches.decode_batch(data, strict=False, limit=LIMIT)
    except RecordError:
        return True
    return found.header.control or any(_own(record, names, kinds) for record in found.records)


def _own(record: batches.Record, names: tuple[str, ...], kinds: embedded.Records) -> bool:
    try:
        _, key = embedded.decode_key(kinds, record.key or b"")
    except DecodeError:
        return True
    return any(name in str(value) for name in names for value in key.values())


_Changed = tuple[str, str, str, Callable[[], batches.Record]]


def _record(
    record: batches.Record, clock_ms: int, names: tuple[str, ...], control: bool,
    kinds: embedded.Records | None,
) -> Iterator[_Changed]:  # fmt: skip
    yield "attributes", "zero", "+1", lambda: record._replace(attributes=record.attributes + 1)
    for word in ("timestamp_delta", "offset_delta"):
        for kind, by in (("+1", 1), ("-1", -1), ("far", 100_000)):
            new = getattr(record, word) + by
            yield word, "number", kind, lambda word=word, new=new: record._replace(**{word: new})
    for word in ("key", "value"):
        value = getattr(record, word)
        known = values.shape(_BYTES, value, clock_ms, names)
        for kind, new in values.changes(_BYTES, 0, value, []):
            yield word, known, kind, lambda word=word, new=new: record._replace(**{word: new})
    headers = list(record.headers)
    for kind, new in (*values.array(headers), ("stranger", [*headers, ("x", b"y")])):
        shape = "array" if len(headers) > 1 else "one element" if headers else "empty"
        yield "headers", shape, kind, lambda new=new: record._replace(headers=tuple(new))
    for index, (name, value) in enumerate(headers):
        row = _TEXT if isinstance(name, str) else _BYTES
        changed = [
            ("name", row, name, kind, (new, value))
            for kind, new in values.changes(row, 0, name, []) if new is not None
        ]  # fmt: skip
        changed += [
            ("value", _BYTES, value, kind, (name, new))
            for kind, new in values.changes(_BYTES, 0, value, [])
        ]  # fmt: skip
        for word, row, old, kind, header in changed:
            yield (
                f"headers.{word}",
                values.shape(row, old, clock_ms, names),
                kind,
                (
                    lambda i=index, header=header: record._replace(
                        headers=(*headers[:i], header, *headers[i + 1 :])
                    )
                ),
            )
    if control:
        yield from _marker(record)
    elif kinds is not None:
        yield from _opened(record, clock_ms, names, kinds)


def _marker(record: batches.Record) -> Iterator[_Changed]:
    """The fields of a marker that ends a transaction."""
    if len(record.key or b"") != 4 or len(record.value or b"") != 6:
        return
    parts = (list(struct.unpack(">hh", record.key)), list(struct.unpack(">hi", record.value)))
    for path, (part, field) in _MARKER.items():
        for kind, by in (("+1", 1), ("-1", -1)):
            new = [list(one) for one in parts]
            new[part][field] += by
            key, value = struct.pack(">hh", *new[0]), struct.pack(">hi", *new[1])
            yield (
                f"marker.{path}",
                "number",
                kind,
                (lambda key=key, value=value: record._replace(key=key, value=value)),
            )


def _opened(
    record: batches.Record, clock_ms: int, names: tuple[str, ...], kinds: embedded.Records
) -> Iterator[_Changed]:
    """The fields of a record of an internal topic."""
    try:
        kind, key = embedded.decode_key(kinds, record.key or b"")
        version, value = embedded.decode_value(kinds, kind, record.value or b"\xff\xff")
    except DecodeError:
        return
    schemas = kinds[kind]

    def written(word: str, body: dict[str, Any]) -> batches.Record:
        if word == "key":
            return record._replace(key=embedded.encode_key(kinds, kind, body))
        return record._replace(value=embedded.encode_value(kinds, kind, version, body))

    parts: tuple[tuple[str, Message, int, dict[str, Any]], ...] = (
        ("key", schemas[0], 0, key), ("value", schemas[1], version, value),
    )  # fmt: skip
    for word, schema, number, body in parts:
        for place, row, old in leaves(schema.fields, number, body):
            shape = values.shape(row, old, clock_ms, names)
            for change, new in values.changes(row, number, old, []):
                path = f"{word}.{schema.name}.{spelled(place)}"
                yield (
                    path,
                    shape,
                    change,
                    (lambda w=word, b=body, p=place, n=new: written(w, at(b, p, n))),
                )


# magic 0 and 1


def _message(
    data: bytes, clock_ms: int, names: tuple[str, ...], kinds: embedded.Records | None
) -> Iterator[Doctored]:
    try:
        head, _ = message_set.decode_message(data, strict=False)
        inner = message_set.unwrap(head, limit=LIMIT)
    except RecordError:
        return
    yield Doctored("message.crc", "crc", "wrong", head._replace(crc=(head.crc or 0) ^ 1).encode)
    if not head.compression:
        for path, shape, kind, changed in _fields(head, clock_ms, names):
            yield Doctored(f"message.{path}", shape, kind, lambda c=changed: c().encode())
        return
    for path, shape, kind, changed in _fields(head, clock_ms, names):
        if path not in ("key", "value"):
            yield Doctored(f"wrapper.{path}", shape, kind, lambda c=changed: c().encode())

    def wrapped(messages: Sequence[message_set.Message]) -> bytes:
        return message_set.encode_set(messages, compression=head.compression)

    yield Doctored("wrapper", "codec", "compressed anew", lambda: wrapped(inner))
    for kind, new in values.array(inner):
        if new:
            yield Doctored("inner", "array", kind, lambda new=new: wrapped(new))
    for index, message in enumerate(inner):
        for path, shape, kind, changed in _fields(message, clock_ms, names):
            yield Doctored(
                f"inner.{path}", shape, kind,
                lambda i=index, c=changed: wrapped([*inner[:i], c(), *inner[i + 1 :]]),
            )  # fmt: skip


def _fields(
    message: message_set.Message, clock_ms: int, names: tuple[str, ...]
) -> Iterator[tuple[str, str, str, Callable[[], message_set.Message]]]:
    plain = message._replace(crc=None)
    for word in ("offset", *(("timestamp",) if message.magic else ())):
        row, value = Field(word, "0+", "int64"), getattr(message, word)
        for kind, new in values.changes(row, 0, value, []):
            yield (
                word,
                values.shape(row, value, clock_ms, names),
                kind,
                (lambda word=word, new=new: plain._replace(**{word: new})),
            )
    for bit in (3, 4, 7):
        flags = message.attributes ^ (1 << bit)
        word = "timestamp type" if bit == 3 else "unknown bit"
        yield (
            "attributes",
            f"magic {message.magic}",
            word,
            (lambda flags=flags: plain._replace(attributes=flags)),
        )
    for word in ("key", "value"):
        value = getattr(message, word)
        for kind, new in values.changes(_BYTES, 0, value, []):
            yield (
                word,
                values.shape(_BYTES, value, clock_ms, names),
                kind,
                (lambda word=word, new=new: plain._replace(**{word: new})),
            )
