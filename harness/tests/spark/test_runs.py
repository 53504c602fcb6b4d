"""Nights, ordinals, neighbours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from touchstone.harness.spark import inputs, runs
from touchstone.harness.tests.spark import made

CASES = {"topics.refused[v0]": "C"}


def ordered(tmp_path: Path, *places: tuple[str, str]) -> list[runs.Run]:
    paths = [made.results(tmp_path, run, target, CASES) for run, target in places]
    return runs.ordered(inputs.edges(path) for path in paths)


def test_runs_are_numbered_by_the_start_they_state(tmp_path: Path) -> None:
    found = ordered(tmp_path, ("b-02", "x@1"), ("a-03", "x@1"), ("c-01", "x@1"))
    assert [(r.source.run, r.number, r.ordinal, r.latest) for r in found] == [
        ("c-01", 0, 0, False),
        ("b-02", 1, 1, False),
        ("a-03", 2, 2, True),
    ]


def test_a_target_that_missed_a_night_counts_its_own_runs(tmp_path: Path) -> None:
    found = ordered(tmp_path, ("n-01", "x@1"), ("n-02", "x@1"), ("n-02", "y@1"), ("n-03", "x@1"))
    assert [(r.ordinal, r.latest) for r in found if r.target == "y@1"] == [(0, True)]


def test_targets_are_ordered_by_the_value_of_their_numbers() -> None:
    names = ["reference@10.0", "reference@2.8", "kafka@4.3", "127.0.0.1:9092"]
    assert sorted(names, key=runs.target_order) == [
        "127.0.0.1:9092",
        "kafka@4.3",
        "reference@2.8",
        "reference@10.0",
    ]


def test_neighbours_are_releases_of_one_family(tmp_path: Path) -> None:
    targets = ("reference@2.8", "reference@10.0", "reference@3.9", "kafka@3.9", "127.0.0.1:9092")
    found = ordered(tmp_path, *(("n-01", target) for target in targets))
    assert runs.adjacent(found) == [
        ("reference@2.8", "reference@3.9"),
        ("reference@3.9", "reference@10.0"),
    ]


def test_a_file_without_a_header_has_no_place(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b"")
    assert runs.ordered([inputs.edges(empty)]) == []


def test_rows_of_older_harnesses_have_a_place_and_no_build(tmp_path: Path) -> None:
    """Their headers lack what later ones say: nothing of that is made up."""
    path = made.results(tmp_path, "n-01", "x@1", CASES)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for name in ("build", "deselected", "arguments", "suites", "profiles", "configured"):
        del lines[0][name]
    (run,) = runs.ordered([inputs.edges(made.write(tmp_path, lines))])
    *_, build, commit, _seed, _host, planned, cases, selected, _incomplete = run.row()
    assert (build, commit, planned, cases, selected) == (None, "c0ffee", 1, 1, False)
    assert run.date == "2026-11-01"


@pytest.mark.parametrize(
    ("started", "finished", "seconds"),
    [
        ("2026-11-21T01:00:00Z", "2026-11-21T01:09:00+00:00", 540.0),
        ("2026-11-21T23:59:00Z", "2026-11-22T00:01:00Z", 120.0),
        ("2026-11-21T01:00:00", "2026-11-21T01:09:00Z", None),
        ("yesterday", "2026-11-21T01:09:00Z", None),
        ("2026-11-21T01:00:00Z", None, None),
    ],
)
def test_wall_time_is_from_start_to_end(
    tmp_path: Path, started: str, finished: str | None, seconds: float | None
) -> None:
    lines = made.result_lines("n-01", "x@1", CASES, started=started)
    lines[-1]["finished"] = finished
    (run,) = runs.ordered([inputs.edges(made.write(tmp_path, lines))])
    assert runs.seconds(run) == seconds


def test_runs_of_one_night_have_one_date(tmp_path: Path) -> None:
    paths = [
        made.results(tmp_path, f"r-{hour}", "x@1", CASES, started=f"2026-11-21T0{hour}:00:00Z")
        for hour in range(3)
    ]
    found = runs.ordered(inputs.edges(path) for path in paths)
    assert [run.number for run in found] == [0, 1, 2]
    assert {run.date for run in found} == {"2026-11-21"}
