"""How long a wait lasts: from its first answer on, without what a throttled user has to wait."""

from __future__ import annotations

import pytest

from touchstone.harness.driver import deadlines
from touchstone.harness.driver.deadlines import LONGEST_S, Waited


def lasted(*answers):
    """How long a wait has lasted at each answer, of which each is an instant and a throttle."""
    now = []
    waited = Waited(lambda: now[-1])
    found = []
    for at, throttle_ms in answers:
        now.append(at)
        found.append(waited.answered({deadlines.THROTTLE: throttle_ms, "topics": []}))
    return found


@pytest.mark.parametrize(
    ("answers", "seconds"),
    [
        ([(9.0, 0), (9.5, 0), (11.0, 0)], [0, 0.5, 2.0]),  # however late the first one comes
        ([(0.0, 1000), (1.25, 0), (2.0, 0)], [0, 0.25, 1.0]),
        ([(0.0, 1000), (0.25, 1000), (0.5, 0)], [0, 0, 0]),  # who does not wait is not believed
        ([(0.0, 0), (2.0, 1000), (3.0, 0)], [0, 2.0, 2.0]),
        ([(0.0, 900_000), (LONGEST_S + 5, 0)], [0, 5.0]),
        ([(0.0, -5000), (1.0, 0)], [0, 1.0]),
    ],
)
def test_what_a_throttled_user_has_to_wait_is_no_part_of_a_wait(answers, seconds):
    assert lasted(*answers) == pytest.approx(seconds)


def test_what_cannot_be_read_throttles_nobody():
    waited = Waited(iter((0.0, 1.0, 3.0)).__next__)
    assert [waited.answered(body) for body in (None, [], {})] == [0, 1.0, 3.0]


@pytest.mark.parametrize(
    ("api", "own_ms", "sent_ms"),
    [
        ("CreateTopics", 5000, 45_000),
        ("AlterPartitionReassignments", 10_000, 45_000),
        ("CreateTopics", 60_000, 60_000),
        ("CreateTopics", 1000, 1000),  # the scenario is about it
        ("CreateTopics", 0, 0),
        ("CreateTopics", -1, -1),
        ("Produce", 5000, 5000),
    ],
)
def test_the_controller_may_take_as_long_as_the_run_has_patience(api, own_ms, sent_ms):
    asked = {"timeout_ms": own_ms, "topics": []}
    assert deadlines.granted(api, asked, 45.0) == {"timeout_ms": sent_ms, "topics": []}


def test_a_request_without_a_timeout_is_sent_as_it_is():
    assert deadlines.granted("Metadata", {"topics": None}, 45.0) == {"topics": None}
    assert deadlines.granted("CreateTopics", b"raw", 45.0) == b"raw"
