"""Consumers that read from followers, and who sends them there (KIP-392)."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.data.preferred_replica import RACK_AWARE
from touchstone.reference_impl.tests.replication.wires import WAITING, Wires
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import read


def racked(release: str = "4.3", **how) -> Wires:
    wires = Wires(release, racks=("a", "b", "b"), **{"replica_selector_class": RACK_AWARE, **how})
    wires.topic()
    wires.produce(0)
    wires.run(600)
    return wires


@pytest.mark.parametrize("release", ["3.9", "4.3"])
def test_a_consumer_is_sent_to_the_replica_in_its_rack_at_once(release):
    row = racked(release).fetch(0, rack_id="b", wait=500)
    assert row["preferred_read_replica"] == 2  # of two equal ones the higher id
    assert (row["records"], row["high_watermark"], row["error_code"]) == (b"", 3, 0)


def test_before_3_0_the_answer_that_sends_elsewhere_takes_its_time():
    wires = racked("2.8")
    assert wires.fetch(0, rack_id="b", wait=500) == WAITING
    assert wires.fetch(0, rack_id="b")["preferred_read_replica"] == 2


@pytest.mark.parametrize(
    ("rack", "how"),
    [("a", {}), ("c", {}), ("", {}), ("b", {"replica_selector_class": "other"})],
)
def test_others_are_served_by_the_leader(rack, how):
    row = racked(**how).fetch(0, rack_id=rack)
    assert row["preferred_read_replica"] == -1 and len(read(row["records"])) == 3


def test_nobody_is_sent_to_a_replica_that_lacks_the_offset_or_is_out_of_sync():
    wires = racked()
    wires.cut.add(2)
    wires.produce(0, acks=1)
    assert wires.fetch(0, 6, rack_id="b")["preferred_read_replica"] == 1
    wires.run(20_000)
    assert wires.cluster.partition("t", 0).isr == [0, 1]
    assert wires.fetch(0, 0, rack_id="b")["preferred_read_replica"] == 1


def test_a_follower_shows_what_it_knows_to_be_committed():
    wires = Wires()
    wires.topic()
    wires.produce(0)
    assert wires.replica(1).log.log_end_offset == 3
    assert wires.fetch(1)["records"] == b""  # it has the records but not yet the mark
    wires.run(500)
    assert len(read(wires.fetch(1)["records"])) == 3
    assert wires.fetch(1, 4)["error_code"] == ErrorCode.OFFSET_OUT_OF_RANGE


def test_the_planted_follower_shows_all_it_has():
    wires = Wires(switches=("follower-reads-past-hw",))
    wires.topic()
    wires.produce(0)
    assert len(read(wires.fetch(1)["records"])) == 3


def test_a_consumer_that_waits_at_a_follower_is_woken_by_the_mark():
    wires = Wires()
    wires.topic()
    body = {
        "max_wait_ms": 10_000,
        "min_bytes": 1,
        "max_bytes": 1 << 20,
        "topics": [
            {
                "topic": "t",
                "partitions": [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}],
            }
        ],
    }
    client = wires.send(1, "Fetch", 11, body)
    wires.produce(0)
    assert wires.answer(client, "Fetch", 11) == WAITING
    wires.run(600)
    row = wires.answer(client, "Fetch", 11)["responses"][0]["partitions"][0]
    assert len(read(row["records"])) == 3


@pytest.mark.parametrize(
    ("release", "code"),
    [("1.0", 0), ("2.2", ErrorCode.OFFSET_NOT_AVAILABLE), ("4.3", ErrorCode.OFFSET_NOT_AVAILABLE)],
)
def test_a_new_leader_tells_no_latest_offset_below_its_epoch(release, code):
    """KIP-207: an offset told now might be smaller than one told by the leader before."""
    wires = Wires(release)
    wires.topic()
    wires.produce(0)
    wires.cluster.controlled_by(1)  # who can tell itself
    wires.cut.update((0, 2))
    wires.elect(1, (0, 1, 2))
    version = min(5, wires.brokers[1].persona.listed()[2][1])
    row = {"partition_index": 0, "timestamp": -1, "current_leader_epoch": -1}
    body = {"replica_id": -1, "isolation_level": 0, "topics": [{"name": "t", "partitions": [row]}]}
    client = wires.send(1, "ListOffsets", version, body)
    answer = wires.answer(client, "ListOffsets", version)["topics"][0]["partitions"][0]
    assert answer["error_code"] == code
    if version >= 4 and code:
        client = wires.send(1, "ListOffsets", 4, body)
        answer = wires.answer(client, "ListOffsets", 4)["topics"][0]["partitions"][0]
        assert answer["error_code"] == ErrorCode.LEADER_NOT_AVAILABLE
