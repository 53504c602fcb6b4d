"""Bytes of a liar: every failure is a DecodeError that says where, and costs no memory."""

import tracemalloc

import pytest

from touchstone.reference_impl.wire.codec import DecodeError, decode, encode
from touchstone.reference_impl.wire.schema import Field, Message

from .messages import message
from .test_identities import SCHEMAS, each

ALL = Message("All", "0-1", "1+", [
    Field("text", "0+", "string"),
    Field("maybe", "0+", "string", nullable="0+"),
    Field("blob", "0+", "bytes"),
    Field("numbers", "0+", "[]int64"),
    Field("rows", "0+", "[]struct", nullable="0+", fields=[Field("id", "0+", "uuid")]),
    Field("nothing", "0+", "[]struct", fields=[Field("later", "9+", "int8")]),
])  # fmt: skip
GOOD = {"text": "t", "maybe": None, "blob": b"", "numbers": [], "rows": None, "nothing": []}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_a_message_cut_short_anywhere_is_refused(schema):
    for version, rng in each(schema):
        data = encode(schema, version, message(schema, version, rng, plain=True))
        cuts = range(len(data)) if len(data) < 40 else sorted(rng.sample(range(len(data)), 40))
        for cut in cuts:
            with pytest.raises(DecodeError) as caught:
                decode(schema, version, data[:cut])
            assert 0 <= caught.value.offset <= cut
            assert caught.value.path
            assert caught.value.reason


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_noise_is_refused_or_read_but_never_breaks(schema):
    for version, rng in each(schema):
        noise = [bytes([byte]) * 64 for byte in (0, 1, 127, 128, 255)]
        for data in [*noise, rng.randbytes(64)]:
            try:
                assert decode(schema, version, data)[1] <= 64
            except DecodeError as error:
                assert 0 <= error.offset <= 64


@pytest.mark.parametrize(
    ("version", "data", "offset", "path"),
    [
        (0, b"\xff\xff", 0, "text"),
        (0, b"\x00\x05abc", 2, "text"),
        (0, b"\x00\x00\xff\xff\xff\xff\xff\xff", 4, "blob"),
        (0, b"\x00\x00\xff\xff\x7f\xff\xff\xff", 8, "blob"),
        (0, b"\x00\x00\xff\xff" + bytes(4) + b"\x7f\xff\xff\xff", 8, "numbers"),
        (0, b"\x00\x00\xff\xff" + bytes(4) + b"\x00\x00\x00\x01ab", 12, "numbers[0]"),
        (0, b"\x00\x00\xff\xff" + bytes(8) + b"\x00\x00\x00\x01" + bytes(15), 16, "rows[0].id"),
        (0, b"\x00\x00\xff\xff" + bytes(8) + b"\xff" * 4 + b"\x00\x00\x00\x09ab", 16, "nothing"),
        (1, b"\x00", 0, "text"),
        (1, b"\x81\x80\x02", 0, "text"),
        (1, b"\x80\x80\x80\x80\x80\x00", 0, "text"),
        (1, b"\xff\xff\xff\xff\xff\x0f", 0, "text"),
        (1, b"\x80\x80", 0, "text"),
        (1, b"\x01\x80\x80\x80\x80\x08", 1, "maybe"),  # wraps to the largest length in Java
        (1, b"\x01\x00\x01\x01\x00\x01\x01\x05\x03zz", 9, "_tags[5]"),
        (1, b"\x01\x00\x01\x01\x00\x01\x05", 7, "_tags"),
    ],
)
def test_lies_are_found_at_their_place(version, data, offset, path):
    with pytest.raises(DecodeError) as caught:
        decode(ALL, version, data)
    assert (caught.value.path, caught.value.offset) == (path, offset)


def test_java_reads_any_negative_length_as_null_where_null_may_be():
    data = bytearray(encode(ALL, 0, GOOD))
    assert data[3:5] == b"\xff\xff"
    data[4] = 0xF0
    assert decode(ALL, 0, bytes(data))[0] == GOOD


@pytest.mark.parametrize("version", [0, 1])
def test_huge_lengths_allocate_nothing(version):
    """Each length of a good message in turn becomes the largest there is."""
    good = encode(ALL, version, GOOD | {"rows": [], "maybe": "m"})
    huge = b"\x7f\xff\xff\xff" if version == 0 else b"\xff\xff\xff\xff\x07"
    decode(ALL, version, good)
    tracemalloc.start()
    try:
        for at in range(len(good)):
            with pytest.raises(DecodeError):
                decode(ALL, version, good[:at] + huge + bytes(8))
        assert tracemalloc.get_traced_memory()[1] < 256 * 1024
    finally:
        tracemalloc.stop()


def test_reading_starts_where_it_is_told_and_says_where_it_ended():
    good = encode(ALL, 1, GOOD)
    assert decode(ALL, 1, b"junk" + good + b"rest", 4) == (GOOD, 4 + len(good))
    assert decode(ALL, 1, memoryview(good)) == (GOOD, len(good))


def test_tags_out_of_order_or_twice_are_read_as_java_reads_them():
    head = encode(ALL, 1, GOOD)[:-1]
    value, _ = decode(ALL, 1, head + b"\x03" + b"\x09\x01b" + b"\x05\x01a" + b"\x09\x01c")
    assert value["_tags"] == {9: b"c", 5: b"a"}
    assert encode(ALL, 1, value) == head + b"\x02\x05\x01a\x09\x01c"
