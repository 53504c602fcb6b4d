"""Message sets, magic 0 (0.8) and 1 (timestamps, KIP-31, KIP-32, 0.10), and their wrappers.

A message set is messages one after another, each with its offset and size in front. A compressed
one is a single message, the wrapper, whose value is a message set again. In magic 1 the inner
offsets count from 0 and the wrapper's offset is that of its last message; in magic 0 inner offsets
are absolute. Nothing nests deeper. `decode_message` keeps what was there, so `Message.encode()`
gives the same bytes; meaning (absolute offsets, effective timestamps) is `unwrap`'s.

Sources: LegacyRecord and AbstractLegacyRecordBatch at 1.0.2, 2.2.1, 2.8.2, 3.9. Brokers from 4.0 on
refuse these formats in Produce and never answer with them (KIP-896).
"""

from collections.abc import Iterator, Sequence
from struct import Struct
from typing import NamedTuple

from . import compression as codecs
from .batch import CODEC_MASK, CREATE_TIME, DEFAULT_LIMIT, LOG_APPEND_TIME, TIMESTAMP_TYPE
from .crc import crc32
from .errors import LengthError, PayloadError, RecordError

_FRONT = Struct(">qi")
_HEAD = {0: Struct(">IbB"), 1: Struct(">IbBq")}
_I32 = Struct(">i")
LOG_OVERHEAD = _FRONT.size
MAGIC_AT, CRC_AT, ATTRIBUTES_AT, TIMESTAMP_AT = 16, 12, 17, 18
OVERHEAD = {0: 14, 1: 22}
NO_TIMESTAMP = -1


class Message(NamedTuple):
    """One message as it lies in the set; a wrapper is a message with a codec in its attributes."""

    offset: int
    magic: int
    attributes: int
    timestamp: int  # -1 in magic 0, which has none
    key: bytes | None
    value: bytes | None
    crc: int | None = None  # None: whatever is right

    @property
    def compression(self) -> int:
        return self.attributes & CODEC_MASK

    @property
    def timestamp_type(self) -> int:
        return LOG_APPEND_TIME if self.magic and self.attributes & TIMESTAMP_TYPE else CREATE_TIME

    def encode(self) -> bytes:
        stamp = b"" if not self.magic else self.timestamp.to_bytes(8, "big", signed=True)
        covered = bytes((self.magic, self.attributes)) + stamp + _part(self.key) + _part(self.value)
        crc = crc32(covered) if self.crc is None else self.crc
        return _FRONT.pack(self.offset, 4 + len(covered)) + crc.to_bytes(4, "big") + covered


def _part(data: bytes | None) -> bytes:
    return b"\xff\xff\xff\xff" if data is None else _I32.pack(len(data)) + data


def check_crc(buf: bytes, pos: int, size: int) -> None:
    """RecordError unless the message's stored CRC-32 is that of the bytes it covers."""
    stored = int.from_bytes(buf[pos + CRC_AT : pos + MAGIC_AT], "big")
    computed = crc32(memoryview(buf)[pos + MAGIC_AT : pos + size])
    if stored != computed:
        reason = f"Record is corrupt (stored crc = {stored}, computed crc = {computed})"
        raise RecordError(pos + CRC_AT, reason, corrupt=True)


def check_inner_crcs(wrapper: Message, *, limit: int = DEFAULT_LIMIT) -> None:
    """RecordError unless each message in a wrapper has the right CRC, which that of the wrapper
    does not show (KAFKA-8722). A message that is no wrapper holds none.
    """
    if wrapper.compression == codecs.NONE:
        return
    data = codecs.decompress(wrapper.compression, wrapper.value or b"", limit, magic=wrapper.magic)
    pos = 0
    for _ in _inner(data, strict=False):
        size = LOG_OVERHEAD + _FRONT.unpack_from(data, pos)[1]
        check_crc(data, pos, size)
        pos += size


def decode_message(
    buf: bytes | bytearray, pos: int = 0, *, strict: bool = True
) -> tuple[Message, int]:
    """The message at `pos` and where it ends. Strict: encoding it gives the same bytes.

    Kafka reads key and value by their sizes and ignores what follows them inside the message, and
    takes any negative size for null; strict refuses both.
    """
    if len(buf) - pos < LOG_OVERHEAD:
        raise RecordError(pos, f"{len(buf) - pos} bytes are left, offset and size need 12")
    offset, size = _FRONT.unpack_from(buf, pos)
    if size < OVERHEAD[0]:
        reason = f"Record size {size} is less than the minimum record overhead ({OVERHEAD[0]})"
        raise RecordError(pos + 8, reason, corrupt=True)
    end = pos + LOG_OVERHEAD + size
    if end > len(buf):
        raise RecordError(pos + 8, f"message of {size} bytes, {len(buf) - pos - 12} are left")
    magic = buf[pos + MAGIC_AT]
    head = _HEAD.get(magic)
    if head is None:
        raise RecordError(pos + MAGIC_AT, f"Invalid magic found in record: {magic}", corrupt=True)
    if size < OVERHEAD[magic]:
        reason = f"a message of magic {magic} has at least {OVERHEAD[magic]} bytes, not {size}"
        raise RecordError(pos + 8, reason, corrupt=True)
    crc, _, attributes, *stamp = head.unpack_from(buf, pos + LOG_OVERHEAD)
    at = pos + LOG_OVERHEAD + head.size
    key, at = _read_part(buf, at, end, "key", strict)
    value, at = _read_part(buf, at, end, "value", strict)
    if strict and at != end:
        raise RecordError(at, f"{end - at} bytes after the value")
    timestamp = stamp[0] if stamp else NO_TIMESTAMP
    return Message(offset, magic, attributes, timestamp, key, value, crc), end


