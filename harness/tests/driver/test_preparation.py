"""Waits that only prepare a case: in vain on a target that never does it, not on a slow one."""

from __future__ import annotations

from harness.driver.preparation import BRIEF_S, ENOUGH, Preparation
from harness.scenario import Until
from harness.steps import metadata


def wait(name: str) -> Until:
    return Until(metadata(name, name=f"known {name}"), "topics[0].error_code", "==", 0)


def test_what_never_comes_is_waited_for_briefly_and_the_case_goes_on():
    remembered = Preparation()
    for number in range(ENOUGH):
        assert remembered.patience(wait(f"topic-{number}"), 20.0) == 20.0
        assert remembered.ended(wait(f"topic-{number}"), done=False), "the case goes on"
    assert remembered.patience(wait("another"), 20.0) == BRIEF_S


def test_what_comes_in_other_cases_was_only_late():
    remembered = Preparation()
    for _ in range(ENOUGH):
        remembered.ended(wait("early"), done=False)
    assert remembered.ended(wait("topic"), done=True)
    assert remembered.patience(wait("late"), 20.0) == 20.0
    assert not remembered.ended(wait("late"), done=False), "the next step would be too early"
