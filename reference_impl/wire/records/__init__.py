"""Kafka's record formats: message sets (magic 0, 1), record batches (magic 2), codecs, checksums.

Pure functions from bytes to values and back; no clock, no broker. Three doors for those who do not
care which format they hold:

- `entries(buf)` walks batches and messages by position;
- `read(buf)` gives every record flat, with what its batch says about it;
- `build(magic, records)` writes records in any format and codec.

The formats themselves are `batch`, `message_set` and `control`; `check` is the broker's fast
validation, `patch` changes stored bytes in place, `convert` goes between formats.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from . import batch, message_set
from . import compression as _codecs
from .batch import Batch, BatchHeader, Record, decode_batch, encode_batch, read_header
from .check import Checked, check_records
from .compression import GZIP, LZ4, NONE, SNAPPY, ZSTD, CompressionError, compress, decompress
from .convert import Flat, UnsupportedCompression, down_convert, rebuild, records_of
from .errors import PayloadError, RecordError
from .message_set import Message
from .patch import (
    fix_crc,
    rewrite,
    set_base_offset,
    set_last_offset,
    set_partition_leader_epoch,
    set_timestamp,
)
from .walk import entries

__all__ = [
    "GZIP",
    "LZ4",
    "NONE",
    "SNAPPY",
    "ZSTD",
    "Batch",
    "BatchHeader",
    "Checked",
    "CompressionError",
    "Flat",
    "Message",
    "PayloadError",
    "Record",
    "RecordError",
    "UnsupportedCompression",
    "build",
    "check_crc",
    "check_records",
    "compress",
    "decode_batch",
    "decompress",
    "down_convert",
    "encode_batch",
    "entries",
    "fix_crc",
    "read",
    "read_header",
    "rebuild",
    "records_of",
    "rewrite",
    "set_base_offset",
    "set_last_offset",
    "set_partition_leader_epoch",
    "set_timestamp",
]

Given = Flat | Mapping[str, Any] | tuple[bytes | None, bytes | None] | bytes


def check_crc(buf: bytes, pos: int, size: int, magic: int) -> None:
    """RecordError with `corrupt` set unless the entry's checksum is right, whatever its format."""
    if magic < 2:
        message_set.check_crc(buf, pos, size)
    else:
        batch.check_crc(buf, pos, batch.read_header(buf, pos))


def _flat(given: Given, index: int, base_offset: int, timestamp: int) -> Flat:
    if isinstance(given, Flat):
        return given
    offset = base_offset + index
    if isinstance(given, bytes):
        return Flat(offset, timestamp, None, given)
    if isinstance(given, Mapping):
        return Flat(
            given.get("offset", offset),
            given.get("timestamp", timestamp),
            given.get("key"),
            given.get("value"),
            tuple(given.get("headers", ())),
        )
    key, value = given
    return Flat(offset, timestamp, key, value)


def build(
    magic: int,
    records: Iterable[Given],
    compression: int = NONE,
    *,
    base_offset: int = 0,
    timestamp: int = 0,
    **batch_fields: Any,
) -> bytes:
    """Records in one batch (magic 2) or message set (0, 1), as a producer sends them.

    A record is a value, a (key, value) pair, a mapping (key, value, headers, timestamp, offset) or
    a Flat. `batch_fields` are `encode_batch`'s: producer_id, transactional, timestamp_type ...
    """
    flat = [_flat(given, i, base_offset, timestamp) for i, given in enumerate(records)]
    if magic < 2:
        messages = [
            Message(r.offset, magic, 0, r.timestamp if magic else -1, r.key, r.value) for r in flat
        ]
        return message_set.encode_set(messages, compression=compression, **batch_fields)
    start = batch_fields.pop("base_timestamp", flat[0].timestamp if flat else timestamp)
    return encode_batch(
        [
            Record(r.offset - base_offset, r.timestamp - start, r.key, r.value, r.headers)
            for r in flat
        ],
        base_timestamp=start,
        base_offset=base_offset,
        compression=compression,
        **batch_fields,
    )


def read(buf: bytes | None, *, limit: int = batch.DEFAULT_LIMIT) -> list[dict[str, Any]]:
    """Every record of every whole entry, flat; control records too, marked as such.

    Reads as leniently as Kafka's consumer does; checksums are not looked at (`check_crc` is).
    """
    rows: list[dict[str, Any]] = []
    buf = buf or b""
    for pos, _, magic in entries(buf):
        about = _about(buf, pos, magic)
        sequence = about.pop("base_sequence")
        for index, record in enumerate(records_of(buf, pos, magic, limit)):
            rows.append(
                {
                    **record._asdict(),
                    **about,
                    "sequence": sequence + index if sequence >= 0 else -1,
                }
            )
    return rows


def _about(buf: bytes, pos: int, magic: int) -> dict[str, Any]:
    if magic < 2:
        message, _ = message_set.decode_message(buf, pos, strict=False)
        header = BatchHeader(message.offset, 0, -1, magic, 0, 0, 0, -1, -1, -1, -1, -1, 1)
        codec, kind = message.compression, message.timestamp_type
    else:
        header = read_header(buf, pos)
        codec, kind = header.compression, header.timestamp_type
    return {
        "magic": magic,
        "compression": _codecs.NAMES[codec] if codec < len(_codecs.NAMES) else str(codec),
        "timestamp_type": kind,
        "partition_leader_epoch": header.partition_leader_epoch,
        "producer_id": header.producer_id,
        "producer_epoch": header.producer_epoch,
        "base_sequence": header.base_sequence,
        "transactional": header.transactional,
        "control": header.control,
    }
