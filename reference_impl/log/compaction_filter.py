"""What compaction leaves of one entry: bytes in, bytes out, or nothing.

An entry all of whose records stay keeps its bytes. One that loses some is written anew: in format 2
with its own first and last offset, sequence and epoch, so that the gap shows and a producer's
duplicates are still told; in the old formats as a message set of what is left. The last batch of a
producer may stay without records. Since KIP-534 a batch with a tombstone, or the marker of an empty
transaction, is given the instant from which it may go: it takes the place of the base timestamp.

Sources: MemoryRecords.filterTo and buildRetainedRecordsInto at 1.0.2, 2.8.2, 3.9;
DefaultRecordBatch.writeEmptyHeader.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from touchstone.reference_impl.log.segment import Stored
from touchstone.reference_impl.wire.records import batch as v2
from touchstone.reference_impl.wire.records import compression as codecs
from touchstone.reference_impl.wire.records import convert, message_set

RecordFilter = Callable[[int, bytes | None, bytes | None], bool]  # offset, key, value: stays?
NO_TIMESTAMP = -1


class FilteredEntry(NamedTuple):
    """An entry without the records that went, as it is stored again."""

    data: Stored
    last_offset: int
    timestamp: int  # ms, the newest of its records


def filter_batch(
    entry: Stored,
    header: v2.BatchHeader,
    keep: RecordFilter,
    *,
    empty: bool = False,
    horizon: int | None = None,
    marker_may_go: bool = False,
) -> FilteredEntry | None:
    """A batch of format 2. `empty` lets it stay without records. With `horizon` (ms) a tombstone
    that has none yet gets it, and so does a marker that `marker_may_go`.
    """
    records = v2.decode_batch(bytes(entry), strict=False).records
    base = header.base_offset
    kept = [r for r in records if keep(base + r.offset_delta, r.key, r.value)]
    if not kept:
        return _without_records(header) if empty else None
    if header.delete_horizon is not None:
        horizon = header.delete_horizon
    elif not marker_may_go and all(record.value is not None for record in kept):
        horizon = None
    if len(kept) == len(records) and horizon == header.delete_horizon:
        return FilteredEntry(entry, header.last_offset, header.max_timestamp)
    return _rewritten(header, kept, horizon)


def _without_records(header: v2.BatchHeader) -> FilteredEntry:
    attributes = header.attributes & ~(v2.CODEC_MASK | v2.DELETE_HORIZON)
    empty = header._replace(attributes=attributes, base_timestamp=NO_TIMESTAMP, records_count=0)
    return FilteredEntry(empty.encode(b""), header.last_offset, header.max_timestamp)


def _rewritten(header: v2.BatchHeader, kept: list[v2.Record], horizon: int | None) -> FilteredEntry:
    if header.timestamp_type == v2.LOG_APPEND_TIME:
        times = [header.max_timestamp] * len(kept)
    else:
        times = [header.base_timestamp + record.timestamp_delta for record in kept]
    start, newest = times[0] if horizon is None else horizon, max(times)
    payload = v2.encode_records(
        record._replace(timestamp_delta=time - start)
        for record, time in zip(kept, times, strict=True)
    )
    if header.compression:
        payload = codecs.compress(header.compression, payload)
    made = header._replace(
        attributes=header.attributes | (v2.DELETE_HORIZON if horizon is not None else 0),
        base_timestamp=start,
        max_timestamp=newest,
        records_count=len(kept),
    )
    return FilteredEntry(made.encode(payload), header.last_offset, newest)


def filter_message(entry: Stored, magic: int, keep: RecordFilter) -> FilteredEntry | None:
    """A message of an old format, single or the wrapper of a compressed set."""
    data = bytes(entry)
    wrapper, _ = message_set.decode_message(data, 0, strict=False)
    flat = convert.records_of(data, 0, magic)
    kept = [record for record in flat if keep(record.offset, record.key, record.value)]
    if not kept:
        return None
    if len(kept) == len(flat):
        return FilteredEntry(entry, wrapper.offset, wrapper.timestamp)
    stamped = wrapper.timestamp_type == v2.LOG_APPEND_TIME
    messages = [
        message_set.Message(r.offset, magic, 0, r.timestamp if magic else -1, r.key, r.value)
        for r in kept
    ]
    made = message_set.encode_set(
        messages,
        compression=wrapper.compression,
        log_append_time=wrapper.timestamp if stamped else None,
    )
    newest = max(record.timestamp for record in kept)
    return FilteredEntry(made, kept[-1].offset, newest)
