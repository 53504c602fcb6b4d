"""Histories: what members do one after another, every answer as on Kafka, ids by their symbols.

What a history is about is in its line; the claim is that the whole conversation is Kafka's. That
the planner knew where it would lead is shown by its end: nobody is left waiting.

Sources: GROUP-01 to 25, 32; `histories.py`; all five releases were asked.
"""

from touchstone.harness.claim import claim
from touchstone.harness.expect import answer
from touchstone.harness.steps import a_topic
from touchstone.suites.rebalance.acts import CLUSTER, STATE, coordinated
from touchstone.suites.rebalance.histories import HISTORIES, STATIC_HISTORIES
from touchstone.suites.rebalance.scripts import played

NUMBERED = {f"{number:03}": script for number, script in enumerate(HISTORIES, 1)}
CRASH = "x"
CALM = {number: script for number, script in NUMBERED.items() if CRASH not in script}
CRASHING = {number: script for number, script in NUMBERED.items() if CRASH in script}
AT_REST = ("Stable", "Empty", "Dead")


def judged(case, script, version):
    group, topic = case.group(), case.topic()
    return case.judge(
        a_topic(topic),
        coordinated(group),
        played(script, group, topic, version),
        expect=answer("at last", STATE).is_one_of(*AT_REST),
    )


@claim(
    "rebalance.histories-are-kafkas",
    evidence=("GROUP-01", "GROUP-02", "GROUP-11", "GROUP-13", "GROUP-16", "GROUP-20", "GROUP-25"),
    config=CLUSTER,
    script=CALM,
)
def test_histories_are_kafkas(case):
    """Joins, leaves, commits and changes of mind of up to eight members in a row."""
    verdict = judged(case, NUMBERED[case.script], 2)
    assert verdict.conforms, verdict


@claim(
    "rebalance.histories-with-crashes-are-kafkas",
    evidence=("GROUP-13", "GROUP-22", "observed on 3.9.2 and 4.3.1"),
    releases="3.9+",  # where a member that joins again can have a shorter session
    config=CLUSTER,
    script=CRASHING,
)
def test_histories_with_crashes_are_kafkas(case):
    """The same with members of which nothing is heard any more until their session is over."""
    verdict = judged(case, NUMBERED[case.script], 2)
    assert verdict.conforms, verdict


@claim(
    "rebalance.static-histories-are-kafkas",
    evidence=("GROUP-12", "GROUP-32"),
    releases="2.8+",
    config=CLUSTER,
    script=STATIC_HISTORIES,
)
def test_static_histories_are_kafkas(case):
    """Members with instance ids go and come back, among others that have none."""
    verdict = judged(case, STATIC_HISTORIES[case.script], 5)
    assert verdict.conforms, verdict
