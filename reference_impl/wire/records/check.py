"""Structure of a batch's records without making them: the broker's hot path.

One pass over the payload answers all that a broker must know before it stores the bytes as they
are. The loop proves the common shape (lengths of one or two bytes, offset deltas counting up,
short headers) with a handful of comparisons; runs of like records go by `columns`; anything else
goes through the decoder, which knows every shape and says in Kafka's words what is wrong. The fast
shapes are a subset of what the decoder accepts; a test walks both over mutated batches.

What Kafka checks, and what it does not (LogValidator, DefaultRecord; observed on all five):

- offset deltas are not required to be 0..n-1: an uncompressed batch is stored with whatever deltas
  it has. `Checked.sequential` tells the caller, for a compressed one is rewritten by 1.0.2 and
  2.2.1 and answered with UNKNOWN_SERVER_ERROR by 2.8.2, 3.9.2 and 4.3.1;
- a compressed payload that will be stored as it is, is only skimmed since 2.4; 2.8.2 still compares
  a record's length with what it holds, 3.9.2 and 4.3.1 store such a lie (`skim=True`);
- a structural fault is CORRUPT_MESSAGE up to 2.2.1 and INVALID_RECORD after; a payload that its
  codec cannot read is UNKNOWN_SERVER_ERROR everywhere;
- varints may be longer than needed, and any negative key or value length means null.
"""

from typing import NamedTuple

from . import varint
from .batch import decode_record
from .columns import extent
from .errors import CutRecord, LongLength, RecordError

_TWO_BYTES = 16383  # the largest raw varint of two bytes
_LEAST_DELTA = -8192  # of a timestamp in two bytes
_LONG_MIN, _LONG_MAX = -(1 << 63), (1 << 63) - 1
_PATIENCE = 32  # records to go on one by one after a try for a run of like ones failed


class Checked(NamedTuple):
    """What a broker learns from a batch's records."""

    max_timestamp: int  # by the records' deltas; -1 without records
    null_key: int  # index of the first record without a key; -1 if all have one
    sequential: bool  # offset deltas are 0, 1, 2 ... count-1
    least_timestamp: int = 0  # none is below, but for those that wrap around: then LONG_MIN


def check_records(
    payload: bytes, count: int, base_timestamp: int, *, skim: bool = False
) -> Checked:
    """Facts about `count` records that fill `payload` (of type bytes) exactly, or RecordError.

    One function of more than 60 lines on purpose: a call per record would double its time.
    """
    if count < 0:
        raise RecordError(0, f"Found invalid record count {count} in magic v2 batch")
    # Timestamps are kept doubled, as zig-zag leaves them; no delta is as small as the start value.
    newest, least, null_key, sequential = -(1 << 65), _LEAST_DELTA, -1, True
    index = pos = next_try = last_size = 0
    while index < count:
        start = pos
        try:
            size = payload[pos]
            if size < 128:
                pos += 2
            else:
                size += (payload[pos + 1] << 7) - 128
                pos += 3
            end = pos - 1 + (size >> 1)
            stamp = payload[pos]
            if stamp > 127:
                pos += 1
                stamp += (payload[pos] << 7) - 128
            delta = payload[pos + 1]
            if delta < 128:
                key = payload[pos + 2]
                pos += 3
            else:
                delta += (payload[pos + 2] << 7) - 128
                key = payload[pos + 3]
                pos += 4
            if key > 127:
                key += (payload[pos] << 7) - 128
                pos += 1
            pos += key >> 1
            value = payload[pos]
            if value < 128:
                pos += 1 + (value >> 1)
            else:
                value += (payload[pos + 1] << 7) - 128
                pos += 2 + (value >> 1)
            headers = payload[pos]
            if headers:
                pos = _skip_headers(payload, pos + 1, headers)
            if (
                delta == index << 1
                and pos + 1 == end
                and (size | stamp | delta | key | value) <= _TWO_BYTES
                and not (size | value) & 1  # neither is negative
                and (key == 1 or not key & 1)
            ):
                if stamp & 1:
                    stamp = -1 - stamp
                if stamp > newest:
                    newest = stamp
                if key == 1 and null_key < 0:
                    null_key = index
                index += 1
                pos = end
                if index >= next_try and size == last_size and index < count and not headers:
                    run = extent(payload, start, end, index - 1, count)
                    if run is None:
                        next_try = index + _PATIENCE
                    else:
                        if run.newest > newest:
                            newest = run.newest
                        index += run.count - 1
                        pos = start + run.count * (end - start)
                last_size = size
                continue
        except IndexError:
            pass
        try:
            pos, stamp, offset_delta, has_key = _read(payload, start, index, skim)
        except CutRecord as fault:
            if index == count - 1 and fault.left:
                raise RecordError(fault.offset, fault.reason) from None
            raise
        if 2 * stamp > newest:
            newest = 2 * stamp
        if stamp < least:
            least = stamp
        if not has_key and null_key < 0:
            null_key = index
        sequential = sequential and offset_delta == index
        index += 1
    if pos != len(payload):
        raise RecordError(pos, "Incorrect declared batch size, records still remaining in file")
    if not count:
        return Checked(-1, -1, True)
    newest_timestamp, least_timestamp = base_timestamp + (newest >> 1), base_timestamp + least
    if newest_timestamp > _LONG_MAX or least_timestamp < _LONG_MIN:
        newest_timestamp = _wrapped_maximum(payload, count, base_timestamp, skim)
        least_timestamp = _LONG_MIN
    return Checked(newest_timestamp, null_key, sequential, least_timestamp)


