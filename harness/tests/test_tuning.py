"""What is set on somebody else's cluster is put back, whatever happens meanwhile."""

from __future__ import annotations

import pytest

from touchstone.harness.model.target import Endpoint, Setting, Shape, Unavailable
from touchstone.harness.run.tuning import Tuning

HERE = Endpoint((("127.0.0.1", 9092),))
PACE = "group.share.assignment.interval.ms"
SHAPE_PACE = "log.cleaner.backoff.ms"  # a topic's configs tell it as their default
SUBJECT = {"message.max.bytes": "1000"}


class Cluster:
    """Settings that can be changed; `stubborn` ones are refused."""

    name = "somebody:9092"

    def __init__(self, *stubborn):
        self.stubborn, self.own, self.changes = stubborn, {}, []

    def settings(self):
        return {
            PACE: Setting("1000", True), SHAPE_PACE: Setting("60000", True),
            "message.max.bytes": Setting("1048588", True),
        }  # fmt: skip

    def alter(self, changes):
        if any(name in self.stubborn for name in changes):
            return "error 40: no"
        self.changes.append(dict(changes))
        for name, value in changes.items():
            self.own.pop(name, None)
            if value is not None:
                self.own[name] = value
        return None


QUICK = Shape(config={PACE: 0, SHAPE_PACE: 0})


def test_pace_is_set_for_the_run_and_put_back():
    cluster = Cluster()
    tuning = Tuning(cluster)
    told = tuning.quicken([QUICK, Shape()])
    assert cluster.own == {PACE: "0"}
    assert told == [
        f"set on somebody:9092 for this run, and put back after it: {PACE}=0 (was 1000)"
    ]
    assert tuning.in_force(HERE, Shape())[PACE].value == "0"
    assert tuning.put_back() is None
    assert cluster.own == {}


def test_a_cluster_that_was_started_again_is_quickened_again():
    cluster = Cluster()
    tuning = Tuning(cluster)
    tuning.quicken([QUICK])
    with tuning.turn(QUICK, alone=False):
        cluster.own.clear()
        tuning.renew()
        assert cluster.own == {PACE: "0", SHAPE_PACE: "0"}


def test_a_cluster_that_takes_no_settings_is_judged_as_it_is():
    cluster = Cluster(PACE)
    tuning = Tuning(cluster)
    assert tuning.quicken([QUICK]) == []
    with tuning.turn(QUICK, alone=False):
        assert cluster.own == {} and not cluster.changes
    assert dict(tuning.in_force(HERE, QUICK)) == {}


def test_nothing_is_set_without_a_cluster():
    tuning = Tuning(None)
    assert tuning.quicken([QUICK]) == [] and tuning.put_back() is None
    with tuning.turn(QUICK, alone=True), tuning.set_for_case({}):
        pass


def test_what_a_topic_shows_is_set_for_the_cases_of_its_shape():
    cluster = Cluster()
    tuning = Tuning(cluster)
    tuning.quicken([QUICK])
    with tuning.turn(QUICK, alone=False):
        assert cluster.own == {PACE: "0", SHAPE_PACE: "0"}
        assert tuning.in_force(HERE, QUICK)[SHAPE_PACE].value == "0"
    with tuning.turn(Shape(), alone=False):
        assert cluster.own == {PACE: "0"}
    with tuning.turn(QUICK, alone=True):
        pass
    tuning.put_back()
    assert cluster.own == {}


def test_clusters_take_turns_without_being_set():
    cluster = Cluster()
    tuning = Tuning(cluster)
    for word in ("a", "b"):
        with tuning.turn(Shape(), word, alone=False):
            assert not cluster.changes


def test_a_subject_is_set_for_its_case():
    cluster = Cluster()
    tuning = Tuning(cluster)
    with tuning.turn(Shape(), alone=True), tuning.set_for_case(SUBJECT):
        assert cluster.own == SUBJECT
    assert cluster.own == {}


def test_a_subject_is_put_back_when_the_case_fails():
    cluster = Cluster()
    with pytest.raises(ZeroDivisionError), Tuning(cluster).set_for_case(SUBJECT):
        raise ZeroDivisionError
    assert cluster.own == {}


def test_a_subject_that_is_refused_is_the_reason():
    cluster = Cluster("message.max.bytes")
    refused = r"message.max.bytes=1000 \(error 40: no\)"
    with pytest.raises(Unavailable, match=refused), Tuning(cluster).set_for_case(SUBJECT):
        raise AssertionError("the case is not run")
    with pytest.raises(Unavailable, match="has not"), Tuning(None).set_for_case(SUBJECT):
        pass


def test_what_an_interrupted_case_had_set_is_put_back_at_the_end():
    cluster = Cluster()
    tuning = Tuning(cluster)
    waiting = tuning.set_for_case(SUBJECT)
    waiting.__enter__()
    assert tuning.put_back() is None and cluster.own == {}
    cluster.stubborn = ("message.max.bytes",)
    tuning._case = dict(SUBJECT)
    assert tuning.put_back() == "message.max.bytes of all brokers (error 40: no)"
