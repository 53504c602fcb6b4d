"""Nothing is lost: decode(encode(x)) == x and encode(decode(b)) == b, for every key and version.

The compiled functions and the interpreter are two implementations; each message goes through both.
"""

import random

import pytest

from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.codec import DecodeError, EncodeError, decode, encode
from touchstone.reference_impl.wire.compiler import (
    compile_decoder,
    compile_encoder,
    decoder_source,
    encoder_source,
)
from touchstone.reference_impl.wire.embedded import (
    consumer_group_records,
    consumer_offsets,
    control_records,
    share_group_records,
    share_state,
    stored,
    streams_group_records,
    transaction_state,
)
from touchstone.reference_impl.wire.embedded.consumer_protocol import ASSIGNMENT, SUBSCRIPTION
from touchstone.reference_impl.wire.interpreter import interpret_decode, interpret_encode
from touchstone.reference_impl.wire.schema import Field, Message

from .messages import message

SEED = 20250101
DATA_MODULES = (
    consumer_group_records,
    consumer_offsets,
    control_records,
    share_group_records,
    share_state,
    stored,
    streams_group_records,
    transaction_state,
)
DATA = {
    schema.name: schema
    for module in DATA_MODULES
    for schema in vars(module).values()
    if isinstance(schema, Message)
} | {"ConsumerProtocolSubscription": SUBSCRIPTION, "ConsumerProtocolAssignment": ASSIGNMENT}
SCHEMAS = {
    schema.name: schema for api in API.values() for schema in (api.request, api.response)
} | DATA


def each(schema):
    for version in schema.all_versions():
        yield version, random.Random(f"{SEED} {schema.name} {version}")


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_odd_messages_survive(schema):
    for version, rng in each(schema):
        for _ in range(3):
            value = message(schema, version, rng)
            data = encode(schema, version, value)
            assert data == interpret_encode(schema, version, value)
            assert decode(schema, version, data) == (value, len(data))
            assert interpret_decode(schema, version, data, 0, fill=False) == (value, len(data))
            filled, end = decode(schema, version, data, fill=True)
            assert (filled, end) == interpret_decode(schema, version, data, 0, fill=True)
            assert encode(schema, version, filled) == data


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_the_compiled_functions_do_it_alone(schema):
    """A plain message never needs the interpreter, else the fast path is not the path."""
    for version, rng in each(schema):
        value = message(schema, version, rng, plain=True)
        data = interpret_encode(schema, version, value)
        assert b"".join(compile_encoder(schema, version, lenient=False)(value)) == data
        assert b"".join(compile_encoder(schema, version, lenient=True)(value)) == data
        assert compile_decoder(schema, version, fill=False)(data, 0) == (value, len(data))
        nothing = b"".join(compile_encoder(schema, version, lenient=True)({}))
        assert nothing == encode(schema, version, {})


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_mutated_bytes_read_the_same_fast_and_slow(schema):
    for version, rng in each(schema):
        data = bytearray(encode(schema, version, message(schema, version, rng)))
        for _ in range(8 if data else 0):
            broken = bytearray(data)
            broken[rng.randrange(len(data))] = rng.choice((0, 1, 127, 128, 255))
            assert outcome(decode, schema, version, bytes(broken)) == outcome(
                interpret_decode, schema, version, bytes(broken), 0
            )


def outcome(read, schema, version, data, *rest):
    try:
        return repr(read(schema, version, data, *rest, fill=False))  # repr: NaN equals itself
    except DecodeError as error:
        return error.offset, error.path, error.reason


FLAGS = Message("Flags", "0-1", "1+", [
    Field("name", "0+", "string"),
    Field("old", "0", "int32", default=7),
    Field("mark", "1+", "int16", tag=3, default=5),
    Field("inner", "1+", "struct", nullable="1+", tag=4, default=None, fields=[
        Field("x", "1+", "int8"),
    ]),
])  # fmt: skip


def test_a_default_that_was_sent_is_sent_again():
    data = b"\x02a\x01\x03\x02\x00\x05"
    value, _ = decode(FLAGS, 1, data)
    assert value == {"name": "a", "mark": 5, "inner": None, "_tags": {3: b"\x00\x05"}}
    assert encode(FLAGS, 1, value) == data
    assert encode(FLAGS, 1, value | {"mark": 6}) == b"\x02a\x01\x03\x02\x00\x06"
    assert encode(FLAGS, 1, {"name": "a", "mark": 5}) == b"\x02a\x00"


def test_a_null_struct_and_an_absent_one_differ():
    assert encode(FLAGS, 1, {"inner": {"x": 1}}) == b"\x01\x01\x04\x03\x01\x01\x00"
    null = b"\x01\x01\x04\x01\x00"  # a varint in a tag
    assert decode(FLAGS, 1, null)[0]["_tags"] == {4: b"\x00"}
    assert "_tags" not in decode(FLAGS, 1, b"\x01\x00")[0]


def test_missing_keys_take_defaults_and_other_versions_are_ignored():
    assert encode(FLAGS, 0, {"name": "a", "mark": 9}) == b"\x00\x01a\x00\x00\x00\x07"
    assert encode(FLAGS, 0, {}) == b"\x00\x00\x00\x00\x00\x07"
    assert decode(FLAGS, 0, b"\x00\x01a\x00\x00\x00\x07", fill=True)[0] == {
        "name": "a", "old": 7, "mark": 5, "inner": None,
    }  # fmt: skip


def test_a_missing_key_needs_no_second_try():
    compiled = compile_encoder(FLAGS, 0, lenient=False)
    assert b"".join(compiled({"old": 1})) == b"\x00\x00\x00\x00\x00\x01"
    assert b"".join(compiled({"name": "a", "old": 7, "mark": 9})) == b"\x00\x01a\x00\x00\x00\x07"


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        ({"nam": "a"}, "", "no version has a field nam"),
        ({"name": "a", "x": 1, "mark": 1}, "", "no version has a field x"),
        ({"name": None}, "name", "null is not allowed"),
        ({"name": b"a"}, "name", "a str wanted, got bytes"),
        ({"name": "a" * 32768}, "name", "a string of 32768 bytes, more than 32767"),
        ({"name": "a", "old": 1 << 40}, "old", "is no int32"),
        ({"name": "\ud800"}, "name", "no bytes for"),
        ([], "", "a dict wanted, got list"),
    ],
)
def test_what_cannot_be_written_names_its_field(value, path, reason):
    with pytest.raises(EncodeError) as caught:
        encode(FLAGS, 0, value)
    assert (caught.value.path, reason in caught.value.reason) == (path, True)


def test_the_source_can_be_read():
    schema = API[3].response
    assert decoder_source(schema, 12).startswith("def decode(data, i):")
    assert encoder_source(schema, 12).startswith("def encode(d):")


def test_a_version_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="has versions 0-13, not 14"):
        encode(API[3].request, 14, {})
    with pytest.raises(ValueError, match="has versions 0-13, not 14"):
        decode(API[3].request, 14, b"")
