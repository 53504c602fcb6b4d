"""Answers that cannot be read: they cost no deadline, for the next one would be no better."""

from __future__ import annotations

import pytest

from touchstone.harness.driver import brokers
from touchstone.harness.driver.line import Line
from touchstone.harness.driver.preparation import BRIEF_S, ENOUGH, Preparation, Waits
from touchstone.harness.driver.runner import run
from touchstone.harness.model.placeholders import Coordinator, Unresolved
from touchstone.harness.model.scenario import Scenario, Until
from touchstone.harness.model.steps import find_coordinator
from touchstone.harness.targets.liars import LIARS, LyingServer

LONG_S = 60.0  # nobody waits for it


@pytest.fixture
def asked():
    """The frames that a broker was asked which answers with random bytes."""
    return []


@pytest.fixture(params=["random-bytes", "random-frames", "random-answers"])
def garbage(request, asked):
    with LyingServer(LIARS[request.param], lambda: asked.append) as server:
        yield server


def test_a_wait_ends_with_its_first_answer(garbage, asked):
    step = Until(find_coordinator("group", name="known"), "error_code", "==", 0)
    waits = Waits(frozenset({"known"}), Preparation())
    for number in range(ENOUGH + 1):
        found = run(Scenario((step,)), garbage.endpoint, nonce="n", deadline_s=LONG_S, waits=waits)
        assert len(asked) == number + 1
        assert found.events[-1].direction in ("unmet", "garbled"), found.events
    # What cannot be read says nothing about how long others take.
    assert waits.patience(step, LONG_S) == LONG_S > BRIEF_S


def test_a_question_of_the_harness_is_not_asked_again(garbage, asked):
    address = garbage.endpoint.bootstrap[0]
    with pytest.raises(Unresolved, match="does not decode|begin no frame"):
        brokers.lookup(address, Coordinator("group"), LONG_S)
    assert len(asked) == 1


@pytest.mark.parametrize(
    "address", [("127.0.0.1", (1 << 16) + 9092), ("127.0.0.1", -1), ("x" * 100, 9092)]
)
def test_an_address_that_cannot_be_one_is_not_reached(address):
    """A broker that answers garbage tells such addresses."""
    with pytest.raises(OSError, match="no address"):
        Line(address, 1.0)
