"""The line that tells how far a run has come."""

from __future__ import annotations

import pytest

from touchstone.harness.run.progress import Standing, duration, line, seconds_left

OPEN, OPEN_ALONE = Standing(False), Standing(True)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "1 s"), (59, "59 s"), (60, "1 min"), (65, "1 min"), (139, "2 min 10 s"),
        (3600, "1 h"), (4000, "1 h 6 min"),
    ],
)  # fmt: skip
def test_an_estimate_is_no_more_exact_than_it_may_be(seconds, words):
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("cases", "left"),
    [
        ([OPEN], None),
        ([Standing(False, 2.0), *[OPEN] * 8], 4.0),  # 8 cases of 2 s, 4 at a time
        ([Standing(False, 2.0), OPEN_ALONE], 2.0),  # nobody beside it
        ([Standing(False, 2.0), Standing(True, 0.5), OPEN_ALONE], 0.5),
        ([Standing(True, 0.5), OPEN], 0.125),
        ([Standing(False, 2.0, differs=True, again=True)], 2.0),
    ],
)
def test_how_much_time_is_left(cases, left):
    assert seconds_left(cases, 4) == left


def test_the_line():
    cases = [Standing(False, 2.0), Standing(False, 2.0, differs=True, again=True), OPEN]
    assert line(cases, 1) == "2 of 3 cases judged, 1 differ, about 4 s left"
    assert line(cases[:2], 1) == (
        "2 of 2 cases judged, 1 differ, 1 of them to be asked again, about 2 s left"
    )
    assert line([OPEN], 1) == "0 of 1 cases judged, 0 differ"
