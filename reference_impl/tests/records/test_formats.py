"""Batches, message sets, walking, patching and converting: what is refused, where, and why."""

import pytest

from touchstone.reference_impl.wire import records as R
from touchstone.reference_impl.wire.records import batch, compression, message_set, patch
from touchstone.reference_impl.wire.records.message_set import Message

NOW = 1_700_000_000_000
GOOD = R.build(2, [(b"k", b"v"), {"value": None, "headers": [("h", b"x")]}], timestamp=NOW)
OLD = R.build(1, [(b"k", b"v")], timestamp=NOW)


def test_a_batch_decodes_to_its_header_and_records():
    decoded = R.decode_batch(GOOD)
    assert decoded.header[:4] == (0, len(GOOD) - 12, -1, 2)
    assert decoded.header[5:] == (0, 1, NOW, NOW, -1, -1, -1, 2)
    assert decoded.records == [
        R.Record(0, 0, b"k", b"v", []),
        R.Record(1, 0, None, None, [(b"h", b"x")]),
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {"attributes": 0x7F78},
        {"attributes": -1 & ~7},
        {"max_timestamp": 5},
        {"last_offset_delta": -9},
        {"base_offset": -1, "partition_leader_epoch": 1 << 30, "producer_id": -5},
    ],
)
def test_odd_headers_survive_decoding_and_encoding(fields):
    odd = R.rewrite(GOOD, **fields)
    assert R.decode_batch(odd).encode() == odd


def test_a_wrong_crc_survives_too_and_is_told_apart():
    wrong = R.rewrite(GOOD, crc=7)
    assert R.decode_batch(wrong).encode() == wrong
    with pytest.raises(R.RecordError, match="stored crc = 7") as caught:
        R.check_crc(wrong, 0, len(wrong), 2)
    assert caught.value.offset == 17 and caught.value.corrupt


@pytest.mark.parametrize("at", range(21, len(GOOD)))
def test_the_crc_covers_every_byte_from_the_attributes_on(at):
    flipped = bytearray(GOOD)
    flipped[at] ^= 0x10
    with pytest.raises(R.RecordError, match="Record is corrupt"):
        R.check_crc(bytes(flipped), 0, len(flipped), 2)


@pytest.mark.parametrize(
    ("data", "offset", "reason"),
    [
        (GOOD[:60], 0, "60 bytes are left"),
        (GOOD[:-1], 0, "bytes are left of a batch"),
        (R.rewrite(GOOD, magic=1), 16, "Invalid magic found in record: 1"),
        (R.rewrite(GOOD, batch_length=48), 8, "smaller than the minimum allowed overhead 61"),
        (R.rewrite(GOOD, records_count=-1), 57, "Found invalid record count -1"),
        (R.rewrite(GOOD, records_count=1), 70, "records still remaining"),
        (R.rewrite(GOOD, records_count=3), len(GOOD), "record 2: varint is cut short"),
        (R.rewrite(GOOD, attributes=1), 61, "gzip: "),
        (R.rewrite(GOOD, attributes=7), 61, "Unknown compression type id: 7"),
    ],
)
def test_batches_that_are_refused(data, offset, reason):
    with pytest.raises(R.RecordError, match=reason) as caught:
        R.decode_batch(data)
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("data", "offset", "reason"),
    [
        (OLD[:8] + b"\0\0\0\x0d" + OLD[12:], 8, "Record size 13 is less than the minimum"),
        (OLD[:16] + b"\x03" + OLD[17:], 16, "Invalid magic found in record: 3"),
        (OLD[:16] + b"\xff" + OLD[17:], 16, "Invalid magic found in record: -1"),
    ],
)
def test_walking_stops_with_an_error_where_nothing_can_follow(data, offset, reason):
    assert [entry[0] for entry in R.entries(OLD)] == [0]
    with pytest.raises(R.RecordError, match=reason) as caught:
        list(R.entries(data))
    assert caught.value.offset == offset and caught.value.corrupt


def test_walking_crosses_formats_and_leaves_a_cut_tail():
    mixed = OLD + GOOD + R.build(0, [b"a", b"b"])
    whole = [(pos, magic) for pos, _, magic in R.entries(mixed)]
    assert [magic for _, magic in whole] == [1, 2, 0, 0]
    for cut in range(len(mixed)):
        assert [e[0] for e in R.entries(mixed[:cut])] == [
            pos for pos, size, _ in R.entries(mixed) if pos + size <= cut
        ]


