"""Followers copy, the high watermark follows, and acknowledgements wait for it."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.control.cluster_controller import new_controller
from touchstone.reference_impl.broker.personas import PERSONAS
from touchstone.reference_impl.tests.replication.wires import LAG, WAITING, Wires
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.headers import decode_request
from touchstone.reference_impl.wire.records import build, read

RELEASES = sorted(PERSONAS)


@pytest.mark.parametrize("release", RELEASES)
def test_all_replicas_hold_the_same_bytes_and_acks_all_is_answered_when_they_do(release):
    wires = Wires(release)
    wires.topic()
    assert wires.produce(0) == (0, 0)
    assert wires.produce(0, b"d") == (0, 3)
    assert wires.ends() == [4, 4, 4]
    assert wires.values(1) == wires.values(2) == wires.values(0)
    assert wires.marks()[0] == 4


@pytest.mark.parametrize("release", RELEASES)
def test_followers_ask_in_the_versions_of_their_release(release):
    wires = Wires(release)
    wires.topic()
    wires.produce(0)
    asked = {}
    for _, _, frame in wires.frames:
        header = decode_request(frame).header
        asked.setdefault(header.key, header.version)
    quirk = wires.brokers[0].persona.quirk
    assert asked[1] == quirk("replicas.fetch-version")
    assert asked.get(23) is None  # an empty log has no epoch to ask for


def test_followers_learn_the_high_watermark_with_the_next_answer():
    wires = Wires()
    wires.topic()
    wires.produce(0)
    assert wires.marks() == [3, 0, 0]
    wires.run(500)
    assert wires.marks() == [3, 3, 3]


def test_acks_one_is_answered_before_anybody_has_it():
    wires = Wires()
    wires.topic()
    wires.cut.update((1, 2))
    assert wires.produce(0, acks=1, run=False) == (0, 0)
    assert wires.marks()[0] == 0


def test_consumers_see_nothing_above_the_high_watermark():
    wires = Wires()
    wires.topic()
    wires.cut.add(2)
    wires.produce(0, acks=1)
    assert wires.fetch(0)["records"] == b""
    wires.cut.clear()
    wires.run(1000)
    assert len(read(wires.fetch(0)["records"])) == 3


@pytest.mark.parametrize(("switch", "seen"), [((), 0), (("hw-too-early",), 3)])
def test_the_planted_high_watermark_waits_for_nobody(switch, seen):
    wires = Wires(switches=switch)
    wires.topic()
    wires.cut.update((1, 2))
    wires.produce(0, acks=1)
    assert len(read(wires.fetch(0)["records"])) == seen


@pytest.mark.parametrize("release", [r for r in RELEASES if r != "2.8"])
def test_a_follower_that_stopped_holds_acks_all_up_until_it_leaves(release):
    wires = Wires(release)
    wires.topic()
    wires.cut.add(2)
    client = wires.produce_to(0)
    wires.run(LAG)
    assert wires.produced(client) == WAITING
    assert wires.cluster.partition("t", 0).isr == [0, 1, 2]
    wires.run(LAG // 2)
    assert wires.produced(client) == (0, 0)
    assert wires.cluster.partition("t", 0).isr == [0, 1]


@pytest.mark.parametrize("release", [r for r in RELEASES if r >= "3.9"])
def test_one_that_was_fenced_is_not_waited_for_though_it_kept_up_until_then(release):
    """It leaves the ISR and is fenced in one batch of the metadata log."""
    wires = Wires(release)
    wires.topic()
    wires.cut.add(2)
    client = wires.produce_to(0)
    wires.run(LAG // 10)
    assert wires.produced(client) == WAITING
    new_controller(wires.cluster, wires.brokers[0].persona).left(2)
    wires.run()
    assert wires.produced(client) == (0, 0)


def test_in_2_8_a_smaller_isr_lets_nobody_go_until_something_else_happens():
    """KAFKA-13091."""
    wires = Wires("2.8")
    wires.topic(replicas=(0, 2))
    wires.cut.add(2)
    client = wires.produce_to(0)
    wires.run(2 * LAG)
    assert wires.cluster.partition("t", 0).isr == [0]
    mark = wires.replica(0).log.high_watermark
    assert (wires.produced(client), mark) == (WAITING, 0)
    assert wires.produce(0) == (0, 3)
    assert wires.produced(client) == (0, 0)


@pytest.mark.parametrize(("release", "code"), [("1.0", -1), ("2.2", -1), ("2.8", 0), ("4.3", 6)])
def test_one_that_asks_in_the_leaders_own_name(release, code):
    wires = Wires(release)
    wires.topic()
    assert wires.fetch(0, version=5, replica_id=0)["error_code"] == code
    if release == "2.2":  # the fetch fails before it is asked whether the epoch is right
        assert wires.fetch(0, version=9, replica_id=0, current_leader_epoch=5)["error_code"] == code


def test_time_that_runs_out_answers_so_and_the_records_stay():
    wires = Wires()
    wires.topic()
    wires.cut.add(2)
    client = wires.produce_to(0, timeout=100)
    wires.run(100)
    assert wires.produced(client) == (ErrorCode.REQUEST_TIMED_OUT, 0)
    assert wires.ends()[0] == 3


def test_an_isr_that_fell_below_the_minimum_meanwhile_is_said_where_the_mark_moves():
    wires = Wires("2.2")
    wires.topic(min_insync_replicas="3")
    wires.cut.add(2)
    client = wires.produce_to(0)
    wires.run(2 * LAG)
    assert wires.produced(client) == (ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, 0)
    assert wires.produce(0) == (ErrorCode.NOT_ENOUGH_REPLICAS, -1)


def test_since_3_9_the_mark_stands_while_the_isr_is_too_small():
    wires = Wires("4.3")
    wires.topic(min_insync_replicas="3")
    wires.cut.add(2)
    client = wires.produce_to(0, timeout=4 * LAG)
    wires.run(2 * LAG)
    assert wires.cluster.partition("t", 0).isr == [0, 1]
    assert (wires.produced(client), wires.marks()[0]) == (WAITING, 0)
    wires.cut.clear()
    wires.run(1000)
    assert wires.produced(client) == (0, 0)


def test_a_leader_that_is_none_any_more_says_so_to_those_who_wait():
    wires = Wires()
    wires.topic()
    wires.cut.add(2)
    client = wires.produce_to(0)
    wires.elect(1, (1,))
    assert wires.produced(client)[0] == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_deleted_topic_answers_those_who_wait():
    wires = Wires()
    wires.topic()
    wires.cut.add(2)
    client = wires.produce_to(0)
    wires.cluster.delete("t")
    wires.run()
    assert wires.produced(client)[0] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert all(broker.replicas.get("t", 0) is None for broker in wires.brokers)


def test_a_new_partition_does_not_wait_for_the_fetch_that_waits():
    wires = Wires()
    wires.topic("other")
    wires.run(100)
    at = wires.now
    wires.topic("t")
    assert wires.produce(0) == (0, 0)
    assert wires.now == at


def test_deleted_records_are_gone_everywhere_before_it_is_said():
    wires = Wires()
    wires.topic()
    wires.produce(0)
    wires.run(500)
    row = {"partition_index": 0, "offset": 2}
    body = {"topics": [{"name": "t", "partitions": [row]}], "timeout_ms": 5000}
    client = wires.send(0, "DeleteRecords", 1, body)
    assert wires.answer(client, "DeleteRecords", 1) == WAITING
    wires.run(1000)
    answer = wires.answer(client, "DeleteRecords", 1)["topics"][0]["partitions"][0]
    assert (answer["error_code"], answer["low_watermark"]) == (0, 2)
    assert [wires.replica(b).log.log_start_offset for b in range(3)] == [2, 2, 2]
    wires.cut.add(1)
    client = wires.send(
        0,
        "DeleteRecords",
        1,
        {**body, "topics": [{"name": "t", "partitions": [{**row, "offset": 3}]}]},
    )
    wires.run(5000)
    answer = wires.answer(client, "DeleteRecords", 1)["topics"][0]["partitions"][0]
    assert (answer["error_code"], answer["low_watermark"]) == (ErrorCode.REQUEST_TIMED_OUT, 2)


@pytest.mark.parametrize(
    ("epoch", "code"),
    [(-1, ErrorCode.NOT_LEADER_OR_FOLLOWER), (0, ErrorCode.UNKNOWN_LEADER_EPOCH)],
)
def test_a_stranger_changes_nothing(epoch, code):
    """Seen on 3.9.2 and 4.3.1; 2.8.2 gives no records."""
    wires = Wires("4.3", brokers=3)
    wires.topic(replicas=(0, 1))
    assert (
        wires.fetch(0, version=12, replica_id=2, current_leader_epoch=epoch)["error_code"] == code
    )
    assert set(wires.replica(0).followers) == {1}


def test_one_that_asks_in_a_followers_name_is_believed():
    """A follower on another machine: its fetch offset is its log end (REPL-07)."""
    wires = Wires()
    wires.topic()
    wires.cut.update((1, 2))
    wires.produce(0, acks=1)
    for follower in (1, 2):
        wires.fetch(0, 3, version=12, replica_id=follower)
    assert wires.marks()[0] == 3


def test_many_partitions_move_in_few_fetches():
    wires = Wires()
    wires.cluster.create("t", [[0, 1, 2]] * 40)
    wires.run()
    wires.frames.clear()
    for index in range(40):
        replica = wires.brokers[0].replicas.get("t", index)
        replica.log.append(build(2, [b"x"], timestamp=1), now=wires.now)
    for index in range(40):
        wires.brokers[0].purgatory.touch(("partition", "t", index))
    wires.run(500)
    logs = [wires.brokers[2].replicas.get("t", index).log for index in range(40)]
    assert {log.log_end_offset for log in logs} == {1}
    assert len(wires.frames) < 12


def test_a_follower_of_an_older_registration_is_not_listened_to():
    """KIP-903: what it fetched before it was started again says nothing about its log now."""
    wires = Wires()
    wires.topic()
    wires.produce(0)
    wires.cluster.brokers[2].epoch = 7
    wires.cluster.broker_changed(2)
    wires.cut.add(2)
    for epoch, code in ((6, ErrorCode.NOT_LEADER_OR_FOLLOWER), (7, 0), (-1, 0)):
        state = {"replica_id": 2, "replica_epoch": epoch}
        body = {
            "replica_state": state,
            "max_wait_ms": 0,
            "min_bytes": 0,
            "topics": [
                {
                    "topic_id": wires.cluster.topics["t"].id,
                    "partitions": [{"partition": 0, "fetch_offset": 3, "partition_max_bytes": 1}],
                }
            ],
        }
        client = wires.send(0, "Fetch", 15, body)
        row = wires.answer(client, "Fetch", 15)["responses"][0]["partitions"][0]
        assert row["error_code"] == code
