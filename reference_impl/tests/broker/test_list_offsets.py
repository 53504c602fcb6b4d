"""A timestamp that names nothing is refused before anybody looks for the partition (3.9, 4.3)."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.tests.broker.one_broker import OneBroker
from touchstone.reference_impl.wire.errors import ErrorCode

UNSUPPORTED, UNKNOWN = ErrorCode.UNSUPPORTED_VERSION, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize(
    ("release", "version", "timestamp", "code"),
    [
        ("2.8", 5, -7, UNKNOWN),
        ("3.9", 2, -3, UNSUPPORTED),
        ("3.9", 7, -3, UNKNOWN),
        ("3.9", 7, -4, UNSUPPORTED),
        ("3.9", 9, -5, UNKNOWN),
        ("3.9", 9, -6, UNSUPPORTED),
        ("4.3", 1, -65025, UNSUPPORTED),
        ("4.3", 8, -4, UNKNOWN),
        ("4.3", 10, -6, UNSUPPORTED),
    ],
)
def test_a_timestamp_that_names_nothing_is_refused_first(release, version, timestamp, code):
    row = {"partition_index": 0, "timestamp": timestamp}
    body = {"replica_id": -1, "topics": [{"name": "absent", "partitions": [row]}]}
    answer = OneBroker(release).ask("ListOffsets", version, body)
    assert answer["topics"][0]["partitions"][0]["error_code"] == code
