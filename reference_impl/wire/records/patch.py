"""Changes to stored bytes without decoding them: what a leader does to a batch it appends.

Offset and partition leader epoch lie before the checksum's reach; a timestamp does not, so
`set_timestamp` computes the CRC again. `buf` is a bytearray (or a writable memoryview) and `pos`
where the entry begins, as `entries` gives it.
"""

from struct import Struct

from . import batch, message_set
from .batch import CODEC_MASK, LOG_APPEND_TIME, TIMESTAMP_TYPE
from .crc import crc32, crc32c
from .errors import RecordError

_I64 = Struct(">q")
_I32 = Struct(">i")
_U32 = Struct(">I")
_I16 = Struct(">h")

Writable = bytearray | memoryview
_V2_ATTRIBUTES = 0x7F  # Kafka rebuilds the attributes from these bits when it sets a timestamp


def set_base_offset(buf: Writable, pos: int, offset: int) -> None:
    """First offset of a batch, or the offset of a message (of a wrapper: its last message's)."""
    _I64.pack_into(buf, pos, offset)


def set_last_offset(buf: Writable, pos: int, offset: int) -> None:
    """The same by the last offset, which is how Kafka's log thinks for both formats."""
    if buf[pos + batch.MAGIC_AT] >= 2:
        offset -= _I32.unpack_from(buf, pos + batch.LAST_OFFSET_DELTA_AT)[0]
    _I64.pack_into(buf, pos, offset)


def set_partition_leader_epoch(buf: Writable, pos: int, epoch: int) -> None:
    """Stamp the leader's epoch; magic 0 and 1 have no such field."""
    if buf[pos + batch.MAGIC_AT] < 2:
        reason = "Magic versions prior to 2 do not support partition leader epoch"
        raise RecordError(pos + batch.MAGIC_AT, reason)
    _I32.pack_into(buf, pos + 12, epoch)


def set_timestamp(buf: Writable, pos: int, size: int, timestamp_type: int, timestamp: int) -> None:
    """Timestamp type and newest timestamp of an entry of `size` bytes, with its CRC.

    Kafka leaves an entry alone that already says so, and otherwise drops attribute bits it does
    not know. In a LogAppendTime batch this one timestamp counts for every record.
    """
    magic = buf[pos + batch.MAGIC_AT]
    if magic == 0:
        raise RecordError(pos + batch.MAGIC_AT, "Cannot set timestamp for a record with magic = 0")
    kind = TIMESTAMP_TYPE if timestamp_type == LOG_APPEND_TIME else 0
    if magic == 1:
        at, stamp_at = pos + message_set.ATTRIBUTES_AT, pos + message_set.TIMESTAMP_AT
        if buf[at] & TIMESTAMP_TYPE == kind and _I64.unpack_from(buf, stamp_at)[0] == timestamp:
            return
        buf[at] = buf[at] & CODEC_MASK | kind
        _I64.pack_into(buf, stamp_at, timestamp)
        crc = crc32(memoryview(buf)[pos + message_set.MAGIC_AT : pos + size])
        _U32.pack_into(buf, pos + message_set.CRC_AT, crc)
        return
    at, stamp_at = pos + batch.ATTRIBUTES_AT, pos + batch.MAX_TIMESTAMP_AT
    if buf[at + 1] & TIMESTAMP_TYPE == kind and _I64.unpack_from(buf, stamp_at)[0] == timestamp:
        return
    _I16.pack_into(buf, at, buf[at + 1] & _V2_ATTRIBUTES & ~TIMESTAMP_TYPE | kind)
    _I64.pack_into(buf, stamp_at, timestamp)
    fix_crc(buf, pos, size)


def fix_crc(buf: Writable, pos: int, size: int) -> None:
    """Make a batch's CRC right for the bytes it has now."""
    crc = crc32c(memoryview(buf)[pos + batch.ATTRIBUTES_AT : pos + size])
    _U32.pack_into(buf, pos + batch.CRC_AT, crc)


def rewrite(data: bytes, *, crc: int | None = None, **fields: int) -> bytes:
    """A batch with header fields changed to anything at all, its CRC right unless given.

    For suites and fuzzers: `rewrite(good, records_count=7)`. Only `batch_length` and `crc` mean
    what they say on the wire, so a length may lie too.
    """
    header = batch.BatchHeader._make(batch.HEADER.unpack_from(data))._replace(**fields)
    out = bytearray(batch.HEADER.pack(*header) + data[batch.HEADER_SIZE :])
    if crc is None:
        fix_crc(out, 0, len(out))
    else:
        _U32.pack_into(out, batch.CRC_AT, crc)
    return bytes(out)
