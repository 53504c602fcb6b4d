"""A pytest plugin of `ci/run`: which tests take the processor, their programs included.

    python -m pytest -p ci.processor ...

Seconds by the clock say little where lanes go on side by side: a test that waits takes nothing from
the others. What counts is processor time, of this process and of the programs that ended within the
test (a test that leaves one to a later one leaves that one its time).
"""

from __future__ import annotations

import resource
from collections.abc import Generator

import pytest

MOST = 8  # tests that are named
LEAST_S = 1.0  # below that, a test is not named

_spent = pytest.StashKey[dict[str, float]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_spent] = {}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    before = seconds()
    found = yield
    item.config.stash[_spent][item.nodeid] = seconds() - before
    return found


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    spent = config.stash[_spent]
    if not spent:
        return
    terminalreporter.write_line(f"processor: {seconds():.0f} s, of which")
    for test, taken in sorted(spent.items(), key=lambda one: -one[1])[:MOST]:
        if taken >= LEAST_S:
            terminalreporter.write_line(f"  {taken:6.1f} s  {test}")


def seconds() -> float:
    """Processor seconds of this process, and of those that it has seen end."""
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(who)[:2]) for who in both)
