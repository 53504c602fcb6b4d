"""`touchstone history` and `touchstone nemesis`: what they print and how they end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from touchstone.harness.__main__ import main
from touchstone.harness.driver.workload.producers import Producer
from touchstone.harness.model.history import dump
from touchstone.harness.tests.histories.made import history
from touchstone.reference_impl.io.server import serve

GOLDEN = Path(__file__).parents[1] / "golden" / "histories"


def touchstone(*words: object):
    return CliRunner().invoke(main, [str(word) for word in words])


def test_a_sound_history_ends_with_0(tmp_path):
    path = tmp_path / "x.history.jsonl"
    path.write_text("".join(row + "\n" for row in dump(history(1))), encoding="utf-8")
    done = touchstone("history", tmp_path)
    assert done.exit_code == 0 and "CONFORMS" in done.output


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.broken.jsonl")), ids=lambda p: p.name)
def test_a_broken_promise_ends_with_1_and_shows_its_operations(path):
    done = touchstone("history", path)
    assert done.exit_code == 1 and "DIVERGES" in done.output and "line " in done.output


def test_what_cannot_be_read_ends_with_3(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("{}\n", encoding="utf-8")
    done = touchstone("history", path)
    assert done.exit_code == 3 and "format" in done.output


def test_a_report_as_data():
    done = touchstone("history", "--json", GOLDEN / "duplicate.broken.jsonl")
    row = json.loads(done.output)
    assert row["verdict"] == "DIVERGES" and row["broken"] == {"duplicate": 1}


@pytest.mark.slow
def test_a_run_leaves_its_history(tmp_path):
    done = touchstone(
        "nemesis", "--target", "reference@4.3", "--fault", "none", "--seconds", 0.5,
        "--brokers", 1, "--out", tmp_path,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    (row,) = (tmp_path / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(row)["verdict"] == "CONFORMS"
    assert touchstone("history", tmp_path).exit_code == 0


@pytest.mark.slow
def test_a_planted_defect_ends_a_run_with_1(tmp_path):
    """With this seed the first transaction is aborted, and every member has one turn at least."""
    done = touchstone(
        "nemesis", "--target", "reference@4.3+aborted-visible", "--fault", "none", "--seconds", 0.1,
        "--seed", 1, "--brokers", 1, "--out", tmp_path,
    )  # fmt: skip
    assert done.exit_code == 1 and "aborted-read" in done.output


def test_a_fault_that_is_unsupported_ends_a_run_with_3(tmp_path):
    with serve() as somebody_elses:
        done = touchstone(
            "nemesis", "--target", somebody_elses.bootstrap[0], "--fault", "kill", "--brokers", 1,
            "--out", tmp_path,
        )  # fmt: skip
    assert done.exit_code == 3 and "UNSUPPORTED  kill" in done.output


@pytest.mark.slow
def test_a_mistake_of_ours_is_nobody_elses(tmp_path, monkeypatch):
    def mistaken(self):
        raise AssertionError("ours")

    monkeypatch.setattr(Producer, "turn", mistaken)
    done = touchstone(
        "nemesis", "--target", "reference@4.3", "--fault", "none", "--seconds", 0.1,
        "--brokers", 1, "--out", tmp_path,
    )  # fmt: skip
    assert done.exit_code == 2 and "BROKEN" in done.output


def test_an_unknown_fault_is_a_usage_error():
    done = touchstone("nemesis", "--target", "reference@4.3", "--fault", "flood")
    assert done.exit_code == 4 and "clock-jump" in done.output
