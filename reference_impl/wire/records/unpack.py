"""The records of a batch as columns, for whoever reads many: a list of keys, one of values, ...

`batch.decode_batch` makes an object of each record and takes 3 microseconds for it; most of what a
consumer is given is plain: no headers, lengths of one or two bytes. Such a record is read here with
a handful of comparisons, and a run of records of one shape (see `columns`) by strided slices, in C:
what is left to do in Python for each is to cut out its value. Anything else (headers, long varints,
a record that is not what it says) goes to `batch.decode_record`, so both read alike and say alike
what is wrong; a test holds one against the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from . import batch, columns
from .batch import DEFAULT_LIMIT, LOG_APPEND_TIME, BatchHeader, Header
from .compression import NONE
from .errors import RecordError

_TRIES_AGAIN = 8  # records after one that was not plain, or began no run


class Columns(NamedTuple):
    """Equally long lists, one entry a record, in the order of the batch.

    `unpack` gives offsets and timestamps as deltas, as in `Record`, `batch_columns` whole ones.
    """

    offsets: list[int]
    timestamps: list[int]
    keys: list[bytes | None]
    values: list[bytes | None]
    headers: list[tuple[Header, ...]]


class _NotPlain(Exception):
    """This record is for `decode_record`."""


def batch_columns(
    buf: bytes, pos: int, header: BatchHeader, *, limit: int = DEFAULT_LIMIT
) -> Columns:
    """The whole batch at `pos`, read as leniently as `decode_batch(strict=False)`; no checksum.

    `limit` is the most bytes that it may decompress to. Raises RecordError.
    """
    if header.records_count < 0:
        reason = f"Found invalid record count {header.records_count} in magic v2 batch"
        raise RecordError(pos + batch.RECORDS_COUNT_AT, reason)
    payload = batch.payload_of(buf, pos, header, limit)
    origin = pos + batch.HEADER_SIZE if header.compression == NONE else 0
    found = unpack(payload, header.records_count, origin=origin)
    offsets = [*map(header.base_offset.__add__, found.offsets)]
    if header.timestamp_type == LOG_APPEND_TIME:
        timestamps = [header.max_timestamp] * len(offsets)
    else:
        timestamps = [*map(header.base_timestamp.__add__, found.timestamps)]
    return found._replace(offsets=offsets, timestamps=timestamps)


def unpack(payload: bytes, count: int, *, origin: int = 0) -> Columns:
    """`count` records that fill `payload`, which is not compressed, exactly.

    Raises RecordError, with `origin` added to its offset.
    """
    found = Columns([], [], [], [], [])
    pos = index = tries_at = plain_at = 0
    while index < count:
        end = _append_plain(payload, pos, found) if index >= plain_at else 0
        if not end:
            end = _append_any(payload, pos, found, index, origin)
            plain_at = index + _TRIES_AGAIN if index >= plain_at else plain_at
        index += 1
        if index >= tries_at and payload[end : end + 1] == payload[pos : pos + 1]:
            taken = _append_run(payload, pos, end, index - 1, count, found)
            pos, index = end + taken * (end - pos), index + taken
            tries_at = index if taken else index + _TRIES_AGAIN
        else:
            pos = end
    if pos != len(payload):
        reason = "Incorrect declared batch size, records still remaining in file"
        raise RecordError(origin + pos, reason)
    return found


def _append_plain(data: bytes, pos: int, found: Columns) -> int:
    """Where this record ends; 0 where it is not plain, and nothing was appended."""
    try:
        size, pos = data[pos], pos + 1
        if size > 127:
            size, pos = _two(size, data[pos]), pos + 1
        end = pos + (size >> 1)
        stamp, pos = data[pos + 1], pos + 2
        if stamp > 127:
            stamp, pos = _two(stamp, data[pos]), pos + 1
        delta, pos = data[pos], pos + 1
        if delta > 127:
            delta, pos = _two(delta, data[pos]), pos + 1
        key: bytes | None = None
        length, pos = data[pos], pos + 1
        if length > 127:
            length, pos = _two(length, data[pos]), pos + 1
        if not length & 1:
            key, pos = data[pos : pos + (length >> 1)], pos + (length >> 1)
        elif length != 1:
            return 0
        value: bytes | None = None
        length, pos = data[pos], pos + 1
        if length > 127:
            length, pos = _two(length, data[pos]), pos + 1
        if not length & 1:
            value, pos = data[pos : pos + (length >> 1)], pos + (length >> 1)
        elif length != 1:
            return 0
        if data[pos] or pos + 1 != end or size & 1 or delta & 1:
            return 0
    except (IndexError, _NotPlain):
        return 0
    found.offsets.append(delta >> 1)
    found.timestamps.append((stamp >> 1) ^ -(stamp & 1))
    found.keys.append(key)
    found.values.append(value)
    found.headers.append(())
    return end


def _two(low: int, high: int) -> int:
    """The unsigned value of a varint of two bytes."""
    if high > 127:
        raise _NotPlain
    return low + (high << 7) - 128


def _append_any(data: bytes, pos: int, found: Columns, index: int, origin: int) -> int:
    try:
        record, end = batch.decode_record(data, pos)
    except RecordError as fault:
        raise RecordError(origin + fault.offset, f"record {index}: {fault.reason}") from None
    found.offsets.append(record.offset_delta)
    found.timestamps.append(record.timestamp_delta)
    found.keys.append(record.key)
    found.values.append(record.value)
    found.headers.append(tuple(record.headers))
    return end


def _append_run(data: bytes, start: int, end: int, index: int, count: int, found: Columns) -> int:
    """How many of the next records look like record `index`, and were appended after it."""
    if found.headers[-1] or found.offsets[-1] != index:
        return 0
    run = columns.extent(data, start, end, index, count)
    if run is None:
        return 0
    more, step = run.count - 1, end - start
    stop = end + more * step
    key, value = found.keys[-1], found.values[-1]
    value_end = end - 1
    value_at = value_end - len(value or b"")
    key_end = value_at - _prefix(value)
    key_at = key_end - len(key or b"")
    delta_at = key_at - _prefix(key) - (1 if index < columns.ONE_BYTE else 2)
    found.offsets.extend(range(index + 1, index + run.count))
    found.timestamps.extend(_stamps(data, start, delta_at, stop, step, more))
    found.keys.extend(_parts(data, key, key_at + step, stop, step, more))
    found.values.extend(_parts(data, value, value_at + step, stop, step, more))
    found.headers.extend([()] * more)
    return more


def _prefix(part: bytes | None) -> int:
    """How many bytes the length takes in front of it."""
    return 1 if part is None or len(part) < columns.ONE_BYTE else 2


def _parts(
    data: bytes, like: bytes | None, at: int, stop: int, step: int, count: int
) -> Iterable[bytes | None]:
    if not like:
        return [like] * count
    size = len(like)
    return [data[pos : pos + size] for pos in range(at, stop, step)]


def _stamps(
    data: bytes, start: int, delta_at: int, stop: int, step: int, count: int
) -> Iterable[int]:
    at = start + (2 if data[start] > 127 else 1) + 1
    first = data[at + step : stop : step][:count]
    if delta_at - at == 1:
        if first.count(first[:1]) == count:
            return [_SIGNED[first[0]]] * count
        return [_SIGNED[byte] for byte in first]
    second = data[at + 1 + step : stop : step][:count]
    return [
        ((low - 128 + (high << 7)) >> 1) ^ -(low & 1)
        for low, high in zip(first, second, strict=True)
    ]


_SIGNED = [(value >> 1) ^ -(value & 1) for value in range(128)]
