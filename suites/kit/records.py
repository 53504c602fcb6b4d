"""Batches and message sets to send, whole and damaged.

Two facts make claims exact. Timestamps hang on the run's clock, so that no retention takes records
away while a case looks at them. And ONE, TWO and THREE have ten bytes, so that a batch of one of
them has SIZE bytes in format 2 (61 of header, 17 of record) and limits can be put between batches.
A damaged batch is made by hand, with its checksum right, so that the damage alone is what a broker
refuses.

Sources: DefaultRecordBatch and DefaultRecord at 2.8.2.
"""

from collections.abc import Mapping
from typing import Any

from touchstone.harness.model.placeholders import Now, Records
from touchstone.reference_impl.wire.records import compression
from touchstone.reference_impl.wire.records.batch import BatchHeader, Record, encode_record

SIZE = 78
ONE, TWO, THREE = b"first-----", b"second----", b"third-----"
VALUES = (ONE, TWO, THREE)
CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
WITH_BATCHES = 3  # the first version of Produce that carries record batches
LONG_AGO = 1_600_000_000_000
RECORD = encode_record(Record(0, 0, b"key", b"value"))


def batch(*values: Any, at: int = 0, **fields: Any) -> Records:
    """One batch of these records (values, pairs or mappings), stamped with the run's clock moved by
    `at` milliseconds.
    """
    return Records({"magic": 2, "records": list(values), "timestamp": Now(at), **fields})


def coded(*values: Any, codec: str = "none", **fields: Any) -> Records:
    """One batch that says its codec, also where that is none."""
    return batch(*values, **{"compression": CODECS[codec]} | fields)


def stamped(*times: int, **fields: Any) -> Records:
    """One batch of a record per time; times are moments of the run's clock."""
    records = [
        {"value": VALUES[index % 3], "timestamp": Now(time)} for index, time in enumerate(times)
    ]
    return Records({"magic": 2, "records": records, **fields})


def keyed(key: bytes, value: bytes | None, *, at: int = 0, **fields: Any) -> Records:
    """A batch of one record with a key; no value makes it a tombstone."""
    return pairs((key, value), at=at, **fields)


def pairs(*records: tuple[bytes, bytes | None], at: int = 0, **fields: Any) -> Records:
    """A batch of several such records."""
    return batch(*({"key": key, "value": value} for key, value in records), at=at, **fields)


def messages(*values: Any, magic: int = 1, codec: str = "none") -> Records:
    """A message set, for versions of Produce before 3."""
    return coded(*values, codec=codec, magic=magic)


def of_version(version: int, *values: Any) -> Records:
    """These records in the format that a producer of this version sends."""
    return coded(*values) if version >= WITH_BATCHES else messages(*values)


def from_producer(
    producer: Any, epoch: int, sequence: int, *values: bytes, **fields: Any
) -> Records:
    """A batch of an idempotent producer."""
    own = {"producer_id": producer, "producer_epoch": epoch, "base_sequence": sequence}
    return coded(*values, **own, **fields)


def damaged(payload: bytes = RECORD, count: int = 1, codec: str = "none", **fields: int) -> bytes:
    """A batch of these record bytes that says what it is told to say, under a right checksum."""
    number = CODECS[codec]
    head = BatchHeader(0, 0, -1, 2, 0, number, count - 1, LONG_AGO, LONG_AGO, -1, -1, -1, count)
    packed = compression.compress(number, payload) if number else payload
    return head._replace(**fields).encode(packed)


def compacted(first: int, last: int, kept: Mapping[int, bytes]) -> bytes:
    """A batch of the offsets `first` to `last` of which compaction left these values, by offset."""
    payload = b"".join(
        encode_record(Record(offset - first, 0, None, value)) for offset, value in kept.items()
    )
    span = {"base_offset": first, "last_offset_delta": last - first}
    return damaged(payload, len(kept), partition_leader_epoch=0, **span)
