"""Columns of a batch against its records one by one: equal where sound, equal in what is wrong."""

from __future__ import annotations

from random import Random

import pytest

from touchstone.reference_impl.wire.records import RecordError, encode_batch, read_header
from touchstone.reference_impl.wire.records.batch import (
    LOG_APPEND_TIME,
    Record,
    decode_records,
    encode_records,
)
from touchstone.reference_impl.wire.records.unpack import Columns, batch_columns, unpack


def same(index: int, random: Random) -> Record:
    return Record(index, index // 30, None, b"x" * 100)


def keyed(index: int, random: Random) -> Record:
    return Record(index, index // 3, b"k%03d" % index, b"v%05d" % index)


def varying(index: int, random: Random) -> Record:
    key = random.choice([None, b"", random.randbytes(random.randrange(1, 90))])
    value = random.choice([None, b"", random.randbytes(random.randrange(1, 300))])
    headers = random.choice([(), (), (), [(b"h", b"1"), (b"i", None)]])
    stamp = random.choice([0, 1, -1, 63, 64, 5_000, -5_000, 1 << 40])
    return Record(index * random.choice([1, 1, 2]), stamp, key, value, headers)


def long_value(index: int, random: Random) -> Record:
    return Record(index, 0, b"k", b"x" * 20_000)


def tombstones(index: int, random: Random) -> Record:
    return Record(index, index * 7, b"key", None)


SHAPES = [same, keyed, varying, long_value, tombstones]


def columns(records: list[Record]) -> Columns:
    return Columns(
        [each.offset_delta for each in records], [each.timestamp_delta for each in records],
        [each.key for each in records], [each.value for each in records],
        [tuple(each.headers) for each in records],
    )  # fmt: skip


@pytest.mark.parametrize("make", SHAPES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("count", [0, 1, 3, 5, 63, 64, 65, 200])
def test_columns_are_what_the_records_say(make, count):
    random = Random(count)
    payload = encode_records(make(index, random) for index in range(count))
    assert unpack(payload, count) == columns(decode_records(payload, count))


def test_columns_go_on_where_deltas_grow_a_byte():
    payload = encode_records(same(index, Random(0)) for index in range(8_300))
    assert unpack(payload, 8_300) == columns(decode_records(payload, 8_300))


@pytest.mark.parametrize("make", SHAPES, ids=lambda make: make.__name__)
def test_damage_is_read_as_record_by_record(make):
    random = Random(7)
    count = 4 if make is long_value else 30
    sound = encode_records(make(index, random) for index in range(count))
    for _ in range(300):
        payload = bytearray(sound)
        for _ in range(random.choice([1, 1, 2])):
            payload[random.randrange(len(payload))] = random.randrange(256)
        cut = bytes(payload[: random.choice([None, random.randrange(len(payload))])])
        try:
            expected = columns(decode_records(cut, count, strict=False, origin=61))
        except RecordError as fault:
            with pytest.raises(RecordError) as told:
                unpack(cut, count, origin=61)
            assert (told.value.offset, told.value.reason) == (fault.offset, fault.reason)
        else:
            assert unpack(cut, count, origin=61) == expected


def test_a_batch_has_whole_offsets_and_timestamps():
    records = [Record(0, 0, None, b"a"), Record(2, 5, b"k", None)]
    data = encode_batch(records, base_timestamp=1_000, base_offset=40)
    found = batch_columns(data, 0, read_header(data))
    assert (found.offsets, found.timestamps) == ([40, 42], [1_000, 1_005])
    appended = encode_batch(
        records, base_timestamp=1_000, timestamp_type=LOG_APPEND_TIME, max_timestamp=9
    )
    assert batch_columns(appended, 0, read_header(appended)).timestamps == [9, 9]
