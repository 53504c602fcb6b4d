"""Planted defects of groups under a crowd of members, judged; a sound coordinator conforms.

Nothing is harmed: members that come, leave and fall behind are enough. Waits are for what members
were told (joins, commits, goodbyes), never for time.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from harness import history as histories
from harness.checkers.histories import CONFORMS, Report, judge
from harness.driver.crowd import Crowd, Plan
from reference_impl.io.server import serve

pytestmark = pytest.mark.slow
CONFIG = {"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "1"}
PATIENCE_S = 60.0
WANTED = {"join ok": 20, "store ok": 40, "leave ok": 3}


def told(path: Path, *switches: str) -> Report:
    """The judgement of three members' history on a broker with these defects."""
    with serve(brokers=1, config=CONFIG, switches=switches) as running:
        plan = Plan(
            tuple(running.bootstrap), ("t",), transactional=0, producers=1, followers=0,
            request_ms=2_000,
        )  # fmt: skip
        with Crowd(plan, path) as crowd:
            until = time.perf_counter() + PATIENCE_S
            counts = crowd.recorder.counts
            while any(counts[what] < least for what, least in WANTED.items()):
                assert time.perf_counter() < until, f"it never came to pass: {counts}"
                crowd.over.wait(0.05)
            assert crowd.finish(PATIENCE_S)
    with path.open(encoding="utf-8") as lines:
        return judge(histories.read(lines, str(path)))


def test_a_sound_coordinator_keeps_its_promises(tmp_path):
    report = told(tmp_path / "h.jsonl")
    assert report.verdict == CONFORMS, report.broken[0]
    assert report.counts["store fail"], "nobody fell behind"


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
    assert name in told(tmp_path / "h.jsonl", switch).names()
