"""The door between messages and bytes: encode, decode, and how both complain.

A message is a plain dict. `encode` and `decode` run straight-line functions that `compiler` writes
for one (schema, version) at first use. Those do no bookkeeping: when anything at all goes wrong in
them, the same work is done again by `interpreter`, which either succeeds (a missing key that has a
default, a string that is not UTF-8) or knows the exact offset and field path to blame.

What decode accepts is what Kafka's generated readers accept, so that a broker built on it fails
where Kafka fails; what a well-behaved peer sends survives `encode(decode(bytes))` byte for byte:
odd booleans, strings that are not UTF-8, unknown tagged fields, and known tagged fields that were
sent although they hold their default (their bytes stay under "_tags" and are sent again while the
field still holds the default). Kafka itself never sends those; kio and hand-written peers do.
What does not survive is what no version of Kafka emits: varints longer than needed, null written
as a length below -1, tags out of order or twice, a tag whose size disagrees with its field, the
byte before a nullable struct. So `encode(decode(b)) != b` is a finding, never an accident.

Sources: ByteUtils, ByteBufferAccessor and generator/MessageDataGenerator at 2.8.2 and 4.3.1,
KIP-482 (flexible versions), KIP-893 (nullable structs).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from .compiler import compile_decoder, compile_encoder
from .interpreter import (
    DecodeError,
    EncodeError,
    TooLargeError,
    interpret_decode,
    interpret_encode,
)
from .schema import Message

__all__ = ["DecodeError", "EncodeError", "decode", "encode", "encode_parts"]


def encode(schema: Message, version: int, value: dict[str, Any]) -> bytes:
    """The bytes of `value` in this version. Missing keys take the schema's default."""
    return b"".join(encode_parts(schema, version, value))


def encode_parts(schema: Message, version: int, value: dict[str, Any]) -> list[bytes]:
    """The same before it is joined: large values stand there uncopied, for writers that gather."""
    compiled = schema.encoders.get((version, False)) or _encoder(schema, version, False)
    try:
        return compiled(value)
    except TooLargeError:  # so it is in any manner of writing
        raise
    except KeyError:
        lenient = True
    except Exception:
        lenient = False
    if lenient:
        with suppress(Exception):
            return _encoder(schema, version, True)(value)
    return [interpret_encode(schema, version, value)]  # names the place, or copes


def _encoder(
    schema: Message, version: int, lenient: bool
) -> Callable[[dict[str, Any]], list[bytes]]:
    compiled = schema.encoders.get((version, lenient))
    if compiled is None:
        compiled = compile_encoder(schema, _known(schema, version), lenient=lenient)
        schema.encoders[version, lenient] = compiled
    return compiled


def decode(
    schema: Message, version: int, data: bytes, start: int = 0, *, fill: bool = False
) -> tuple[dict[str, Any], int]:
    """(message, end). `fill` adds the fields of other versions, holding their defaults."""
    compiled = schema.decoders.get((version, fill))
    if compiled is None:
        compiled = compile_decoder(schema, _known(schema, version), fill=fill)
        schema.decoders[version, fill] = compiled
    if type(data) is not bytes:
        data = bytes(data)
    try:  # `suppress` would cost a tenth of the whole
        return compiled(data, start)
    except Exception:
        pass
    return interpret_decode(schema, version, data, start, fill=fill)  # names the place, or copes


def _known(schema: Message, version: int) -> int:
    if not schema.has(version):
        raise ValueError(f"{schema.name} has versions {schema.versions}, not {version}")
    return version