@pytest.mark.parametrize(
    ("message", "offset", "reason"),
    [
        (OLD[:5], 0, "offset and size need 12"),
        (OLD[:-1], 8, "message of"),
        (OLD[:8] + b"\0\0\0\x15" + OLD[12:33], 8, "at least 22 bytes, not 21"),
        (OLD[:26] + b"\0\0\x01\0" + OLD[30:], 26, "key of 256 bytes, 6 are left"),
        (OLD[:26] + b"\0\0\0\5" + OLD[30:], 35, "the value has no size"),
        (OLD[:26] + b"\xff\xff\xff\xfe" + OLD[30:], 26, "a null key has size -1, not -2"),
        (OLD[:31] + b"\0\0\0\0" + OLD[35:], 35, "1 bytes after the value"),
    ],
)
def test_messages_that_are_refused(message, offset, reason):
    with pytest.raises(R.RecordError, match=reason) as caught:
        message_set.decode_message(message)
    assert caught.value.offset == offset


@pytest.mark.parametrize("at", range(16, len(OLD)))
def test_the_crc_of_a_message_covers_it_from_the_magic_on(at):
    flipped = bytearray(OLD)
    flipped[at] ^= 0x10
    with pytest.raises(R.RecordError, match="Record is corrupt"):
        R.check_crc(bytes(flipped), 0, len(flipped), 1)


def wrapper(inner: bytes | None, *, magic=1, codec=R.GZIP, offset=0, attributes=0, stamp=NOW):
    value = inner if inner is None else compression.compress(codec, inner, magic=magic)
    return Message(offset, magic, codec | attributes, stamp, None, value)


INNER = R.build(1, [b"a", b"b", b"c"], timestamp=3)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (wrapper(None), "null value"),
        (wrapper(b""), "no inner records"),
        (wrapper(INNER, codec=R.ZSTD), "Invalid wrapper compressionType"),
        (wrapper(INNER, offset=1), "wrapper offset '1' is less than the last inner message offset"),
        (wrapper(wrapper(INNER).encode()), "Inner messages must not be compressed"),
        (wrapper(INNER)._replace(value=b"\x1f\x8b"), "gzip"),
    ],
)
def test_wrappers_that_are_refused(message, reason):
    with pytest.raises(R.RecordError, match=reason):
        message_set.unwrap(message)


def test_what_a_codec_cannot_read_is_told_apart():
    garbage = R.read_header(GOOD)._replace(attributes=R.LZ4).encode(b"not lz4")
    with pytest.raises(R.PayloadError):
        R.decode_batch(garbage)
    with pytest.raises(R.PayloadError):
        message_set.unwrap(wrapper(INNER)._replace(value=b"not gzip"))


def test_inner_messages_take_the_wrappers_offsets_and_append_time():
    assert [m.offset for m in message_set.unwrap(wrapper(INNER, offset=52))] == [50, 51, 52]
    assert [m.offset for m in message_set.unwrap(wrapper(INNER, offset=0))] == [0, 1, 2]
    stamped = message_set.unwrap(wrapper(INNER, offset=2, attributes=8))
    assert {m.timestamp for m in stamped} == {NOW}
    assert {m.timestamp for m in message_set.unwrap(wrapper(INNER, offset=2))} == {3}
    absolute = R.build(0, [b"a", b"b"], base_offset=70)
    assert [m.offset for m in message_set.unwrap(wrapper(absolute, magic=0, offset=9))] == [70, 71]


def test_an_inner_message_cut_short_ends_the_set_silently_as_in_kafka():
    cut = wrapper(INNER[:-1])
    assert len(message_set.unwrap(cut)) == 2
    with pytest.raises(R.RecordError):
        message_set.unwrap(cut, strict=True)


