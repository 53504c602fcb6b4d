"""Logs that parted become one again, as each release's followers find the place (KIP-101 ...)."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.personas import PERSONAS
from touchstone.reference_impl.broker.replication.follower import where_to_cut
from touchstone.reference_impl.log.rules import LogError
from touchstone.reference_impl.tests.log.test_appending import a_batch, a_log
from touchstone.reference_impl.tests.replication.wires import LAG, NOW, Wires
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import read

RELEASES = sorted(PERSONAS)


def parted(release: str, **how) -> Wires:
    """Leader 0 wrote what nobody has, then 1 led and wrote something else; 0 is still cut off."""
    wires = Wires(release, **how)
    wires.topic()
    wires.produce(0, b"all")
    wires.run(500)
    wires.cut.add(0)
    wires.produce(0, b"lost", b"lost", acks=1)
    partition = wires.cluster.partition("t", 0)
    state = wires.cluster.state_of(partition)
    for broker in (1, 2):  # 0 does not hear of it
        told = state._replace(leader=1, leader_epoch=1, partition_epoch=1, isr=(1, 2))
        wires.brokers[broker].replicas.apply(told, wires.now)
    partition.leader, partition.leader_epoch, partition.isr = 1, 1, [1, 2]
    wires.run()
    assert wires.produce(1, b"kept") == (0, 1)
    return wires


def come_back(wires: Wires) -> None:
    wires.cut.clear()
    wires.cluster.write(wires.cluster.partition("t", 0))
    wires.run(2 * LAG)


@pytest.mark.parametrize("release", RELEASES)
def test_a_leader_that_was_cut_off_gives_up_what_nobody_else_has(release):
    wires = parted(release)
    assert wires.replica(0).is_leader and wires.replica(1).is_leader
    assert wires.ends() == [3, 2, 2]
    come_back(wires)
    assert [row["value"] for row in read(wires.values(0))] == [b"all", b"kept"]
    assert wires.values(0) == wires.values(1) == wires.values(2)
    assert sorted(wires.cluster.partition("t", 0).isr) == [0, 1, 2]
    epochs = [wires.replica(b).log.epochs.rows() for b in range(3)]
    assert epochs[0] == epochs[1] == epochs[2] == [(0, 0), (1, 1)]


@pytest.mark.parametrize("release", ["2.2", "4.3"])
def test_the_planted_return_keeps_what_it_should_give_up(release):
    wires = parted(release, switches=("truncation-skipped",))
    come_back(wires)
    wires.produce(1, b"x", b"y", acks=1)
    wires.run(5000)
    assert b"lost" in [row["value"] for row in read(wires.values(0))]


def test_an_isolated_leader_acknowledges_nothing_and_shows_nothing():
    wires = Wires()
    wires.topic(min_insync_replicas="2")
    wires.produce(0, b"all")
    wires.cut.add(0)
    client = wires.produce_to(0, b"lost", timeout=LAG)
    wires.run(LAG)
    assert wires.produced(client)[0] == ErrorCode.REQUEST_TIMED_OUT
    assert [row["value"] for row in read(wires.fetch(0)["records"])] == [b"all"]


@pytest.mark.parametrize("release", RELEASES)
def test_a_follower_that_lags_behind_what_was_deleted_begins_where_the_leader_does(release):
    wires = Wires(release)
    wires.topic()
    wires.cut.add(2)
    for _ in range(3):
        wires.produce(0, acks=1)
    wires.run(2 * LAG)
    wires.produce(0, acks=1)
    wires.replica(0).log.roll(wires.now)
    wires.replica(0).log.delete_to(9)
    wires.cut.clear()
    wires.run(2 * LAG)
    log = wires.replica(2).log
    assert (log.log_start_offset, log.log_end_offset) == (9, 12)
    assert wires.values(2) == wires.values(0)


@pytest.mark.parametrize("release", RELEASES)
def test_an_unclean_leader_that_has_less_cuts_the_others_down(release):
    wires = Wires(release)
    wires.topic()
    wires.cut.add(2)
    wires.produce(0, acks=1)
    wires.run(2 * LAG)
    wires.cut = {0, 1}
    wires.elect(2, (2,))
    assert wires.ends() == [3, 3, 0]
    wires.cut = set()
    wires.run(LAG)
    assert wires.produce(2, b"z") == (0, 0)
    wires.run(LAG)
    assert wires.ends() == [1, 1, 1]
    assert wires.values(0) == wires.values(1) == wires.values(2)


def test_a_fetch_in_an_older_epoch_is_fenced_until_the_controller_says_more():
    wires = Wires()
    wires.topic()
    wires.produce(0)
    state = wires.cluster.state_of(wires.cluster.partition("t", 0))
    wires.brokers[0].replicas.apply(state._replace(leader_epoch=1, partition_epoch=1), wires.now)
    wires.frames.clear()
    wires.run(5000)
    assert not wires.frames  # those that waited were told that their epoch is old
    wires.cluster.write(wires.cluster.partition("t", 0), leader_epoch=1)
    wires.run()
    assert wires.produce(0) == (0, 3)


LEADER = [(0, 0), (2, 6)]


@pytest.mark.parametrize(
    ("answer", "cut"),
    [
        ((-1, -1), (1, True)),  # the leader knows nothing: the high watermark
        ((-1, 4), (4, True)),  # KIP-101: an offset alone
        ((-1, 40), (9, True)),
        ((0, 5), (3, True)),  # ours ended earlier
        ((1, 5), (5, True)),
        ((1, 7), (6, True)),
        ((2, 7), (7, True)),
        ((5, 8), (8, True)),  # above all of ours
    ],
)
def test_where_the_logs_part(answer, cut):
    log = a_log()
    for epoch in (0, 1, 2):
        log.append(a_batch(), now=NOW, leader_epoch=epoch)
    assert where_to_cut(log, *answer, 1) == cut


def test_an_epoch_of_the_leader_that_we_never_saw_takes_another_question():
    """KIP-279: cut what is certainly wrong, then ask about the epoch before."""
    log = a_log()
    for epoch in (0, 3):
        log.append(a_batch(), now=NOW, leader_epoch=epoch)
    assert where_to_cut(log, 2, 5, 1) == (3, False)


@pytest.mark.parametrize("fault", [OSError("disk"), LogError(ErrorCode.CORRUPT_MESSAGE, "crc")])
def test_a_log_that_cannot_be_written_does_not_keep_the_loop_busy(fault, monkeypatch):
    wires = Wires()
    wires.topic()
    log = wires.replica(2).log

    def fails(records: bytes, *, now: int) -> int:
        raise fault

    monkeypatch.setattr(log, "append_as_follower", fails)
    wires.produce(0, acks=1)
    wires.frames.clear()
    wires.run(3000)
    assert len([frame for sender, _, frame in wires.frames if sender == 2]) < 10
    assert wires.ends() == [3, 3, 0]
