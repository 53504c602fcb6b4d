"""A long history is judged in seconds.

`python -m touchstone.harness.tests.histories.test_speed` prints them.

The bound is 100,000 operations within a minute. A test that looks at a clock fails on a
busy machine and proves nothing on an idle one, so what is tested is the cost that cannot be argued
with: how often each property's work grows when the history does.
"""

from __future__ import annotations

import sys
import timeit

import pytest

from touchstone.harness.checkers.histories import CONFORMS, judge
from touchstone.harness.tests.histories.made import history

OPERATIONS = 100_000


def lines_of_work(count: int) -> int:
    """Lines of the checkers that run while a history of this many operations is judged."""
    made, ran = history(5, count), 0

    def trace(frame, event, argument):
        nonlocal ran
        if "checkers/histories" not in frame.f_code.co_filename:
            return None
        ran += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        judge(made)
    finally:
        sys.settrace(before)
    return ran


@pytest.mark.slow
def test_work_grows_with_the_history_and_not_with_its_square():
    small, large = lines_of_work(500), lines_of_work(4_000)
    assert large < small * 8 * 1.7


if __name__ == "__main__":
    made = history(1, OPERATIONS)
    reports = []
    seconds = timeit.timeit(lambda: reports.append(judge(made)), number=1)
    assert reports[0].verdict == CONFORMS
    read = reports[0].counts["records read"]
    print(f"{len(made.operations)} operations, {read} records read: {seconds:.1f} s")
