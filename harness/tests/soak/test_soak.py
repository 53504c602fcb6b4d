"""`touchstone soak` for a moment: a sound client conforms, one with a planted defect does not."""

from __future__ import annotations

import contextlib
import json
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from touchstone.harness.__main__ import main
from touchstone.harness.checkers.histories import CONFORMS
from touchstone.harness.driver.soak.handle import Handle, LoadFailed
from touchstone.harness.driver.soak.plan import SoakPlan, load
from touchstone.harness.nemesis import soak
from touchstone.harness.tests.targets.secured import secured, written
from touchstone.reference_impl.broker.faults.fault_plan import Rule
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.client.security.listeners import PASSWORD


def soaked(tmp_path, *words: str):
    done = CliRunner().invoke(
        main, ["soak", "--target", "reference@4.3", "--out", str(tmp_path), *words]
    )
    return done, json.loads((tmp_path / "soak.json").read_text(encoding="utf-8"))


def test_a_plan_is_one_line():
    plan = SoakPlan(("127.0.0.1:1",), "t", defects=("never-retries",))
    assert "\n" not in plan.dump() and load(plan.dump()) == plan


@pytest.mark.slow
def test_a_sound_client_keeps_every_promise_while_a_broker_is_killed(tmp_path):
    done, row = soaked(tmp_path, "--fault", "kill", "--seconds", "12", "--seed", "3")
    assert done.exit_code == 0, done.output
    counts = row["last"]["counts"]
    assert row["bites"] and counts["acknowledged"] == counts["read"] > 0
    assert "seed 3" in done.output and row["samples"]


@pytest.mark.slow  # 10 s
def test_a_soak_logs_in(tmp_path):
    with secured(brokers=3) as broker:
        path = written(tmp_path, broker.properties("SASL_SSL", "SCRAM-SHA-256"))
        asked = ("--target", broker.where["SASL_SSL"], "--command-config", str(path))
        done, row = soaked(tmp_path, *asked, "--fault", "none", "--seconds", "3")
    assert done.exit_code == 3, done.output  # no fault was there to be survived
    assert row["last"]["counts"]["acknowledged"] == row["last"]["counts"]["read"] > 0
    assert row["last"]["errors"] == {}
    assert PASSWORD not in done.output + json.dumps(row)


def played(*defects: str) -> list[str]:
    """What a client with these defects leads to when its brokers' answers go wrong."""
    findings: list[str] = []
    with serve(brokers=3, release="4.3") as cluster:
        plan = SoakPlan(tuple(cluster.bootstrap), "t", partitions=1, rate=200, defects=defects)
        seen: list[int] = []

        def hear(row):
            findings.extend(row["findings"])
            seen.append(row["counts"].get("acknowledged", 0))

        with Handle(plan, hear) as client:
            while not client.over.is_set() and (not seen or seen[-1] < 50):
                client.over.wait(0.05)
            cluster.faults.add(Rule(action="close", api="Produce", times=3))
            cluster.faults.add(
                Rule(action="error", api="Produce", times=6, error="NOT_LEADER_OR_FOLLOWER")
            )
            at = seen[-1]
            while not client.over.is_set() and seen[-1] < at + 50:
                client.over.wait(0.05)
            client.finish()
    return findings


class Late:
    """A client whose process takes a minute to start, on a clock of its own."""

    def __init__(self, monkeypatch) -> None:
        self.now, self.over = 0.0, self
        self.bitten: list[float] = []
        monkeypatch.setattr(soak.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(soak, "Handle", self.opened)
        monkeypatch.setattr(soak.brokers, "whole", lambda *_: None)
        monkeypatch.setattr(soak.campaign, "bite", self.bite)

    def opened(self, plan, hear):
        self.hear = hear
        return contextlib.nullcontext(self)

    def wait(self, seconds: float) -> bool:
        self.now += max(seconds, 7.0 if self.now > 60 else 0)  # then each turn of its loop is slow
        self.hear({"findings": [], "counts": {"acknowledged": int(self.now > 60)}})
        return False

    def is_set(self) -> bool:
        return False

    def resident(self) -> int:
        return 0

    def bite(self, *_):
        self.bitten.append(self.now)
        return SimpleNamespace(proof="seen")

    def finish(self):
        return {"whole": True}


def test_a_soak_begins_with_its_client_and_has_a_fault_however_slow_the_machine(monkeypatch):
    client = Late(monkeypatch)
    cluster = SimpleNamespace(endpoint=SimpleNamespace(brokers={0: ("127.0.0.1", 1)}))
    result = soak.run(cluster, SoakPlan(("127.0.0.1:1",), "t"), ["kill"], 12, "late", str)
    assert client.bitten and min(client.bitten) > 60
    assert result.verdict == CONFORMS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("defects", "said"),
    [
        (("duplicates-on-retry",), "a duplicate"),
        (("never-retries", "swallows-errors"), "acknowledged at -1"),
        (("commits-the-last-offset",), "was committed instead of"),
        (("loses-the-first-of-a-fetch",), "nobody was given"),
    ],
)
def test_a_defect_of_the_client_is_found(defects, said):
    assert any(said in text for text in played(*defects))


@pytest.mark.slow
def test_a_client_that_cannot_start_is_told_as_our_mistake():
    with (
        Handle(SoakPlan(("127.0.0.1:1",), "t"), lambda row: None) as client,
        pytest.raises(LoadFailed, match="refused"),
    ):
        client.over.wait(60)
        client.finish()
