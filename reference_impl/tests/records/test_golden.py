"""Bytes that real Kafka and librdkafka wrote: read, written again, converted."""

import pytest

from touchstone.reference_impl.wire import records as R
from touchstone.reference_impl.wire.records import batch, control, message_set, varint

from . import golden

FIRST = 1700000000000


@pytest.mark.parametrize("case", golden.CASES, ids=lambda case: case.id)
def test_every_entry_is_given_back_as_it_was(case):
    again = b""
    for pos, size, magic in R.entries(case.data):
        R.check_crc(case.data, pos, size, magic)
        if magic == 2:
            decoded = R.decode_batch(case.data, pos)
            again += decoded.encode()
            plain = batch.payload_of(case.data, pos, decoded.header)
            assert batch.encode_records(decoded.records) == plain
        else:
            message, _ = message_set.decode_message(case.data, pos)
            again += message.encode()
            message_set.unwrap(message, strict=True)
    assert again == case.data


@pytest.mark.parametrize("case", golden.of("set"), ids=lambda case: case.id)
def test_sets_say_what_was_put_into_them(case):
    old, append = case.format == "0", case.detail == "append"
    stamps = (
        [-1] * 3 if old else [FIRST + 9999] * 3 if append else [FIRST, FIRST + 500, FIRST + 400]
    )
    headers = ((b"h1", b"v1"), (b"", None)) if case.format == "2" else ()
    rows = R.read(case.data)
    assert [row["offset"] for row in rows] == [1000, 1001, 1002]
    assert [row["timestamp"] for row in rows] == stamps
    assert [row["key"] for row in rows] == [b"k1", None, b"k3"]
    assert [row["value"] for row in rows] == [b"v1", bytes(300), None]
    assert [row["headers"] for row in rows] == [(), headers, ()]
    assert {row["compression"] for row in rows} == {case.codec}
    assert {row["timestamp_type"] for row in rows} == {int(append)}


@pytest.mark.parametrize("case", golden.of("set"), ids=lambda case: case.id)
def test_our_own_set_differs_from_kafkas_only_in_how_a_codec_packs(case):
    log_append_time = FIRST + 9999 if case.detail == "append" else None
    magic, codec = int(case.format), ("none", "gzip", "snappy", "lz4", "zstd").index(case.codec)
    headers = ((b"h1", b"v1"), (b"", None)) if magic == 2 else ()
    ours = R.rebuild(
        [
            R.Flat(0, FIRST if magic else -1, b"k1", b"v1"),
            R.Flat(0, FIRST + 500 if magic else -1, None, bytes(300), headers),
            R.Flat(0, FIRST + 400 if magic else -1, b"k3", None),
        ],
        magic=magic,
        base_offset=1000,
        compression=codec,
        log_append_time=log_append_time,
        partition_leader_epoch=7,
    )
    if case.codec in ("none", "gzip"):
        assert ours == case.data
    assert R.read(ours) == R.read(case.data)


@pytest.mark.parametrize("case", golden.of("down"), ids=lambda case: case.id)
def test_down_conversion_gives_kafkas_bytes(case):
    got = R.down_convert(case.data, int(case.format), first_offset=int(case.detail))
    assert got == case.result


@pytest.mark.parametrize("case", golden.of("marker"), ids=lambda case: case.id)
def test_transaction_markers_are_kafkas_bytes(case):
    type_ = control.ABORT if case.format == "ABORT" else control.COMMIT
    ours = control.marker_batch(
        type_,
        producer_id=42,
        producer_epoch=5,
        coordinator_epoch=9,
        timestamp=FIRST,
        base_offset=1234,
        partition_leader_epoch=3,
    )
    assert ours == case.data
    (row,) = R.read(case.data)
    assert row["control"] and control.read_key(row["key"]).name == case.format
    assert control.read_marker(row["value"]) == (0, 9)


@pytest.mark.parametrize("case", golden.of("disk"), ids=lambda case: case.id)
def test_what_brokers_stored_of_librdkafkas_batches(case):
    rows = R.read(case.data)
    assert [row["offset"] for row in rows] == [0, 1, 2]
    assert [row["key"] for row in rows] == [b"k0", None, b"k2"]
    assert [row["value"] for row in rows] == [b"value " * 20, b"value " * 20, None]
    assert rows[0]["headers"] == ((b"h", b"v"), (b"n", None))


def test_sequences_go_on_after_the_largest_at_zero():
    (case,) = golden.of("transactional")
    header = R.read_header(case.data)
    assert header.base_sequence == 2147483646
    assert header.last_sequence == 67


@pytest.mark.parametrize(("value", "data"), golden.varints(), ids=str)
def test_varints_are_those_of_byte_utils(value, data):
    assert varint.encode(value) == data
    assert varint.size(value) == len(data)
    assert varint.read(data, 0, 32 if len(data) <= 5 else 64) == (value, len(data))
