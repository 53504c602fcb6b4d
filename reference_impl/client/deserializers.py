"""From fetched bytes to an application's keys and values.

A deserializer is one of Kafka's (by its Java name or its class here), a Python type that stands for
one (`bytes`, `str`, `int`), an object with `deserialize`, or any function of the bytes. Null stays
None and is not shown to it, as in CompletedFetch.parseRecord at 4.3.1.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Protocol
from uuid import UUID

from touchstone.reference_impl.wire.records.batch import Header

from .configs.parsing import register_class
from .flow import ClientError, TopicPartition, named
from .reading import Consumed


class RecordDeserializationError(ClientError):
    """A key or value is not what its deserializer takes.

    The position stays at its record (CONS-38); seek past `offset` to go on.
    """

    def __init__(self, place: TopicPartition, offset: int, part: str, cause: Exception):
        self.place, self.offset = place, offset
        super().__init__(f"{part} of {named(place)} at offset {offset}: {cause}")


class Deserializer(Protocol):
    def deserialize(self, topic: str, headers: tuple[Header, ...], data: bytes) -> Any:
        """What the application sees; any exception is a RecordDeserializationError."""


class _Function:
    def __init__(self, call: Callable[[bytes], Any]):
        self._call = call

    def deserialize(self, topic: str, headers: tuple[Header, ...], data: bytes) -> Any:
        return self._call(data)


def _unpacked(form: str) -> Callable[[bytes], Any]:
    """A number of Java's, big-endian; another count of bytes is an error (struct.error)."""
    return lambda data: struct.unpack(form, data)[0]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")  # as Java's String does with what is not UTF-8


_FUNCTIONS: dict[str, Callable[[bytes], Any]] = {
    "ByteArrayDeserializer": bytes,
    "ByteBufferDeserializer": bytes,
    "BytesDeserializer": bytes,
    "StringDeserializer": _text,
    "IntegerDeserializer": _unpacked(">i"),
    "ShortDeserializer": _unpacked(">h"),
    "LongDeserializer": _unpacked(">q"),
    "FloatDeserializer": _unpacked(">f"),
    "DoubleDeserializer": _unpacked(">d"),
    "BooleanDeserializer": _unpacked(">?"),
    "UUIDDeserializer": lambda data: UUID(_text(data)),
    "VoidDeserializer": lambda data: None,
}
_PACKAGE = "org.apache.kafka.common.serialization."
_TYPES: dict[Any, Callable[[bytes], Any]] = {
    bytes: bytes,
    str: _text,
    int: _FUNCTIONS["LongDeserializer"],
}
for _name, _call in _FUNCTIONS.items():
    register_class(_PACKAGE + _name, _call)


def deserializer(given: Any) -> Deserializer | None:
    """The deserializer that is meant; None (or `bytes`) leaves bytes as they are."""
    if given is None or given is bytes:
        return None
    if given in _TYPES:
        return _Function(_TYPES[given])
    made = given() if isinstance(given, type) else given
    if hasattr(made, "deserialize"):
        return made
    if not callable(made):
        raise ClientError(f"{given!r} does not deserialize")
    return _Function(made)


class Deserializers:
    """Those of keys and of values, applied as records are handed out."""

    def __init__(self, key: Any = None, value: Any = None):
        self._key, self._value = deserializer(key), deserializer(value)

    def shown(
        self, place: TopicPartition, records: list[Consumed]
    ) -> tuple[list[Consumed], RecordDeserializationError | None]:
        """The records before the first that does not deserialize, and that one's error."""
        if self._key is None and self._value is None:
            return records, None
        out: list[Consumed] = []
        for record in records:
            part = "key"
            try:
                key = _read(self._key, record, record.key)
                part = "value"
                value = _read(self._value, record, record.value)
            except Exception as fault:
                error = RecordDeserializationError(place, record.offset, part, fault)
                error.__cause__ = fault
                return out, error
            out.append(record._replace(key=key, value=value))
        return out, None


def _read(one: Deserializer | None, record: Consumed, data: bytes | None) -> Any:
    if one is None or data is None:
        return data
    return one.deserialize(record.topic, record.headers, data)
