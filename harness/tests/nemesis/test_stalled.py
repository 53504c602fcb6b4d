"""A cluster that acknowledges nothing after a fault is a finding; a client that hangs is left."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from touchstone.harness.checkers.histories import DIVERGES, INCONCLUSIVE, judge
from touchstone.harness.driver.workload import Plan, workload
from touchstone.harness.driver.workload.workload import Workload
from touchstone.harness.nemesis import campaign
from touchstone.harness.nemesis.campaign import Outcome
from touchstone.harness.tests.histories.made import history

PLAN = Plan(("127.0.0.1:1",), ("t",))


class Counts(Counter):
    """Sends are acknowledged from the look on that `rises` says."""

    def __init__(self, rises: int) -> None:
        super().__init__()
        self._left = rises

    def __getitem__(self, name: str) -> int:
        self._left -= 1
        return int(self._left < 0)


def harmed(rises: int, plan: Plan = PLAN) -> SimpleNamespace:
    return SimpleNamespace(
        recorder=SimpleNamespace(counts=Counts(rises)), plan=plan, over=threading.Event()
    )


def test_a_cluster_that_goes_on_is_not_stalled(monkeypatch):
    monkeypatch.setattr(campaign, "LOOK_S", 0)
    assert campaign._stalled(harmed(3), "kill") == ""


def test_a_cluster_that_acknowledges_nothing_more_breaks_a_promise(monkeypatch):
    monkeypatch.setattr(campaign, "RECOVERY_S", 0.0)
    stalled = campaign._stalled(harmed(1 << 60), "clock-jump")
    assert stalled == "nothing was acknowledged for 0 s after clock-jump was over"
    outcome = Outcome(Path(), judge(history(1)), stalled=stalled)
    assert outcome.verdict == DIVERGES and stalled in outcome.why_not


@pytest.mark.parametrize(
    "plan", [Plan(("h:1",), ("t",), acks=(0,)), Plan(("h:1",), ("t",), producers=0)]
)
def test_where_nobody_is_to_be_told_nothing_is_waited_for(plan):
    assert campaign._stalled(harmed(1 << 60, plan), "kill") == ""


def test_a_client_that_does_not_end_is_left_and_named(tmp_path, monkeypatch):
    monkeypatch.setattr(workload, "END_S", 0.0)
    end = threading.Event()
    hanging = threading.Thread(target=end.wait, name="producer-0", daemon=True)
    hanging.fault = None
    hanging.start()
    made = Workload(PLAN, tmp_path / "x.jsonl")
    made.members = [hanging]
    made.halt()
    assert made.stuck == ["producer-0"]
    outcome = Outcome(Path(), judge(history(1)), stuck=made.stuck)
    assert outcome.verdict == INCONCLUSIVE and "producer-0 did not end" in outcome.why_not[0]
    end.set()
    made.recorder.close()
