"""Produce, Fetch, ListOffsets, DeleteRecords through the core, each planted defect beside it."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.effects import Connection
from touchstone.reference_impl.broker.faults.switches import SWITCHES, check
from touchstone.reference_impl.tests.broker.one_broker import (
    CLOSED,
    NOW,
    SILENT,
    WAITING,
    OneBroker,
    batch,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import ZSTD, build, read, rewrite


@pytest.fixture
def broker():
    made = OneBroker()
    made.topic()
    return made


def planted(switch: str, **config: str) -> OneBroker:
    made = OneBroker(switches=[switch])
    made.topic(**config)
    return made


def test_every_version_appends_and_says_where(broker):
    for version in range(3, 13):
        assert broker.produce(batch(), version=version)["base_offset"] == 3 * (version - 3)


def test_the_planted_offset_is_wrong_by_one():
    assert planted("offset-off-by-one").produce(batch())["base_offset"] == 1


def test_acks_zero_has_no_answer_and_an_error_closes(broker):
    assert broker.produce(batch(), acks=0) == SILENT
    assert broker.produce(rewrite(batch(), crc=1), acks=0) == CLOSED
    assert planted("acks-zero-answered").produce(batch(), acks=0)["error_code"] == 0


@pytest.mark.parametrize("acks", [2, -2, 7])
def test_other_acks_are_refused(broker, acks):
    assert broker.produce(batch(), acks=acks)["error_code"] == ErrorCode.INVALID_REQUIRED_ACKS
    assert broker.log().log_end_offset == 0


@pytest.mark.parametrize(
    ("release", "partition", "name", "code"),
    [("1.0", 9, "t", 21), ("1.0", 9, "absent", 3), ("2.2", 9, "t", 3), ("2.2", 0, "t", 21)],
)
def test_what_odd_acks_are_told_of_a_partition_that_is_not_there(release, partition, name, code):
    broker = OneBroker(release)
    broker.topic()
    answer = broker.produce(batch(), acks=7, version=3, name=name, partition=partition)
    assert answer["error_code"] == code


def test_a_batch_that_is_cut_short_is_of_no_transaction(broker):
    whole = batch(producer_id=9, producer_epoch=0, base_sequence=0, transactional=True)
    codes = [broker.produce(one, acks=2, version=7)["error_code"] for one in (whole, whole[:-1])]
    refused, cut = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, ErrorCode.INVALID_RECORD
    assert codes == [refused, cut]


def test_too_few_replicas_refuse_acks_all_only():
    broker, loose = OneBroker("2.8"), OneBroker("2.8", switches=["min-isr-ignored"])
    for one in (broker, loose):
        one.topic(min_insync_replicas="2")
    assert broker.produce(batch(), version=9)["error_code"] == ErrorCode.NOT_ENOUGH_REPLICAS
    assert broker.produce(batch(), version=9, acks=1)["error_code"] == 0
    assert loose.produce(batch(), version=9)["error_code"] == 0


def test_newer_releases_ask_for_no_more_replicas_than_there_are():
    broker = OneBroker("3.9")
    broker.topic(min_insync_replicas="2")
    assert broker.produce(batch(), version=9)["error_code"] == 0


@pytest.mark.parametrize(
    ("records", "version", "code"),
    [
        (batch() + batch(), 9, ErrorCode.INVALID_RECORD),
        (b"", 9, ErrorCode.INVALID_RECORD),
        (build(1, [b"a"], timestamp=NOW), 9, ErrorCode.INVALID_RECORD),
        (build(2, [b"a"], ZSTD, timestamp=NOW), 6, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        (b"\0" * 16 + b"\3" + b"\0" * 60, 9, ErrorCode.CORRUPT_MESSAGE),
    ],
)
def test_from_v3_on_exactly_one_batch_of_magic_2(broker, records, version, code):
    assert broker.produce(records, version=version)["error_code"] == code


def test_partitions_stand_alone(broker):
    good, bad = batch(), rewrite(batch(), crc=1)
    body = {
        "acks": 1,
        "timeout_ms": 10,
        "transactional_id": None,
        "topic_data": [
            {"name": "nope", "partition_data": [{"index": 0, "records": good}]},
            {
                "name": "t",
                "partition_data": [{"index": 0, "records": good}, {"index": 5, "records": good}],
            },
        ],
    }
    rows = {
        (topic["name"], row["index"]): row["error_code"]
        for topic in broker.ask("Produce", 9, body)["responses"]
        for row in topic["partition_responses"]
    }
    assert rows == {("nope", 0): 3, ("t", 0): 0, ("t", 5): 3}
    assert broker.produce(bad)["error_code"] == ErrorCode.CORRUPT_MESSAGE


def test_the_wrong_broker_names_the_leader():
    both = OneBroker(brokers=2)
    both.topic(leader=1)
    row = both.produce(batch())
    assert row["error_code"] == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert row["current_leader"] == {"leader_id": 1, "leader_epoch": 0}
    assert both.produce(batch(), broker=1)["error_code"] == 0


def test_topics_go_by_id_from_v13(broker):
    topic = broker.cluster.topic("t")
    body = {
        "acks": 1,
        "timeout_ms": 10,
        "transactional_id": None,
        "topic_data": [
            {"topic_id": topic.id, "partition_data": [{"index": 0, "records": batch()}]},
            {"topic_id": b"x" * 16, "partition_data": [{"index": 0, "records": batch()}]},
        ],
    }
    answer = broker.ask("Produce", 13, body)
    codes = {row["topic_id"]: row["partition_responses"][0] for row in answer["responses"]}
    assert codes[topic.id]["error_code"] == 0
    assert codes[b"x" * 16]["error_code"] == ErrorCode.UNKNOWN_TOPIC_ID


@pytest.mark.parametrize(
    ("release", "expected"),
    [("1.0", CLOSED), ("2.2", CLOSED), ("2.8", -1), ("3.9", WAITING), ("4.3", WAITING)],
)
def test_null_records_hang_where_kafka_hangs(release, expected):
    broker = OneBroker(release)
    broker.topic()
    row = broker.produce(None, version=5)
    assert (row["error_code"] if isinstance(row, dict) else row) == expected


def test_a_fetch_waits_until_something_comes(broker):
    assert broker.fetch(wait=500) == WAITING
    effects = broker.brokers[0].tick(NOW + 499)
    assert effects == []
    assert broker.brokers[0].deadline() == NOW + 500
    other = Connection(2)
    body = {
        "acks": 1,
        "timeout_ms": 1,
        "transactional_id": None,
        "topic_data": [{"name": "t", "partition_data": [{"index": 0, "records": batch()}]}],
    }
    assert broker.ask("Produce", 9, body, connection=other)["responses"]
    assert len(broker.brokers[0].purgatory) == 0


def test_the_append_answers_the_waiting_fetch_too(broker):
    assert broker.fetch(wait=500) == WAITING
    broker.store(batch())
    broker.brokers[0].purgatory.touch(("partition", "t", 0))
    answer = OneBroker.read(broker.brokers[0].tick(NOW + 1), "Fetch", 12)
    assert len(read(answer["responses"][0]["partitions"][0]["records"])) == 3


def test_a_fetch_gives_up_at_its_deadline(broker):
    assert broker.fetch(wait=500) == WAITING
    answer = OneBroker.read(broker.brokers[0].tick(NOW + 500), "Fetch", 12)
    assert answer["responses"][0]["partitions"][0]["records"] == b""


def test_a_fetch_is_told_that_its_topic_went(broker):
    assert broker.fetch(wait=500) == WAITING
    broker.cluster.delete("t")
    answer = OneBroker.read(broker.brokers[0].tick(NOW), "Fetch", 12)
    assert answer["responses"][0]["partitions"][0]["error_code"] == 3


def test_a_fetch_of_a_peer_that_left_is_forgotten(broker):
    assert broker.fetch(wait=500) == WAITING
    broker.brokers[0].closed(broker.connection)
    assert len(broker.brokers[0].purgatory) == 0


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"offset": 99}, ErrorCode.OFFSET_OUT_OF_RANGE),
        ({"name": "nope"}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"current_leader_epoch": 3}, ErrorCode.UNKNOWN_LEADER_EPOCH),
        ({"partition_max_bytes": -1}, ErrorCode.UNKNOWN_SERVER_ERROR),
        ({"last_fetched_epoch": 8}, ErrorCode.OFFSET_OUT_OF_RANGE),
    ],
)
def test_an_error_is_answered_at_once(broker, more, code):
    broker.produce(batch())
    row = broker.fetch(wait=500, **more)
    assert (row["error_code"], row["high_watermark"], row["records"]) == (code, -1, b"")


def test_consumers_may_read_from_followers_since_v11():
    both = OneBroker(brokers=2)
    both.cluster.create("t", [[1, 0]])
    both.produce(batch(), broker=1, acks=1)
    codes = {v: both.fetch(version=v)["error_code"] for v in (10, 11, 12)}
    assert codes == {10: ErrorCode.NOT_LEADER_OR_FOLLOWER, 11: 0, 12: 0}
    as_replica = both.fetch(version=12, replica_id=1)
    assert as_replica["error_code"] == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_the_planted_leader_epoch_is_not_compared():
    broker = planted("leader-epoch-not-checked")
    assert broker.fetch(current_leader_epoch=3)["error_code"] == 0


def test_a_reader_whose_log_diverged_is_told_where(broker):
    broker.produce(batch())
    row = broker.fetch(offset=9, last_fetched_epoch=0)
    assert row["diverging_epoch"] == {"epoch": 0, "end_offset": 3}


@pytest.mark.parametrize(("version", "magic"), [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (9, 2)])
def test_old_versions_get_old_formats(version, magic):
    broker = OneBroker("2.8")
    broker.topic()
    broker.produce(build(2, [b"v" * 90] * 4, timestamp=NOW), version=9)
    rows = read(broker.fetch(1, version=version)["records"])
    assert {row["magic"] for row in rows} == {magic}
    assert rows[0]["offset"] == (1 if magic < 2 else 0)


def test_reads_begin_in_mid_batch_unless_a_defect_is_planted(broker):
    skipping = planted("fetch-skips-mid-batch")
    for each in (broker, skipping):
        each.produce(batch())
        each.produce(batch())
    assert read(broker.fetch(1)["records"])[0]["offset"] == 0
    assert read(skipping.fetch(1)["records"])[0]["offset"] == 3


def test_read_committed_stops_at_open_transactions():
    for switches, seen in (((), 3), (("hw-ignored",), 6)):
        broker = OneBroker("2.8", switches=switches)
        broker.topic()
        open_one = batch(producer_id=9, producer_epoch=0, base_sequence=0, transactional=True)
        broker.store(batch(), open_one)
        assert len(read(broker.fetch(isolation_level=1)["records"])) == seen


def listed(broker: OneBroker, timestamp: int, *, version: int = 7) -> dict:
    row = {"partition_index": 0, "timestamp": timestamp, "max_num_offsets": 5}
    body = {"replica_id": -1, "topics": [{"name": "t", "partitions": [row]}]}
    return broker.ask("ListOffsets", version, body)["topics"][0]["partitions"][0]


@pytest.mark.parametrize(
    ("timestamp", "found"),
    [
        (-1, (-1, 3)),
        (-2, (-1, 0)),
        (-3, (NOW + 9, 1)),
        (NOW + 6, (NOW + 9, 1)),
        (NOW + 10, (-1, -1)),
    ],
)
def test_offsets_by_name_and_by_time(broker, timestamp, found):
    stamps = [NOW, NOW + 9, NOW + 5]
    broker.produce(build(2, [{"value": b"v", "timestamp": stamp} for stamp in stamps]))
    row = listed(broker, timestamp)
    assert (row["timestamp"], row["offset"]) == found


def test_the_planted_lookup_is_off_by_one():
    broker = planted("list-offsets-by-time-off")
    broker.produce(batch())
    assert listed(broker, NOW)["offset"] == 1


def test_v0_lists_segments_newest_first():
    broker = OneBroker("2.8")
    broker.topic(segment_bytes="100")
    for _ in range(3):
        broker.produce(batch(), version=9)
    assert listed(broker, -1, version=0)["old_style_offsets"] == [9, 6, 3, 0]


@pytest.mark.parametrize(
    ("offset", "low", "code"),
    [(2, 2, 0), (-1, 3, 0), (0, 0, 0), (4, -1, 1), (-2, -1, 1)],
)
def test_delete_records_moves_the_log_start(broker, offset, low, code):
    broker.produce(batch())
    body = {
        "topics": [{"name": "t", "partitions": [{"partition_index": 0, "offset": offset}]}],
        "timeout_ms": 10,
    }
    row = broker.ask("DeleteRecords", 2, body)["topics"][0]["partitions"][0]
    assert (row["low_watermark"], row["error_code"]) == (low, code)


def test_switches_are_named_and_unknown_ones_refused():
    check(SWITCHES)
    with pytest.raises(ValueError, match=r"no switch hw-ignord; did you mean hw-ignored"):
        check(["hw-ignord"])
    with pytest.raises(ValueError, match="no switch xyzzy; `touchstone broker --help` lists"):
        check(["xyzzy"])
