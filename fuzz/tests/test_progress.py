"""A campaign ends when its cases or its seconds are over, and says meanwhile how far it is."""

from __future__ import annotations

from collections import Counter

import pytest

from touchstone.fuzz.campaign import Result
from touchstone.fuzz.progress import Progress


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def result(cases: int, behaviours: int = 0) -> Result:
    return Result("valid", cases, [], Counter(str(number) for number in range(behaviours)))


@pytest.mark.parametrize(
    ("cases", "seconds", "done", "now", "wanted"),
    [
        (10, None, 9, 99.0, True),
        (10, None, 10, 0.0, False),
        (None, 5.0, 99, 4.9, True),
        (None, 5.0, 0, 5.0, False),
        (10, 5.0, 10, 1.0, False),
        (None, None, 10**9, 1e9, True),
    ],
)
def test_when_a_campaign_ends(cases, seconds, done, now, wanted):
    clock = Clock()
    progress = Progress(clock, lambda line: None, cases=cases, seconds=seconds)
    clock.now = now
    assert progress.wanted(result(done)) is wanted


def test_lines_tell_what_is_new_and_what_is_left():
    clock, said = Clock(), []
    progress = Progress(clock, said.append, cases=1000, seconds=None)
    for now, cases, behaviours in ((1.0, 50, 5), (2.0, 200, 20), (3.0, 300, 20), (4.5, 600, 26)):
        clock.now = now
        progress.wanted(result(cases, behaviours))
    assert said == [
        "valid: 200 cases, 100/s, 20 behaviours (20 new), 0 findings, 8 s left",
        "valid: 600 cases, 160/s, 26 behaviours (6 new), 0 findings, 3 s left",
    ]


def test_a_campaign_without_an_end_promises_none():
    clock, said = Clock(), []
    progress = Progress(clock, said.append, cases=None, seconds=None)
    clock.now = 2.0
    progress.wanted(result(10))
    assert said == ["valid: 10 cases, 5/s, 0 behaviours (0 new), 0 findings"]


def test_a_rate_ends_when_the_seconds_are_over():
    clock = Clock()
    progress = Progress(clock, lambda line: None, cases=None, seconds=5.0)
    for clock.now in (4.0, 5.5, 9.0):
        progress.wanted(result(10))
    assert progress.over_at == 5.5
