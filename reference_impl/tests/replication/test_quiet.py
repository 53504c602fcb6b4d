"""Partitions of which nothing is new cost nothing, and are known as well as the others.

What costs is counted in calls of functions, which chance and a busy machine do not change.
"""

from __future__ import annotations

import gc
import sys

import pytest

from touchstone.reference_impl.broker.data.fetch_sessions import Session
from touchstone.reference_impl.tests.replication.wires import LAG, Wires

WITH_SESSIONS = ("2.2", "2.8", "3.9", "4.3")
FEW, MANY = 3, 20


def settled(release: str, partitions: int) -> Wires:
    wires = Wires(release)
    wires.cluster.create("t", [[0, 1, 2]] * partitions)
    wires.run(2_000)
    return wires


def calls(wires: Wires, ms: int) -> int:
    """How many functions are called while nobody does anything for so long."""
    count = 0

    def called(frame, event, argument):
        nonlocal count
        count += event == "call"

    gc.collect()
    gc.disable()  # what other tests left behind calls functions when it is collected
    sys.setprofile(called)
    try:
        wires.run(ms)
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


@pytest.mark.parametrize("release", WITH_SESSIONS)
def test_fetches_cost_the_same_however_many_partitions_are_quiet(release):
    few, many = (calls(settled(release, size), 1_000) for size in (FEW, MANY))
    assert many == few


@pytest.mark.parametrize("release", WITH_SESSIONS)
def test_so_does_a_record_in_one_of_them(release):
    costs = []
    for size in (FEW, MANY):
        wires = settled(release, size)
        wires.produce(0)
        wires.run(1_000)
        wires.produce(0, run=False)
        costs.append(calls(wires, 1_000))
        assert wires.marks() == [6, 6, 6]
    assert costs[0] == costs[1]


def test_without_sessions_every_partition_is_named_each_time():
    """1.0 asks in a version that knows none, so here the count does grow."""
    few, many = (calls(settled("1.0", size), 1_000) for size in (FEW, MANY))
    assert many > few * 4


@pytest.mark.parametrize("release", ["2.2", "4.3"])
def test_a_follower_that_was_quiet_for_long_may_still_lag_as_long_as_others(release):
    """REPL-10: it had everything until it died, so it is in sync that much longer."""
    wires = settled(release, 1)
    wires.run(3 * LAG)
    wires.cut.add(2)
    wires.produce(0, acks=1)
    wires.run(LAG - 1_000)
    assert 2 in wires.replica(0).isr
    wires.run(LAG)
    assert wires.replica(0).isr == (0, 1)


def test_it_may_not_if_nobody_notes_its_fetches(monkeypatch):
    """What the test above is there for."""
    rest = Session.rest

    def forgets(self, want, replica):
        rest(self, want, replica)
        replica.followers[self.follower].shared_fetch = None

    monkeypatch.setattr(Session, "rest", forgets)
    wires = settled("4.3", 1)
    wires.run(3 * LAG)
    wires.cut.add(2)
    wires.produce(0, acks=1)
    wires.run(LAG - 1_000)
    assert 2 not in wires.replica(0).isr


def test_a_follower_tells_of_its_own_log_start_when_nothing_else_is_new():
    """Retention of its own moved it: the leader's low watermark hangs on it (KIP-107)."""
    wires = settled("4.3", 2)
    wires.produce(0)
    wires.run(1_000)
    follower = wires.replica(1)
    follower.log.delete_to(2)
    wires.brokers[1].purgatory.touch(("partition", "t", 0))
    wires.run(1_000)
    assert wires.replica(0).followers[1].log_start_offset == 2