def _read_part(
    buf: bytes | bytearray, pos: int, end: int, what: str, strict: bool
) -> tuple[bytes | None, int]:
    if end - pos < 4:
        raise RecordError(pos, f"the {what} has no size")
    (size,) = _I32.unpack_from(buf, pos)
    start = pos + 4
    if size < 0:
        if strict and size != -1:
            raise RecordError(pos, f"a null {what} has size -1, not {size}")
        return None, start
    if size > end - start:
        raise LengthError(pos, f"{what} of {size} bytes, {end - start} are left")
    return bytes(buf[start : start + size]), start + size


def unwrap(wrapper: Message, *, limit: int = DEFAULT_LIMIT, strict: bool = False) -> list[Message]:
    """What a consumer sees of a message: itself, or what the wrapper holds, with absolute offsets.

    Inner messages of magic 1 take the wrapper's timestamp when that is LogAppendTime. A wrapper
    whose offset is 0 has inner offsets taken as they are: producers of old librdkafka left it so.
    """
    if wrapper.compression == codecs.NONE:
        return [wrapper]
    if wrapper.value is None:
        reason = f"Found invalid compressed record set with null value (magic = {wrapper.magic})"
        raise RecordError(0, reason)
    if wrapper.compression == codecs.ZSTD:
        reason = (
            f"Invalid wrapper compressionType found in legacy deep record iterator {wrapper.magic}"
        )
        raise RecordError(0, reason)
    try:
        data = codecs.decompress(wrapper.compression, wrapper.value, limit, magic=wrapper.magic)
    except codecs.CompressionError as fault:
        raise PayloadError(0, str(fault)) from None
    inner = list(_inner(data, strict))
    if not inner:
        raise RecordError(0, "Found invalid compressed record set with no inner records")
    base = 0
    if wrapper.magic and wrapper.offset:
        base = wrapper.offset - inner[-1].offset
        if base < 0:
            raise RecordError(
                0,
                "Found invalid wrapper offset in compressed v1 message set, wrapper offset"
                f" '{wrapper.offset}' is less than the last inner message offset"
                f" '{inner[-1].offset}' and it is not zero.",
            )
    return [_seen(message, wrapper, base) for message in inner]


def _inner(data: bytes, strict: bool) -> Iterator[Message]:
    """Messages of a decompressed set; Kafka stops silently at one that is cut short."""
    pos = 0
    while len(data) - pos >= LOG_OVERHEAD:
        size = _FRONT.unpack_from(data, pos)[1]
        if size >= OVERHEAD[0] and len(data) - pos - LOG_OVERHEAD < size and not strict:
            return
        message, pos = decode_message(data, pos, strict=strict)
        if message.compression:
            raise RecordError(pos, "Inner messages must not be compressed")
        yield message
    if strict and pos != len(data):
        raise RecordError(pos, f"{len(data) - pos} bytes after the last inner message")


def _seen(message: Message, wrapper: Message, base: int) -> Message:
    if not message.magic:
        return message._replace(offset=message.offset + base)
    kind = wrapper.attributes & TIMESTAMP_TYPE
    return message._replace(
        offset=message.offset + base,
        attributes=message.attributes & ~TIMESTAMP_TYPE | kind,
        timestamp=wrapper.timestamp if kind else message.timestamp,
    )


def encode_set(
    messages: Sequence[Message],
    *,
    compression: int = codecs.NONE,
    log_append_time: int | None = None,
) -> bytes:
    """Messages (of one magic, with absolute offsets) as a set, wrapped if compressed.

    With `log_append_time` every message says LogAppendTime and has that timestamp, the inner ones
    of a wrapper too, as MemoryRecordsBuilder writes them.
    """
    if log_append_time is not None and messages and messages[0].magic:
        messages = [
            m._replace(
                attributes=m.attributes | TIMESTAMP_TYPE, timestamp=log_append_time, crc=None
            )
            for m in messages
        ]
    if compression == codecs.NONE:
        return b"".join(m.encode() for m in messages)
    magic, base, last = messages[0].magic, messages[0].offset, messages[-1].offset
    shift = base if magic else 0
    inner = b"".join(m._replace(offset=m.offset - shift).encode() for m in messages)
    newest = max(m.timestamp for m in messages) if log_append_time is None else log_append_time
    attributes = compression | (TIMESTAMP_TYPE if magic and log_append_time is not None else 0)
    value = codecs.compress(compression, inner, magic=magic)
    return Message(last, magic, attributes, newest if magic else -1, None, value).encode()
