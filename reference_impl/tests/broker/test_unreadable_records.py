"""A record whose sizes disagree: Produce takes it when compressed, a search by time meets it."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.tests.broker.one_broker import OneBroker
from touchstone.reference_impl.wire.errors import ErrorCode as E

# Three records in gzip; the last one says that it has no bytes. Found by the fuzzer; 3.9.2 and
# 4.3.1 store it, and answer INVALID_RECORD to who searches it.
BATCH = bytes.fromhex(
    "000000000000000000000077ffffffff024ff350660001000000020000018bcfe568000000018bcfe56800ffffffff"
    "ffffffffffffffffffff000000031f8b08000000000000ff1360606060ca662a63d063606262542a4bcc294d5528cf"
    "2cc9c82f2d51c84ead64680002a01a16a192fcdca4e292fcbc544606008079004835000000"
)
# Three records in zstd; the second says 23 bytes and has 32, and its time is in a million years.
LATE = bytes.fromhex(
    "000000000000000000000074ffffffff0209513ff30004000000020000018bcfe568000000018bcfe56800ffffffff"
    "ffffffffffffffffffff0000000328b52ffd203ad1010010000000026b0276002e8080808080808080800100020122"
    "76616c756520776974686f7574206b6579001e00000412746f6d6273746f6e650100"
)
TIME = 1_700_000_000_000
LATER = TIME + 1


@pytest.mark.parametrize("release", ["3.9", "4.3"])
def test_a_record_that_cannot_be_read_is_its_partitions_error(release, caplog):
    broker = OneBroker(release)
    broker.topic(partitions=2)
    assert broker.produce(BATCH, version=5)["error_code"] == E.NONE
    rows = [{"partition_index": index, "timestamp": TIME} for index in (0, 1)]
    topics = [{"name": "t", "partitions": rows}]
    body = {"replica_id": -1, "isolation_level": 0, "topics": topics}
    answer = broker.ask("ListOffsets", 2, body)
    codes = [row["error_code"] for row in answer["topics"][0]["partitions"]]
    assert codes == [E.INVALID_RECORD, E.NONE]
    rows[0]["timestamp"] = LATER
    answer = broker.ask("ListOffsets", 2, body)
    assert [row["offset"] for row in answer["topics"][0]["partitions"]] == [-1, -1]
    assert not caplog.records


@pytest.mark.parametrize("release", ["3.9", "4.3"])
def test_a_compacted_topic_reads_what_others_skim(release, caplog):
    """3.9.2 and 4.3.1 answer INVALID_RECORD: one of its records has no key."""
    broker = OneBroker(release)
    broker.topic(cleanup_policy="compact")
    assert broker.produce(BATCH, version=5)["error_code"] == E.INVALID_RECORD
    assert not caplog.records


@pytest.mark.parametrize(
    ("release", "code"), [("3.9", E.UNKNOWN_SERVER_ERROR), ("4.3", E.INVALID_TIMESTAMP)]
)
def test_the_time_of_a_record_is_looked_at_before_it_is_read_as_a_whole(release, code):
    """Found by `fuzz --against`; 3.9.2 takes any time, and then meets the odd offset."""
    broker = OneBroker(release)
    broker.topic()
    assert broker.produce(LATE, version=10)["error_code"] == code
