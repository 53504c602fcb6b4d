"""Histories of classic groups: requests of members in a row, each answered as by Kafka.

A history's line says what it is about; the claim is that the whole conversation equals Kafka's. Its
end shows that the plan held: no member is left waiting.

Sources: GROUP-01 to 25, 32; `histories.py`; all five releases were asked.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import answer
from touchstone.harness.model.steps import a_topic
from touchstone.suites.kit.groups import CLUSTER, STATE, coordinated
from touchstone.suites.rebalance.group_histories import played
from touchstone.suites.rebalance.histories import HISTORIES, STATIC_HISTORIES

NUMBERED = {f"{number:03}": script for number, script in enumerate(HISTORIES, 1)}
CRASH = "x"
WITHOUT_CRASHES = {number: script for number, script in NUMBERED.items() if CRASH not in script}
CRASHING = {number: script for number, script in NUMBERED.items() if CRASH in script}
AT_REST = ("Stable", "Empty", "Dead")


def judged(case, script, version):
    group, topic = case.group(), case.topic()
    return case.scenario(
        a_topic(topic),
        coordinated(group),
        played(script, group, topic, version),
        expect=answer("at last", STATE).is_one_of(*AT_REST),
    )


@claim(
    "rebalance.histories-are-kafkas",
    evidence=("GROUP-01", "GROUP-02", "GROUP-11", "GROUP-13", "GROUP-16", "GROUP-20", "GROUP-25"),
    config=CLUSTER,
    script=WITHOUT_CRASHES,
)
def test_histories_are_kafkas(case):
    """A classic group of up to eight members that join, leave, commit and change metadata answers
    each request as Kafka does.
    """
    return judged(case, NUMBERED[case.script], 2)


@claim(
    "rebalance.histories-with-crashes-are-kafkas",
    evidence=("GROUP-13", "GROUP-22", "observed on 3.9.2 and 4.3.1"),
    releases="3.9+",  # where a member that joins again can have a shorter session
    config=CLUSTER,
    script=CRASHING,
)
def test_histories_with_crashes_are_kafkas(case):
    """A classic group with members that crash until their sessions expire answers each request as
    Kafka does.
    """
    return judged(case, NUMBERED[case.script], 2)


@claim(
    "rebalance.static-histories-are-kafkas",
    evidence=("GROUP-12", "GROUP-32"),
    releases="2.8+",
    config=CLUSTER,
    script=STATIC_HISTORIES,
)
def test_static_histories_are_kafkas(case):
    """A classic group with static and dynamic members that leave and return answers each request as
    Kafka does.
    """
    return judged(case, STATIC_HISTORIES[case.script], 5)
