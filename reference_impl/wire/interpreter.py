"""The slow codec: one field at a time, always knowing where it stands.

It is the definition that the compiled functions are tested against, and the one that speaks when
they fail: every error carries the offset in the buffer and the path of the field. It allocates
only what the bytes present can justify: a length is compared with the bytes that remain before
anything of that size exists, and an array never has more elements than bytes remain, which is
Kafka's own bound (its generated readers refuse a larger one).

Java's reading is followed where it surprises: a negative length means null wherever null is
allowed; any non-negative byte before a nullable struct means "present"; a tag's size is not
compared with what its field takes; five bytes is the longest varint and its upper bits fall off.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from .schema import FIXED, Field, Message, fields_of, tagged, untagged

PACKERS = {name: struct.Struct(">" + code) for name, code in FIXED.items()}
LONGEST_STRING = 0x7FFF
MOST_PARTS = 1 << 22
"""Of a message while it is written: values, or runs of small ones, some 50 bytes of memory each.

A few bytes of a request can name again and again what takes many to describe. Looked at when an
array within an array begins: what stands in one array alone is as long as what was asked.
"""


class DecodeError(ValueError):
    """Bytes that are not such a message: where, in which field, and why."""

    def __init__(self, offset: int, path: str, reason: str) -> None:
        super().__init__(f"{path or 'message'} at offset {offset}: {reason}")
        self.offset = offset
        self.path = path
        self.reason = reason


class EncodeError(ValueError):
    """A value that has no bytes in this version: in which field, and why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path or 'message'}: {reason}")
        self.path = path
        self.reason = reason


class TooLargeError(EncodeError):
    """A message of more parts or bytes than are written: see MOST_PARTS."""

    def __init__(self) -> None:
        super().__init__("", "too large to be written")


def unsigned_varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """(value, end) of an unsigned varint, as an int32 like Java's; IndexError when cut short."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
        if shift > 28:
            raise OverflowError("a varint of more than five bytes")
    value &= 0xFFFFFFFF
    return (value - (1 << 32) if value >> 31 else value), at


def read_length(data: bytes, at: int) -> tuple[int, int]:
    """A length plus one; the lowest int32 is taken one below itself, where Java's int wraps."""
    value, at = read_varint(data, at)
    return (1 << 31 if value == -(1 << 31) else value), at


# ---- decode ----------------------------------------------------------------------------------


class Reader:
    """A position in a buffer that knows the name of what it reads."""

    def __init__(self, data: bytes, at: int, flexible: bool) -> None:
        self.data = data
        self.at = at
        self.flexible = flexible
        self.path = ""

    def fail(self, reason: str, at: int | None = None) -> DecodeError:
        return DecodeError(self.at if at is None else at, self.path, reason)

    def take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise self.fail(f"{size} bytes wanted, {max(0, len(self.data) - self.at)} remain")
        piece = self.data[self.at : self.at + size]
        self.at += size
        return piece

    def fixed(self, kind: str) -> Any:
        packer = PACKERS[kind]
        value = packer.unpack(self.take(packer.size))[0]
        return bool(value) if kind == "bool" and value < 2 else value

    def varint(self, read: Callable[[bytes, int], tuple[int, int]] = read_varint) -> int:
        try:
            value, self.at = read(self.data, self.at)
        except IndexError:
            raise self.fail("a varint that the end cuts off") from None
        except OverflowError as error:
            raise self.fail(str(error)) from None
        return value

    def length(self, kind: str) -> int:
        """The length before a string, bytes or array; -1 is null. It is checked by the caller."""
        if self.flexible:
            return self.varint(read_length) - 1
        return self.fixed("int16" if kind == "string" else "int32")


def interpret_decode(
    schema: Message, version: int, data: bytes, start: int, *, fill: bool
) -> tuple[dict[str, Any], int]:
    reader = Reader(data, start, schema.is_flexible(version))
    return walk(reader, schema, version, fill=fill), reader.at


def walk(reader: Reader, schema: Message, version: int, *, fill: bool = False) -> dict[str, Any]:
    """Decode with a reader of one's own, which sees every field's path and position."""
    return _read_struct(reader, schema.fields, version, fill)