def _skip_headers(payload: bytes, pos: int, raw_count: int) -> int:
    """Where headers with one-byte lengths end (their last byte); -2 for any less plain."""
    if raw_count & 1 or raw_count > 127:
        return -2
    for _ in range(raw_count >> 1):
        name = payload[pos]
        if name & 1 or name > 127:
            return -2
        pos += 1 + (name >> 1)
        value = payload[pos]
        if value > 127 or (value & 1 and value != 1):
            return -2
        pos += 1 + (value >> 1)
    pos -= 1
    payload[pos]  # raises IndexError for a header value that is cut short
    return pos


def _read(payload: bytes, start: int, index: int, skim: bool) -> tuple[int, int, int, bool]:
    """Any record at all: its end, timestamp delta, offset delta and whether it has a key."""
    try:
        if skim:
            return _skim(payload, start)
        record, end = decode_record(payload, start)
    except LongLength as fault:
        raise LongLength(fault.offset, f"record {index}: {fault.reason}") from None
    except CutRecord as fault:
        raise CutRecord(fault.offset, f"record {index}: {fault.reason}", fault.left) from None
    except RecordError as fault:
        raise RecordError(fault.offset, f"record {index}: {fault.reason}") from None
    return end, record.timestamp_delta, record.offset_delta, record.key is not None


def _skim(payload: bytes, start: int) -> tuple[int, int, int, bool]:
    """As PartialDefaultRecord reads: the record's own length is not looked at."""
    read = varint.read
    _, pos = read(payload, start)
    stamp, pos = read(payload, pos + 1, 64)
    offset_delta, pos = read(payload, pos)
    key, pos = read(payload, pos)
    pos += max(0, key)
    value, pos = read(payload, pos)
    pos += max(0, value)
    headers, pos = read(payload, pos)
    if headers < 0:
        raise RecordError(pos, f"Found invalid number of record headers {headers}")
    for _ in range(headers):
        size, after = read(payload, pos)
        if size < 0:
            raise RecordError(pos, f"Invalid negative header key size {size}")
        size_of_value, pos = read(payload, after + size)
        pos += max(0, size_of_value)
    if pos > len(payload):
        raise RecordError(start, "Reached end of input stream before skipping all bytes")
    return pos, stamp, offset_delta, key >= 0


def wrapped(value: int) -> int:
    """What Java's long arithmetic makes of a sum: it wraps around."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _wrapped_maximum(payload: bytes, count: int, base: int, skim: bool) -> int:
    """Largest timestamp when additions overflow."""
    best, pos = _LONG_MIN, 0
    for index in range(count):
        pos, stamp, _, _ = _read(payload, pos, index, skim)
        best = max(best, wrapped(base + stamp))
    return best
