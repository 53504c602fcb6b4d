"""Bytes inside bytes: consumer protocol and the records of internal topics."""

import random

import pytest

from touchstone.reference_impl.wire.codec import DecodeError
from touchstone.reference_impl.wire.embedded import (
    consumer_group_records,
    consumer_offsets,
    decode_key,
    decode_value,
    encode_key,
    encode_value,
    share_group_records,
    share_state,
    streams_group_records,
    transaction_state,
)
from touchstone.reference_impl.wire.embedded.consumer_protocol import (
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)

from .messages import message

TABLES = (
    consumer_offsets,
    consumer_group_records,
    share_group_records,
    streams_group_records,
    transaction_state,
    share_state,
)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__.rpartition(".")[2])
def test_records_of_internal_topics_come_back(table):
    rng = random.Random(1)
    for kind, (key, value) in table.RECORDS.items():
        body = message(key, 0, rng)
        assert decode_key(table.RECORDS, encode_key(table.RECORDS, kind, body)) == (kind, body)
        for version in value.all_versions():
            body = message(value, version, rng)
            data = encode_value(table.RECORDS, kind, version, body)
            assert decode_value(table.RECORDS, kind, data) == (version, body)


def test_types_do_not_clash_within_consumer_offsets():
    kinds = [kind for table in TABLES[:4] for kind in table.RECORDS]
    assert sorted(kinds) == [*range(18), *range(19, 24)]


def test_known_bytes():
    body = {"group": "g", "topic": "t", "partition": 3}
    assert encode_key(consumer_offsets.RECORDS, 1, body) == b"\0\1\0\1g\0\1t\0\0\0\3"
    assert encode_assignment(0, {}) == b"\0\0\0\0\0\0\xff\xff\xff\xff"


def test_a_newer_subscription_is_read_as_the_newest_known():
    data = encode_subscription(3, {"topics": ["t"], "rack_id": "r"})
    version, body, end = decode_subscription(b"\x00\x09" + data[2:] + b"more")
    assert (version, body["topics"], body["rack_id"], end) == (9, ["t"], "r", len(data))


@pytest.mark.parametrize("data", [b"", b"\0", b"\xff\xff\0\0\0\0", b"\0\0\0\0\0\1"])
def test_bad_bytes_are_refused(data):
    for read in (decode_subscription, decode_assignment):
        with pytest.raises(DecodeError):
            read(data)


def test_unknown_types_and_versions_are_refused_by_name():
    with pytest.raises(DecodeError, match="no record of type 99 here"):
        decode_key(consumer_offsets.RECORDS, b"\0\x63")
    with pytest.raises(DecodeError, match="OffsetCommitValue has versions 0-4"):
        decode_value(consumer_offsets.RECORDS, 1, b"\0\x63")
    with pytest.raises(DecodeError, match="2 bytes wanted"):
        decode_key(consumer_offsets.RECORDS, b"\0")
