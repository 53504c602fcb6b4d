"""Nights, ordinals, neighbours."""

from __future__ import annotations

from pathlib import Path

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
