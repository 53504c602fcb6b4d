"""How bodies lie, for `replay.py`: read by the shapes that a finding's file holds, with Python's
standard library alone.
"""

from __future__ import annotations

import re
import struct
from typing import Any

FIXED = {
    "bool": "B", "int8": "b", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "int64": "q", "float64": "d", "uuid": "16s",
}  # fmt: skip


BATCH = {  # fields of a record batch's header: offset, struct code
    "base_offset": (0, "q"), "partition_leader_epoch": (12, "i"), "attributes": (21, "h"),
    "last_offset_delta": (23, "i"), "base_timestamp": (27, "q"), "max_timestamp": (35, "q"),
    "producer_id": (43, "q"), "producer_epoch": (51, "h"), "base_sequence": (53, "i"),
    "records_count": (57, "i"),
}  # fmt: skip


class Unreadable(ValueError):
    """The bytes are no such body."""


def read_shape(text: str) -> Any:
    """A type: a primitive's name, {field: type}, [type], each in a pair with "may be null"."""
    words = re.findall(r"\w+|[()\[\]?]", text)
    shape = _fields(words)
    if words:
        raise ValueError(f"not the shape of a body, from {words[0]!r} on")
    return shape


def _fields(words: list[str]) -> dict[str, Any]:
    fields = {}
    while words and words[0] not in ")]":
        name = words.pop(0)
        fields[name] = _type(words)
    return fields


def _type(words: list[str]) -> tuple[Any, bool]:
    word = words.pop(0)
    kind: Any = word
    if word == "(":
        kind = _fields(words)
        words.pop(0)
    elif word == "[":
        kind = [_type(words)]
        words.pop(0)
    nullable = words[:1] == ["?"]
    if nullable:
        words.pop(0)
    return kind, nullable


class Body:
    """A body read from `at` on: `value` is what it holds, `spans` where each primitive lies."""

    def __init__(self, shape: str, data: bytes, at: int) -> None:
        self.data, self.at, self.compact = data, at, shape.startswith("~")
        self.spans: dict[str, tuple[int, int, str]] = {}
        self.value = self._struct(read_shape(shape), "")

    def _take(self, size: int) -> bytes:
        if not 0 <= size <= len(self.data) - self.at:
            raise Unreadable(f"{size} bytes at offset {self.at} of {len(self.data)}")
        self.at += size
        return self.data[self.at - size : self.at]

    def _number(self, code: str) -> Any:
        return struct.unpack(">" + code, self._take(struct.calcsize(">" + code)))[0]

    def _varint(self) -> int:
        value = 0
        for shift in (0, 7, 14, 21, 28):
            byte = self._take(1)[0]
            value |= (byte & 127) << shift
            if byte < 128:
                value &= 0xFFFFFFFF
                return value - (1 << 32) if value >> 31 else value
        raise Unreadable("a varint of more than five bytes")

    def _length(self, code: str, nullable: bool) -> int:
        length = self._varint() - 1 if self.compact else self._number(code)
        if length < 0 and not nullable:
            raise Unreadable(f"a length of {length} at offset {self.at}")
        return length

    def _struct(self, fields: dict[str, Any], path: str) -> dict[str, Any]:
        value = {
            name: self._one(type_, f"{path}.{name}" if path else name)
            for name, type_ in fields.items()
        }
        for _ in range(self._varint() if self.compact else 0):
            self._varint()
            self._take(self._varint())
        return value

    def _one(self, type_: tuple[Any, bool], path: str) -> Any:
        kind, nullable = type_
        start = self.at
        if isinstance(kind, dict):
            return None if nullable and self._number("b") < 0 else self._struct(kind, path)
        if isinstance(kind, list):
            count = self._length("i", nullable)
            if count > len(self.data) - self.at:
                raise Unreadable(f"an array of {count} elements at offset {start}")
            if count < 0:
                return None
            return [self._one(kind[0], f"{path}[{index}]") for index in range(count)]
        if kind in FIXED:
            value = self._number(FIXED[kind])
        else:
            length = self._length("h" if kind == "string" else "i", nullable)
            value = None if length < 0 else self._take(length)
            if kind == "string" and value is not None:
                value = value.decode("utf-8", "surrogateescape")
        self.spans[path] = (start, self.at, kind)
        return value

    def replaced(self, path: str, value: Any) -> bytes:
        """The data with another value of a primitive."""
        holder, _, field = path.rpartition(".")
        if path not in self.spans and field in BATCH:
            start, end, kind = self.spans[holder]
            at = end - len(get(self.value, holder))
            return self.data[:at] + with_field(self.data[at:end], field, value) + self.data[end:]
        start, end, kind = self.spans[path]
        return self.data[:start] + self._written(kind, value) + self.data[end:]

    def _written(self, kind: str, value: Any) -> bytes:
        if kind in FIXED:
            return struct.pack(">" + FIXED[kind], value)
        raw = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
        length = -1 if raw is None else len(raw)
        if not self.compact:
            return struct.pack(">h" if kind == "string" else ">i", length) + (raw or b"")
        length, head = length + 1, b""
        while length > 127:
            head, length = head + bytes([length & 127 | 128]), length >> 7
        return head + bytes([length]) + (raw or b"")


def with_field(batch: bytes, field: str, value: int) -> bytes:
    """A record batch with another field in its header, and the checksum that then is right."""
    at, code = BATCH[field]
    changed = bytearray(batch)
    struct.pack_into(">" + code, changed, at, value)
    end = 12 + struct.unpack_from(">i", batch, 8)[0]
    struct.pack_into(">I", changed, 17, crc32c(bytes(changed[21:end])))
    return bytes(changed)


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def get(value: Any, path: str) -> Any:
    """What stands at a path such as `topics[0].name`; LookupError."""
    for name, index in re.findall(r"(\w+)|\[(-?\d+)\]", path):
        value = value[name if name else int(index)]
    return value
