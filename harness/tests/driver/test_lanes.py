"""Cases that harm brokers: each has a cluster to itself, some at a time, beside all others."""

from __future__ import annotations

import threading

import pytest

from touchstone.harness.driver.lanes import Lanes
from touchstone.harness.driver.side_by_side import LANES, Pool
from touchstone.harness.run import progress
from touchstone.harness.run.progress import Standing
from touchstone.harness.targets import parse

LONG_S = 60.0  # for what happens at once, on any machine


class Lane:
    """Stands for Turns."""

    def __init__(self):
        self.users, self.ends = 0, []

    def close(self, *, interrupted=False):
        self.ends.append(interrupted)
        return ["a word"]


def test_a_lane_is_lent_to_one_at_a_time_and_used_again():
    lanes = Lanes(Lane)
    with lanes.one() as first, lanes.one() as second:
        assert first is not second
    with lanes.one() as third:
        assert third in (first, second)
    assert lanes.close(interrupted=True) == ["a word", "a word"]
    assert first.ends == second.ends == [True]


def test_there_are_no_more_lanes_than_the_machine_has_room_for():
    made, most, meet = [], [], threading.Barrier(LANES)
    lanes = Lanes(lambda: made.append(Lane()) or made[-1])

    def use():
        with lanes.one() as lane:
            lane.users += 1
            most.append(lane.users)
            meet.wait(LONG_S)  # all lanes are in use, twice over
            lane.users -= 1

    users = [threading.Thread(target=use) for _ in range(2 * LANES)]
    for user in users:
        user.start()
    for user in users:
        user.join(LONG_S)
    assert len(made) == LANES
    assert most == [1] * (2 * LANES), "a lane had two users"


@pytest.mark.parametrize(
    ("name", "twins"), [("kafka-4.3", True), ("kfake", False), ("librdkafka-mock", False)]
)
def test_lanes_are_for_clusters_whose_brokers_can_be_harmed(name, twins):
    assert parse(name).has_twins is twins


def test_what_goes_on_apart_does_not_wait_for_the_others():
    apart_done, met = threading.Event(), []
    pool = Pool(
        [("shared", lambda: met.append(apart_done.wait(LONG_S)))], 1,
        [("apart", apart_done.set)], LANES,
    )  # fmt: skip
    pool.result("apart")
    pool.result("shared")
    assert met == [True]


def test_the_time_that_is_left_is_that_of_the_slower_half():
    done = [Standing(False, 4.0), Standing(True, 9.0, apart=True)]
    shared = [Standing(False)] * 8
    harming = [Standing(True, apart=True)] * 2 * LANES
    assert progress.seconds_left(done + shared, 4) == 8.0
    assert progress.seconds_left(done + shared + harming, 4) == 18.0