@pytest.mark.parametrize("codec", range(5), ids=compression.NAMES)
@pytest.mark.parametrize("magic", range(3))
def test_offsets_epoch_and_append_time_are_patched_in_place(magic, codec):
    if codec == R.ZSTD and magic < 2:
        pytest.skip("zstd came with magic 2")
    data = bytearray(b"xx" + R.build(magic, [b"a", b"b", b"c"], codec, timestamp=NOW))
    for index, (pos, size, _) in enumerate(list(R.entries(data, 2))):
        R.set_last_offset(data, pos, 102 if codec or magic == 2 else 100 + index)
        if magic == 2:
            R.set_partition_leader_epoch(data, pos, 9)
        if magic:
            R.set_timestamp(data, pos, size, 1, NOW + 5)
        R.check_crc(data, pos, size, magic)
    rows = R.read(bytes(data[2:]))
    absolute = (0, 1, 2) if not magic and codec else (100, 101, 102)
    assert tuple(row["offset"] for row in rows) == absolute
    assert {row["timestamp"] for row in rows} == {NOW + 5 if magic else -1}
    assert {row["partition_leader_epoch"] for row in rows} == {9 if magic == 2 else -1}


def test_a_timestamp_already_right_leaves_odd_attributes_alone():
    odd = bytearray(R.rewrite(GOOD, attributes=0x4780))
    before = bytes(odd)
    R.set_timestamp(odd, 0, len(odd), 0, NOW)
    assert odd == before
    R.set_timestamp(odd, 0, len(odd), 0, NOW + 1)
    assert R.read_header(odd).attributes == 0
    R.check_crc(odd, 0, len(odd), 2)


def test_what_old_formats_do_not_have_cannot_be_patched():
    for function, arguments in (
        (patch.set_partition_leader_epoch, (bytearray(OLD), 0, 1)),
        (patch.set_timestamp, (bytearray(R.build(0, [b"a"])), 0, 27, 1, 1)),
    ):
        with pytest.raises(R.RecordError):
            function(*arguments)


def test_control_batches_and_headers_do_not_survive_down_conversion():
    data = R.build(2, [(b"k", b"v")], control=True) + GOOD
    rows = R.read(R.down_convert(data, 1))
    assert [(row["key"], row["headers"]) for row in rows] == [(b"k", ()), (None, ())]


def test_zstd_cannot_be_converted_down():
    with pytest.raises(R.UnsupportedCompression, match="zstandard"):
        R.down_convert(R.build(2, [b"a"], R.ZSTD), 1)


def test_entries_old_enough_are_passed_on_as_they_are():
    data = R.build(0, [b"a"], R.GZIP) + OLD
    assert R.down_convert(data, 1) == data
    assert [row["timestamp"] for row in R.read(R.down_convert(data, 0))] == [-1, -1]


@pytest.mark.parametrize("codec", range(4), ids=compression.NAMES[:4])
@pytest.mark.parametrize("source", [0, 1])
def test_old_records_are_rebuilt_in_the_newest_format(source, codec):
    data = R.build(source, [b"a", (b"k", None)], codec, timestamp=NOW)
    flat = [
        record for pos, _, magic in R.entries(data) for record in R.records_of(data, pos, magic)
    ]
    rebuilt = R.rebuild(flat, magic=2, base_offset=40, compression=codec)
    rows = R.read(rebuilt)
    assert [(row["offset"], row["key"], row["value"]) for row in rows] == [
        (40, None, b"a"),
        (41, b"k", None),
    ]
    assert {row["timestamp"] for row in rows} == {NOW if source else -1}
    assert R.decode_batch(rebuilt).encode() == rebuilt


def test_rebuilding_keeps_the_producer():
    like = R.read_header(
        R.build(2, [b"a"], producer_id=4, producer_epoch=1, base_sequence=7, transactional=True)
    )
    flat = [R.Flat(0, NOW, None, b"a"), R.Flat(1, NOW - 1, None, b"b")]
    header = R.read_header(R.rebuild(flat, magic=2, base_offset=5, like=like))
    assert header[9:12] == (4, 1, 7) and header.transactional
    assert (header.base_offset, header.last_offset) == (5, 6)
    assert (header.base_timestamp, header.max_timestamp) == (NOW, NOW)


def test_a_batch_without_records_has_no_timestamp():
    empty = R.encode_batch([], base_timestamp=-1)
    assert R.read_header(empty).max_timestamp == batch.NO_TIMESTAMP
    assert R.read(empty) == []
