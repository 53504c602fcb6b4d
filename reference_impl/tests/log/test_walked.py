"""Large payloads are walked once, ahead of their append, and lookups by time know them."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.data.beside_loop import BesideLoop
from touchstone.reference_impl.log import by_time, validation, walked
from touchstone.reference_impl.tests.broker.one_broker import NOW, WAITING, OneBroker
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import ZSTD, batch, build, convert

COUNT = 1_200
SHAPES = [b"", b"v", b"vv"]
RECORDS = [
    {"key": None, "value": SHAPES[at % 3], "timestamp": NOW + (at * 7) % 1000}
    for at in range(COUNT)
]


def a_batch(compression: int = ZSTD) -> bytes:
    return build(2, RECORDS, compression, timestamp=NOW)


def many_headers(count: int = 40_000) -> bytes:
    record = {"value": b"", "timestamp": NOW, "headers": [(b"", b"")] * count}
    return build(2, [record], ZSTD, timestamp=NOW)


@pytest.fixture(autouse=True)
def small_is_large(monkeypatch):
    monkeypatch.setattr(walked, "LARGE", 1 << 12)
    by_time._known.cache_clear()


class Beside(OneBroker):
    """A broker whose long work is done when the test says so."""

    def __init__(self, release: str = "4.3") -> None:
        super().__init__(release)
        self.topic()
        self.jobs: list = []
        self.brokers[0].room(BesideLoop).submit = lambda job, then: self.jobs.append((job, then))

    def work(self) -> None:
        while self.jobs:
            job, then = self.jobs.pop(0)
            job()
            then()

    def settled(self):
        effects = self.brokers[0].tick(self.now)
        mine = [each for each in effects if getattr(each, "connection", None) is self.connection]
        answer = self.read(mine, "Produce", 9)
        return answer["responses"][0]["partition_responses"][0]

    def by_time(self, timestamp: int) -> tuple[int, int]:
        wanted = {"partition_index": 0, "timestamp": timestamp, "current_leader_epoch": -1}
        body = {"replica_id": -1, "isolation_level": 0}
        topics = [{"name": "t", "partitions": [wanted]}]
        answer = self.ask("ListOffsets", 7, {**body, "topics": topics})
        row = answer["topics"][0]["partitions"][0]
        return row["offset"], row["timestamp"]


@pytest.mark.parametrize("records", [a_batch(), a_batch(0), many_headers()])
def test_a_large_payload_is_walked_beside_the_loop_and_not_again(records, monkeypatch):
    """767 bytes took 1.5 s of the only thread, and each lookup by time 3 to 12 s, for anybody."""
    one = Beside()
    walks = []
    real = validation.check_records
    monkeypatch.setattr(
        validation, "check_records", lambda *given, **how: walks.append(1) or real(*given, **how)
    )
    assert one.produce(records, version=9) == WAITING
    assert len(one.jobs) == 1 and not one.log().log_end_offset
    one.work()
    assert one.settled()["error_code"] == ErrorCode.NONE
    assert walks == []
    assert one.log().log_end_offset == batch.read_header(records).records_count


def test_lookups_by_time_know_what_was_walked_and_find_the_same(monkeypatch):
    one = Beside()
    one.produce(a_batch(), version=9)
    one.work()
    one.settled()
    walks = []
    real = by_time._walked
    monkeypatch.setattr(by_time, "_walked", lambda *given: walks.append(1) or real(*given))
    flat = convert.records_of(a_batch(), 0, 2)
    for timestamp in (NOW, NOW + 1, NOW + 500, NOW + 998, NOW + 999, NOW + 1000):
        first = next((r for r in flat if r.timestamp >= timestamp), None)
        assert one.by_time(timestamp) == ((first.offset, first.timestamp) if first else (-1, -1))
    newest = max(flat, key=lambda r: r.timestamp)
    assert one.by_time(-3) == (newest.offset, newest.timestamp)
    assert walks == []


def test_a_lookup_from_within_a_large_batch_finds_the_same():
    one = Beside()
    one.produce(a_batch(), version=9)
    one.work()
    one.settled()
    one.log().delete_to(700)
    flat = [r for r in convert.records_of(a_batch(), 0, 2) if r.offset >= 700]
    for timestamp in (NOW, NOW + 300, NOW + 999):
        first = next(r for r in flat if r.timestamp >= timestamp)
        assert one.by_time(timestamp) == (first.offset, first.timestamp)


def test_a_fault_that_is_found_beside_the_loop_refuses_the_append():
    payload = b"".join(
        batch.encode_record(batch.Record(at, 0, None, SHAPES[at % 3])) for at in range(COUNT)
    )
    header = batch.read_header(a_batch(0))
    broken = header.encode(payload[:-3] + b"\xff\xff\xff")
    one = Beside()
    assert one.produce(broken, version=9) == WAITING
    one.work()
    assert one.settled()["error_code"] == refusal_at_once(broken)


def refusal_at_once(records: bytes) -> int:
    """What is answered where all is done at once."""
    one = OneBroker()
    one.topic()
    return one.produce(records, version=9)["error_code"]


def test_what_is_small_waits_for_nothing_and_is_unpacked_once(monkeypatch):
    one, unpacked = Beside(), []
    real = walked.codecs.decompress
    monkeypatch.setattr(
        walked.codecs,
        "decompress",
        lambda *given, **how: unpacked.append(1) or real(*given, **how),
    )
    small = build(2, [b"one"], ZSTD, timestamp=NOW)
    assert one.produce(small, version=9)["error_code"] == ErrorCode.NONE
    assert one.jobs == [] and len(unpacked) == 1


def test_who_leaves_meanwhile_appends_nothing():
    one = Beside()
    one.produce(a_batch(), version=9)
    one.brokers[0].closed(one.connection)
    one.work()
    one.brokers[0].tick(one.now)
    assert one.log().log_end_offset == 0


def test_without_a_loop_it_is_done_at_once():
    one = OneBroker()
    one.topic()
    assert one.produce(a_batch(), version=9)["error_code"] == ErrorCode.NONE


@pytest.mark.parametrize("codec", [0, ZSTD])
@pytest.mark.parametrize("size", [14, 17, 22, 23, 60])
def test_a_batch_that_ends_within_its_header_is_corrupt(size, codec):
    """Also where it would wait for its payload to be walked: compressed ones look large."""
    cut = bytearray(a_batch(codec)[:size])
    cut[8:12] = (size - 12).to_bytes(4, "big")
    assert refusal_at_once(bytes(cut)) == ErrorCode.CORRUPT_MESSAGE
