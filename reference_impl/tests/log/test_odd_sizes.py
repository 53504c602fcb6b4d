"""A null key whose size is -2 is stored as null: observed on 1.0.2, 2.2.1 and 2.8.2."""

import zlib

import pytest

from touchstone.reference_impl.tests.broker.one_broker import OneBroker
from touchstone.reference_impl.wire import records as R
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.records import message_set

KEY_SIZE_AT = message_set.LOG_OVERHEAD + 4 + 1 + 1 + 8  # behind crc, magic, attributes, timestamp


@pytest.mark.parametrize("release", ["1.0", "2.2", "2.8"])
def test_a_negative_size_ends_no_connection(release, caplog):
    message = bytearray(R.build(1, [(None, b"v")]))
    message[KEY_SIZE_AT : KEY_SIZE_AT + 4] = (-2).to_bytes(4, "big", signed=True)
    crc = zlib.crc32(message[message_set.CRC_AT + 4 :])
    message[message_set.CRC_AT : message_set.CRC_AT + 4] = crc.to_bytes(4, "big")
    broker = OneBroker(release)
    broker.topic()
    row = broker.produce(bytes(message), version=2)
    assert row["error_code"] == E.NONE
    assert not caplog.records
