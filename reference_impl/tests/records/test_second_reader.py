"""Readers that share no code with ours: kio's and aiokafka's, on batches we wrote."""

import pytest
from aiokafka.record.memory_records import MemoryRecords as AioRecords
from kio.records.readers import read_batch

from touchstone.reference_impl.wire import records as R
from touchstone.reference_impl.wire.records import batch, compression

from . import golden

NOW = 1_700_000_000_000
RECORDS = [
    R.Flat(70, NOW, b"k", b"v" * 40),
    R.Flat(71, NOW + 3, None, b"v" * 40, (("h", b"x"), ("n", None))),
    R.Flat(72, NOW - 2, b"", None),
]


@pytest.mark.parametrize("codec", range(5), ids=compression.NAMES)
@pytest.mark.parametrize("magic", range(3))
def test_aiokafka_reads_our_batches(magic, codec):
    if codec == R.ZSTD and magic < 2:
        pytest.skip("zstd came with magic 2")
    if codec == R.LZ4 and magic == 0:
        pytest.skip("only Kafka and librdkafka know the checksum of KAFKA-3160")
    given = RECORDS if magic == 2 else [r._replace(headers=()) for r in RECORDS]
    data = R.build(magic, given, codec, base_offset=70)
    seen = []
    found = AioRecords(data)
    while found.has_next():
        entry = found.next_batch()
        assert entry.validate_crc()
        seen += list(entry)
    assert [
        (r.offset, r.timestamp if magic else NOW, r.key, r.value, tuple(r.headers)) for r in seen
    ] == [(r.offset, r.timestamp if magic else NOW, r.key, r.value, r.headers) for r in given]


UNCOMPRESSED = [
    case.data
    for case in golden.CASES
    if case.codec == "none" and R.read(case.data)[0]["magic"] == 2
]


def test_kio_sees_the_same():
    """Keys and values only: kio 0.6.5 loses timestamp deltas when it writes a batch it has read."""
    for data in (R.build(2, RECORDS, base_offset=70), *UNCOMPRESSED):
        first = data[: next(R.entries(data))[1]]
        theirs, size = read_batch(first, 0)
        assert size == len(first)
        ours = [(row["key"], row["value"]) for row in R.read(first)]
        assert [(record.key, record.value) for record in theirs.records] == ours


def test_encoding_decoded_records_of_another_writer_changes_nothing():
    for data in UNCOMPRESSED:
        decoded = R.decode_batch(data)
        assert batch.encode_records(decoded.records) == decoded.payload
