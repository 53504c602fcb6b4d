"""From one message format to another, as Kafka's brokers do it.

Down, for Fetch versions that know only magic 0 or 1 (RecordsUtil.downConvert; gone in 4.0): control
batches and headers are dropped, codecs are kept, zstd cannot be kept and is an error (KIP-110).
Up, down or to another codec on the way in, for `message.format.version` and `compression.type`
(LogValidator, MemoryRecordsBuilder): `rebuild` writes one batch or set anew with offsets assigned.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from . import batch, message_set
from . import compression as codecs
from .batch import DEFAULT_LIMIT, LOG_APPEND_TIME
from .errors import RecordError
from .walk import entries


class Flat(NamedTuple):
    """A record freed from its format: absolute offset and its own timestamp."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[batch.Header, ...] = ()


class UnsupportedCompression(RecordError):
    """A codec that the older format does not have."""


def records_of(buf: bytes, pos: int, magic: int, limit: int = DEFAULT_LIMIT) -> list[Flat]:
    """The records of one entry as a consumer is shown them."""
    if magic < 2:
        message, _ = message_set.decode_message(buf, pos, strict=False)
        return [
            Flat(m.offset, m.timestamp, m.key, m.value)
            for m in message_set.unwrap(message, limit=limit)
        ]
    header, records, _ = _parts(batch.decode_batch(buf, pos, strict=False, limit=limit))
    base, start = header.base_offset, header.base_timestamp
    fixed = header.max_timestamp if header.timestamp_type == LOG_APPEND_TIME else None
    return [
        Flat(
            base + record.offset_delta,
            start + record.timestamp_delta if fixed is None else fixed,
            record.key,
            record.value,
            tuple(record.headers),
        )
        for record in records
    ]


def _parts(decoded: batch.Batch) -> tuple[batch.BatchHeader, list[batch.Record], bytes]:
    return decoded.header, decoded.records, decoded.payload


def down_convert(
    buf: bytes, magic: int, *, first_offset: int = 0, limit: int = DEFAULT_LIMIT
) -> bytes:
    """`buf` for a consumer that knows no more than `magic`.

    Of an uncompressed newer batch only records from `first_offset` on are given: messages are not
    batched in the old formats, and old clients count on the first one being the one they asked for.
    """
    out: list[bytes] = []
    for pos, size, have in entries(buf):
        if have <= magic:
            out.append(bytes(memoryview(buf)[pos : pos + size]))
            continue
        if have == 2:
            header = batch.read_header(buf, pos)
            codec, kind, newest = header.compression, header.timestamp_type, header.max_timestamp
            if header.control:
                continue
        else:
            wrapper, _ = message_set.decode_message(buf, pos, strict=False)
            codec, kind, newest = wrapper.compression, wrapper.timestamp_type, wrapper.timestamp
        if codec == codecs.ZSTD:
            reason = "Down-conversion of zstandard-compressed batches is not supported"
            raise UnsupportedCompression(pos, reason)
        records = records_of(buf, pos, have, limit)
        if codec == codecs.NONE:
            records = [record for record in records if record.offset >= first_offset]
        if records:
            out.append(_legacy(records, magic, codec, newest if kind == LOG_APPEND_TIME else None))
    return b"".join(out)


def _legacy(records: Iterable[Flat], magic: int, codec: int, append_time: int | None) -> bytes:
    messages = [
        message_set.Message(r.offset, magic, 0, r.timestamp if magic else -1, r.key, r.value)
        for r in records
    ]
    append_time = append_time if magic else None
    return message_set.encode_set(messages, compression=codec, log_append_time=append_time)


def rebuild(
    records: list[Flat],
    *,
    magic: int,
    base_offset: int,
    compression: int = codecs.NONE,
    log_append_time: int | None = None,
    like: batch.BatchHeader | None = None,
    partition_leader_epoch: int = -1,
) -> bytes:
    """`records` written anew with consecutive offsets from `base_offset`.

    `like` is the first incoming batch, whose producer fields and transactional bit are kept.
    """
    placed = [record._replace(offset=base_offset + i) for i, record in enumerate(records)]
    if magic < 2:
        return _legacy(placed, magic, compression, log_append_time)
    start = placed[0].timestamp if placed else -1
    newest = max((record.timestamp for record in placed), default=-1)
    producer: dict[str, Any] = {}
    if like is not None:
        producer = {
            "producer_id": like.producer_id,
            "producer_epoch": like.producer_epoch,
            "base_sequence": like.base_sequence,
            "transactional": like.transactional,
        }
    return batch.encode_batch(
        [
            batch.Record(i, record.timestamp - start, record.key, record.value, record.headers)
            for i, record in enumerate(placed)
        ],
        base_timestamp=start,
        max_timestamp=newest if log_append_time is None else log_append_time,
        timestamp_type=0 if log_append_time is None else LOG_APPEND_TIME,
        base_offset=base_offset,
        partition_leader_epoch=partition_leader_epoch,
        compression=compression,
        **producer,
    )
