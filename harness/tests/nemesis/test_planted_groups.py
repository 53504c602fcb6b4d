"""Planted defects of groups under a workload of members, judged; a sound coordinator conforms.

Nothing is harmed: members that come, leave and fall behind are enough. A sound coordinator is left
when enough has happened to it (joins, commits, goodbyes, commits that were refused); a defective
one when its history gives it away, which it does sooner or later, as the threads have it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from touchstone.harness.checkers.histories import CONFORMS, Report, judge
from touchstone.harness.driver.workload import Plan, Workload
from touchstone.harness.model import history as histories
from touchstone.reference_impl.io.server import serve

pytestmark = pytest.mark.slow
CONFIG = {"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "1"}
PATIENCE_S = 120.0
WANTED = {"join ok": 20, "store ok": 40, "leave ok": 3, "store fail": 1}


def judged(path: Path) -> Report:
    """What there is to say of a history, be it over or not."""
    with path.open(encoding="utf-8") as lines:
        return judge(histories.read(lines, str(path)))


def told(path: Path, enough: Callable[[Workload], bool], *switches: str) -> Report:
    """The judgement of three members' history on a broker with these defects."""
    with serve(brokers=1, config=CONFIG, switches=switches) as running:
        plan = Plan(
            tuple(running.bootstrap), ("t",), transactional=0, producers=1, followers=0,
            request_ms=2_000,
        )  # fmt: skip
        with Workload(plan, path) as workload:
            until = time.perf_counter() + PATIENCE_S
            while not enough(workload):
                counts = workload.recorder.counts
                assert time.perf_counter() < until, f"it never came to pass: {counts}"
                workload.over.wait(0.05)
            assert workload.finish(PATIENCE_S)
    return judged(path)


def test_a_sound_coordinator_keeps_its_promises(tmp_path):
    def enough(workload: Workload) -> bool:
        counts = workload.recorder.counts
        return all(counts[what] >= least for what, least in WANTED.items())

    report = told(tmp_path / "h.jsonl", enough)
    assert report.verdict == CONFORMS, report.broken or report.counts


@pytest.mark.parametrize(
    ("switch", "name"),
    [
        ("stale-generation-committed", "outdated-commit"),
        ("generation-not-bumped", "owned-twice"),
        ("generations-start-over", "generation-fell"),
        ("committed-offset-off-by-one", "stale-commit"),
    ],
)
def test_a_defect_is_seen(tmp_path, switch, name):
    path = tmp_path / "h.jsonl"
    assert name in told(path, lambda workload: name in judged(path).names(), switch).names()
