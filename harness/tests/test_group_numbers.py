"""A case sends the generations and epochs that it was answered, wherever a broker begins."""

from __future__ import annotations

import importlib

import pytest

from touchstone.harness.judgement import grades
from touchstone.harness.model import advertised
from touchstone.harness.model.case import Case
from touchstone.harness.model.claim import claim_of
from touchstone.harness.model.group_numbers import GroupNumbers
from touchstone.harness.model.placeholders import Name, Ref
from touchstone.harness.model.recordings import Store
from touchstone.harness.model.scenario import Scenario, Until
from touchstone.harness.model.transcript import Event, Header, Transcript
from touchstone.harness.run.ahead import Ahead, Work
from touchstone.harness.run.judge import Judge
from touchstone.harness.run.oracles import Recorded
from touchstone.harness.targets import parse
from touchstone.harness.tests.offbeat import offbeat
from touchstone.harness.tests.small_kafka import word
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire import headers
from touchstone.suites.kit.consumer_groups import CLUSTER, beat, describe, join

GROUP, OTHER = Name("group"), Name("other")
KAFKA = {"m1": 2, "m2": 3, "elsewhere": 7}
STEPS = [
    join(GROUP, "m1", name="m1"), join(GROUP, "m2", name="m2"), join(OTHER, "x", name="elsewhere"),
    describe(GROUP, name="then"),
]  # fmt: skip
LAST = len(STEPS)


def kafkas(scenario):
    """Kafka's answers to the joins."""
    events = []
    for at, label in enumerate(scenario.labels):
        body = {"member_epoch": KAFKA.get(label, 0), "member_id": "m", "assignment": None}
        raw = headers.encode_response(68, 0, 1, body)
        if label in KAFKA:
            events.append(Event(0, "a", "received", at, raw=raw, api=68, version=0))
    return Transcript(Header("kafka", "recorded", scenario.labels), tuple(events))


def sent(epoch, target, **changes):
    """The member epoch that goes out where the target gave these."""
    scenario = Scenario([*STEPS, beat(GROUP, "m1", epoch, name="ask", **changes)])
    numbers = GroupNumbers(scenario, kafkas(scenario), lambda step: {"member_epoch": target[step]})
    body = scenario.steps[LAST].body
    return numbers.sent(LAST, body, dict(body))["member_epoch"]


@pytest.mark.parametrize(
    ("epoch", "goes_out"),
    [
        (2, 11),  # as it was given
        (3, 21),
        (4, 22),  # later than any
        (1, 19),  # earlier than any
        (0, 0), (-1, -1), (-2, -2),  # to join, to leave, to go away
        (7, 25),  # another group's says nothing
    ],
)  # fmt: skip
def test_a_number_is_moved_as_the_one_that_was_given(epoch, goes_out):
    assert sent(epoch, {"m1": 11, "m2": 21, "elsewhere": 50}) == goes_out


def test_nothing_is_moved_to_where_numbers_mean_something_else():
    assert sent(1, {"m1": 1, "m2": 2, "elsewhere": 5}) == 1


@pytest.mark.parametrize("given", [0, -1, None, "2", True])
def test_nothing_is_moved_by_what_is_no_number(given):
    assert sent(2, {"m1": given, "m2": given, "elsewhere": given}) == 2


def test_nothing_is_moved_without_kafkas_answers_or_earlier_ones():
    scenario = Scenario([*STEPS, beat(GROUP, "m1", 2, name="ask")])
    body = scenario.steps[LAST].body
    for oracle, index in ((None, LAST), (kafkas(scenario), 0)):
        numbers = GroupNumbers(scenario, oracle, lambda step: {"member_epoch": 90})
        assert numbers.sent(index, body, dict(body)) == body


def test_what_was_taken_from_an_answer_is_right_already():
    scenario = Scenario([*STEPS, beat(GROUP, "m1", Ref("m1", "member_epoch"), name="ask")])
    numbers = GroupNumbers(scenario, kafkas(scenario), lambda step: {"member_epoch": 11})
    body = scenario.steps[LAST].body
    assert numbers.sent(LAST, body, dict(body) | {"member_epoch": 11})["member_epoch"] == 11


def test_a_wait_for_a_number_waits_for_the_targets():
    wait = Until(beat(GROUP, "m1", 2, name="ask"), "member_epoch", "==", 3, (("x", "==", 3),))
    scenario = Scenario([*STEPS, wait])
    numbers = GroupNumbers(scenario, kafkas(scenario), lambda step: {"member_epoch": 11})
    assert list(numbers.conditions(LAST, wait)) == [("member_epoch", "==", 11), ("x", "==", 3)]


@pytest.mark.slow
@pytest.mark.parametrize("more", [0, 5])
def test_who_begins_elsewhere_is_fenced_nowhere(more):
    """Of our broker, and of it behind numbers that begin five higher: only they differ."""
    config = {name: str(value) for name, value in CLUSTER.items()}
    with serve(release="4.3", config=config) as cluster:
        host, _, port = cluster.bootstrap[0].rpartition(":")
        with offbeat((host, int(port)), more) as server:
            differences = judged(word(server))
    assert bool(differences) is bool(more), "it is seen where it is given"
    assert {one.kind for one in differences} <= {grades.NUMBER, grades.VALUE}, differences


def judged(address):
    """What differs in some cases of members in their epochs, classic ones and others."""
    judge = Judge(parse(address), Recorded(Store("4.3")), "4.3", nonce="n", deadline_s=60.0)
    works = [Work(case.id, function, Case(case, judge), alone=False) for function, case in cases()]
    ahead = Ahead(works, judge.jobs)
    for work in works:
        ahead.result(work.key)
    ahead.close()
    judge.close()
    verdicts = [work.case.judgement.verdict for work in works]
    return [one for verdict in verdicts for one in (*verdict.differences, *verdict.failures)]


def cases():
    for module, often in (("test_consumer_matrix", 8), ("test_matrix", 40)):
        found = vars(importlib.import_module(f"touchstone.suites.rebalance.{module}")).values()
        for function in [one for one in found if claim_of(one)][::often]:
            of_4_3 = claim_of(function).cases("4.3", advertised.table("4.3"))
            yield from [(function, case) for case in of_4_3[-1:]]