def _read_struct(reader: Reader, fields: Any, version: int, fill: bool) -> dict[str, Any]:
    here = reader.path
    value: dict[str, Any] = {}
    for row in untagged(fields, version):
        reader.path = f"{here}.{row.name}" if here else row.name
        value[row.name] = _read_field(reader, row, version, fill)
    reader.path = here
    for row in fields if fill else tagged(fields, version):
        if row.name not in value:
            value[row.name] = row.default_value(None if fill else version)
    if reader.flexible:
        read_tags(reader, value, fields, version, fill)
    return value


def read_tags(reader: Reader, value: dict[str, Any], fields: Any, version: int, fill: bool) -> None:
    here = reader.path
    known = {row.tag: row for row in tagged(fields, version)}
    kept: dict[int, bytes] = {}
    reader.path = f"{here}._tags" if here else "_tags"
    mine = reader.path
    for _ in range(max(0, reader.varint())):
        reader.path = mine
        tag, size = reader.varint(), reader.varint()
        row = known.get(tag)
        if row is None:
            reader.path = f"{mine}[{tag}]"
            if size < 0:
                raise reader.fail(f"a size of {size}")
            kept[tag] = reader.take(size)
            continue
        reader.path = f"{here}.{row.name}" if here else row.name
        begin = reader.at
        if _is_optional(row, version):
            there = reader.varint() > 0
            value[row.name] = _read_struct(reader, row.fields, version, fill) if there else None
        else:
            value[row.name] = _read_field(reader, row, version, fill)
        kept.pop(tag, None)
        if is_default(row, version, value[row.name]):
            kept[tag] = reader.data[begin : reader.at]
    reader.path = here
    if kept:
        value["_tags"] = kept


def _is_optional(row: Field, version: int) -> bool:
    """A struct in a tag that may be null: a varint is before it, not the int8 of other places."""
    return row.type == "struct" and row.is_nullable(version)


def is_default(row: Field, version: int, value: Any) -> bool:
    """Whether Kafka would leave this tagged field out."""
    default = row.default_value()
    if row.element == "struct" and not row.is_array and isinstance(value, dict):
        if default is None:
            return False
        names = {child.name for child in fields_of(row.fields, version)}
        return "_tags" not in value and all(
            value[name] == default[name] for name in names if name in value
        )
    return bool(value == default)


def _read_field(reader: Reader, row: Field, version: int, fill: bool) -> Any:
    if not row.is_array:
        return _read_one(reader, row, row.type, version, fill)
    at = reader.at
    count = reader.length("array")
    if count < 0:
        return _null(reader, row, version, count, at)
    remain = len(reader.data) - reader.at
    if count > remain:
        raise reader.fail(f"an array of {count} elements, but {remain} bytes remain", at)
    here = reader.path
    values = []
    for index in range(count):
        reader.path = f"{here}[{index}]"
        values.append(_read_one(reader, row, row.element, version, fill))
    reader.path = here
    return values


def _read_one(reader: Reader, row: Field, kind: str, version: int, fill: bool) -> Any:
    nullable = not row.is_array and row.is_nullable(version)
    if kind == "struct":
        if nullable and reader.fixed("int8") < 0:
            return None
        return _read_struct(reader, row.fields, version, fill)
    if kind in PACKERS:
        return reader.fixed(kind)
    at = reader.at
    size = reader.length(kind)
    if size < 0:
        return _null(reader, row, version, size, at)
    if kind == "string":
        if size > LONGEST_STRING:
            raise reader.fail(f"a string of {size} bytes, more than {LONGEST_STRING}", at)
        return reader.take(size).decode("utf-8", "surrogateescape")
    return reader.take(size)


def _null(reader: Reader, row: Field, version: int, length: int, at: int) -> None:
    inside = reader.path.endswith("]") and row.is_array  # an element is never null
    if inside or not row.is_nullable(version):
        raise reader.fail(f"a length of {length} where null is not allowed", at)


# ---- encode ----------------------------------------------------------------------------------


def interpret_encode(schema: Message, version: int, value: Any) -> bytes:
    out: list[bytes] = []
    _write_struct(out, schema.fields, version, schema.is_flexible(version), value, "")
    return b"".join(out)


