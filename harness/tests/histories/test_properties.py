"""Every property breaks its golden history and its lie, and no sound history breaks any."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from touchstone.harness.checkers.histories import (
    CONFORMS,
    DIVERGES,
    INCONCLUSIVE,
    judge,
    properties,
)
from touchstone.harness.model import history as histories
from touchstone.harness.tests.histories.false_histories import FALSE_HISTORIES, empty
from touchstone.harness.tests.histories.made import history

GOLDEN = sorted((Path(__file__).parents[1] / "golden" / "histories").glob("*.jsonl"))
NAMES = sorted(properties())
SEEDS = range(12)


def property_of(path: Path) -> str:
    """The property a golden history is about: the one whose name its own begins with."""
    return next(name for name in NAMES if path.name.startswith(name))


def golden(path: Path) -> histories.History:
    return histories.read(path.read_text(encoding="utf-8").splitlines(True), str(path))


def test_every_property_has_a_lie_and_golden_histories_of_both_kinds():
    kinds = {(property_of(path), path.name.split(".")[1]) for path in GOLDEN}
    assert kinds == {(name, kind) for name in NAMES for kind in ("broken", "holds")}
    assert sorted(FALSE_HISTORIES) == NAMES


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_golden(path):
    report = judge(golden(path))
    broken = set(report.names())
    if ".broken." in path.name:
        assert property_of(path) in broken and report.verdict == DIVERGES
    else:
        assert not broken, report.broken[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sound_history_conforms(seed):
    report = judge(history(seed))
    assert report.verdict == CONFORMS, report.broken[0]
    assert report.counts["send unknown"] and report.counts["commit ok"]


@pytest.mark.parametrize("name", NAMES)
def test_every_property_catches_its_lie(name):
    for seed in SEEDS:
        made = history(seed)
        FALSE_HISTORIES[name](made, Random(seed))
        assert name in judge(made).names(), f"seed {seed}"


def test_what_no_promise_forbids_is_counted_and_breaks_nothing():
    path = next(path for path in GOLDEN if path.name == "lost-write-acks-1.holds.jsonl")
    report = judge(golden(path))
    assert [each.name for each in report.excused] == ["lost-write"]
    assert "acks=1" in report.excused[0].excuse


def test_unclean_elections_excuse_everything_they_can_cause():
    path = next(path for path in GOLDEN if path.name == "lost-write.broken.jsonl")
    made = golden(path)
    made.promised["unclean"] = True
    report = judge(made)
    assert not report.broken and report.excused


def test_an_anomaly_shows_the_operations_it_is_about_and_no_others():
    path = next(path for path in GOLDEN if path.name == "lost-write.broken.jsonl")
    text = str(judge(golden(path)).broken[0])
    assert text.startswith("lost-write: t-0: b was acknowledged at offset 1")
    assert text.count("\n") == 2 and "value=a" not in text


def test_a_history_in_which_nothing_happened_proves_nothing():
    assert judge(empty()).verdict == INCONCLUSIVE


def test_a_history_that_nobody_read_to_its_end_proves_nothing():
    made = history(1)
    made.operations = [each for each in made.operations if not each.process.startswith("drain")]
    assert judge(made).verdict == INCONCLUSIVE
