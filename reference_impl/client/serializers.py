"""From an application's keys and values to bytes.

A serializer is one of Kafka's (by its Java name or its class here), a Python type that stands for
one (`bytes`, `str`, `int`), an object with `serialize`, or any function of the value. One that is
made from a configuration is told of it (`configure`); one that is given as an object is not, and
wins over the configuration (PROD-05).

Sources: org.apache.kafka.common.serialization at 4.3.1; KafkaProducer.doSend for the message.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from touchstone.reference_impl.wire.records.batch import Header

from .configs.parsing import java_class, java_name, register_class
from .flow import ClientError


class SerializationError(ClientError):
    """A key or value is not what its serializer takes (PROD-19)."""


class Serializer(Protocol):
    def serialize(self, topic: str, headers: list[Header], data: Any) -> bytes | None:
        """The bytes of a key or value; headers may be added. Raises SerializationError."""


@dataclass(slots=True)
class Function:
    """Any function of the value; None stays None."""

    call: Callable[[Any], bytes | None]

    def serialize(self, topic: str, headers: list[Header], data: Any) -> bytes | None:
        return None if data is None else self.call(data)


class _Typed:
    takes: tuple[type, ...] = ()

    def configure(self, configs: Mapping[str, Any], is_key: bool) -> None:
        """Nothing to be told."""

    def serialize(self, topic: str, headers: list[Header], data: Any) -> bytes | None:
        if data is None:
            return None
        if not isinstance(data, self.takes) or isinstance(data, bool) and bool not in self.takes:
            raise TypeError(data)
        return self.encode(data)

    def encode(self, data: Any) -> bytes:
        raise NotImplementedError


class ByteArraySerializer(_Typed):
    takes = (bytes, bytearray, memoryview)

    def encode(self, data: Any) -> bytes:
        return bytes(data)


class StringSerializer(_Typed):
    """`key.serializer.encoding`, `value.serializer.encoding` or `serializer.encoding`, or UTF-8."""

    takes = (str,)
    encoding = "UTF8"

    def configure(self, configs: Mapping[str, Any], is_key: bool) -> None:
        own = configs.get(f"{'key' if is_key else 'value'}.serializer.encoding")
        self.encoding = own or configs.get("serializer.encoding") or self.encoding

    def encode(self, data: str) -> bytes:
        try:
            return data.encode(self.encoding)
        except LookupError:
            why = "Error when serializing string to byte[] due to unsupported encoding"
            raise SerializationError(f"{why} {self.encoding}") from None


class VoidSerializer(_Typed):
    def serialize(self, topic: str, headers: list[Header], data: Any) -> bytes | None:
        if data is not None:
            raise SerializationError("Data should be null for a VoidSerializer.")
        return None


class UUIDSerializer(_Typed):
    takes = (UUID,)

    def encode(self, data: UUID) -> bytes:
        return str(data).encode()


def _packed(name: str, form: str, *takes: type) -> type[_Typed]:
    """A serializer of numbers, big-endian, as Java's of that name."""

    def encode(self: _Typed, data: Any) -> bytes:
        try:
            return struct.pack(form, data)
        except struct.error as fault:
            raise SerializationError(f"{name}: {fault}") from None

    return type(name, (_Typed,), {"takes": takes, "encode": encode})


ShortSerializer = _packed("ShortSerializer", ">h", int)
IntegerSerializer = _packed("IntegerSerializer", ">i", int)
LongSerializer = _packed("LongSerializer", ">q", int)
FloatSerializer = _packed("FloatSerializer", ">f", float, int)
DoubleSerializer = _packed("DoubleSerializer", ">d", float, int)
BooleanSerializer = _packed("BooleanSerializer", ">?", bool)

_PACKAGE = "org.apache.kafka.common.serialization."
KAFKAS: tuple[type[_Typed], ...] = (
    ByteArraySerializer,
    StringSerializer,
    VoidSerializer,
    UUIDSerializer,
    ShortSerializer,
    IntegerSerializer,
    LongSerializer,
    FloatSerializer,
    DoubleSerializer,
    BooleanSerializer,
)
for _each in KAFKAS:
    register_class(_PACKAGE + _each.__name__, _each)
_STANDS_FOR: dict[type, type[_Typed]] = {
    bytes: ByteArraySerializer,
    str: StringSerializer,
    int: LongSerializer,
}


def serializer_of(given: Any, configs: Mapping[str, Any], *, is_key: bool) -> Serializer:
    """The serializer that `given` names. Classes are made here, and told of `configs`."""
    if given is None:
        given = bytes
    if isinstance(given, type):
        made = _STANDS_FOR.get(given, given)()
        if hasattr(made, "configure"):
            made.configure(configs, is_key)
        given = made
    if hasattr(given, "serialize"):
        found: Serializer = given
        return found
    return Function(given)


def serialize(
    serializer: Serializer, topic: str, headers: list[Header], data: Any, part: str
) -> bytes | None:
    """`part` is "key" or "value". A value of the wrong class is named in Java's words (PROD-19)."""
    try:
        return serializer.serialize(topic, headers, data)
    except (TypeError, AttributeError) as fault:
        ours, theirs = java_class(data), java_name(type(serializer))
        raise SerializationError(
            f"Can't convert {part} of class {ours} to class {theirs} specified in {part}.serializer"
        ) from fault