def _write_struct(
    out: list[Any], fields: Any, version: int, flexible: bool, value: Any, path: str
) -> None:
    if not isinstance(value, dict):
        raise EncodeError(path, f"a dict wanted, got {type(value).__name__}")
    strange = value.keys() - {row.name for row in fields} - {"_tags"}
    if strange:
        names = ", ".join(sorted(map(str, strange)))
        raise EncodeError(path, f"no version has a field {names}")
    for row in untagged(fields, version):
        item = value[row.name] if row.name in value else row.default_value()
        _write_field(out, row, version, flexible, item, f"{path}.{row.name}" if path else row.name)
    if flexible:
        write_tags(out, tagged(fields, version), version, value, path)


def write_tags(
    out: list[Any], rows: list[Field], version: int, value: dict[str, Any], path: str
) -> None:
    """`rows` are the tagged ones of this version."""
    sections = dict(value.get("_tags") or {})
    for row in rows:
        item = value[row.name] if row.name in value else row.default_value()
        if is_default(row, version, item):
            continue
        piece: list[bytes] = []
        here = f"{path}.{row.name}" if path else row.name
        if item is None and _is_optional(row, version):
            piece.append(b"\0")
        else:
            _write_field(piece, row, version, True, item, here)
        sections[row.tag] = b"".join(piece)
    out.append(unsigned_varint(len(sections)))
    for tag, content in sorted(sections.items()):
        if not isinstance(content, bytes | bytearray | memoryview):
            raise EncodeError(f"{path}._tags" if path else "_tags", f"tag {tag} holds no bytes")
        out += (unsigned_varint(tag & 0xFFFFFFFF), unsigned_varint(len(content)), bytes(content))


def _write_length(out: list[Any], kind: str, flexible: bool, size: int, path: str) -> None:
    if kind == "string" and size > LONGEST_STRING:
        raise EncodeError(path, f"a string of {size} bytes, more than {LONGEST_STRING}")
    if flexible:
        out.append(unsigned_varint(size + 1))
    else:
        out.append(PACKERS["int16" if kind == "string" else "int32"].pack(size))


def _write_field(
    out: list[Any], row: Field, version: int, flexible: bool, value: Any, path: str
) -> None:
    if not row.is_array:
        nullable = row.is_nullable(version)
        _write_one(out, row, row.type, version, flexible, value, path, nullable=nullable)
        return
    if value is None:
        if not row.is_nullable(version):
            raise EncodeError(path, "null is not allowed")
        _write_length(out, "array", flexible, -1, path)
        return
    if not isinstance(value, list | tuple):
        raise EncodeError(path, f"a list wanted, got {type(value).__name__}")
    _write_length(out, "array", flexible, len(value), path)
    if len(out) > MOST_PARTS:
        raise TooLargeError
    for index, item in enumerate(value):
        here = f"{path}[{index}]"
        _write_one(out, row, row.element, version, flexible, item, here, nullable=False)


def _write_one(
    out: list[Any],
    row: Field,
    kind: str,
    version: int,
    flexible: bool,
    value: Any,
    path: str,
    *,
    nullable: bool,
) -> None:
    if kind == "struct":
        if value is None and nullable:
            out.append(b"\xff")
            return
        if nullable:
            out.append(b"\x01")
        _write_struct(out, row.fields, version, flexible, value, path)
    elif kind in PACKERS:
        out.append(_pack(kind, value, path))
    elif value is None:
        if not nullable:
            raise EncodeError(path, "null is not allowed")
        _write_length(out, kind, flexible, -1, path)
    else:
        content = _content(kind, value, path)
        _write_length(out, kind, flexible, len(content), path)
        out.append(content)


def _pack(kind: str, value: Any, path: str) -> bytes:
    if kind == "uuid" and (not isinstance(value, bytes) or len(value) != 16):
        raise EncodeError(path, "16 bytes wanted")
    try:
        return PACKERS[kind].pack(value)
    except (struct.error, TypeError, OverflowError) as error:
        raise EncodeError(path, f"{value!r} is no {kind}: {error}") from None


def _content(kind: str, value: Any, path: str) -> bytes:
    if kind == "string":
        if not isinstance(value, str):
            raise EncodeError(path, f"a str wanted, got {type(value).__name__}")
        try:
            return value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise EncodeError(path, f"no bytes for {error.object[error.start]!r}") from None
    if not isinstance(value, bytes | bytearray | memoryview):
        raise EncodeError(path, f"bytes wanted, got {type(value).__name__}")
    return bytes(value)
