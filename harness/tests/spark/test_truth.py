"""Each word of a report on twelve runs whose truth is known (`truth.py`), as a browser shows it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from touchstone.harness.cli.report import NAMES, command
from touchstone.harness.spark import inputs, report
from touchstone.harness.tests.spark import truth
from touchstone.harness.tests.spark.pages import Tables, drawn

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.usefixtures("spark_here")]

MARKS = dict(zip("CDIK./", "✓✗?≈· ", strict=True))
COURSES = [
    (target, case, *said)
    for target, one in truth.TARGETS.items()
    for case, said in one.truth.items()
]
# The last step of each target: what its newest run brought, and what that is called.
STEPS = {
    ("regressed", "topics.late[v0]", "unknown:9092"),
    ("alternates", "topics.alternates[v0]", "unknown:9092"),
    ("new", "topics.new[v0]", "unknown:9092"),
    ("flaky", "topics.flaky[v0]", "known:9092"),
    ("flaky", "topics.once[v0]", "known:9092"),
    ("changed", "topics.pinned[v0]", "known:9092"),
    ("fixed", "topics.by-build[v0]", "swapped:9092"),
    ("regressed", "topics.by-judge[v0]", "judged:9092"),
    ("regressed", "topics.regressed[v0]", "ended:9092"),
}


class Said(NamedTuple):
    """The report on the twelve runs: its folder, its summary, and its page by view."""

    out: Path
    found: dict
    profile: Path
    views: dict[str, str]

    def view(self, place: str) -> str:
        if place not in self.views:
            self.views[place] = drawn(self.out / "index.html", self.profile, place)
        return self.views[place]


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory, spark_here: None) -> Said:
    folder = tmp_path_factory.mktemp("truth")
    results = truth.results(folder / "results")
    files = [inputs.edges(path) for path in inputs.find([str(results)])]
    found = report.write(
        files, folder / "out", say=lambda line: None, allow_incomplete=True, names=NAMES,
        fuzz_files=inputs.find_fuzz([str(results)]),
    )  # fmt: skip
    return Said(folder / "out", found, folder / "profile", {})


def test_each_case_is_called_what_it_is_and_since_the_run_that_brought_it(said: Said) -> None:
    rows = Tables(said.view("changes")).rows
    shown = {(row[2], row[1]): row for row in rows if len(row) == 7 and row[0]}
    assert set(shown) == {(target, case) for target, case, *_ in COURSES}
    for target, case, course, since in COURSES:
        row = shown[target, case]
        track = truth.TARGETS[target].tracks[case]
        assert (row[0], row[3], row[4]) == (course, "".join(map(MARKS.get, track)), since), row


def test_a_build_stands_beside_the_run_that_brought_a_change(said: Said) -> None:
    rows = [row for row in Tables(said.view("changes")).rows if len(row) == 7]
    builds = {(row[2], row[1]): (row[5], row[6]) for row in rows}
    assert builds["known:9092", "topics.regressed[v0]"] == ("b2", "")
    assert builds["unknown:9092", "topics.regressed[v0]"] == ("not known", "")
    assert builds["known:9092", "topics.flaky[v0]"][1] == "one build gave several verdicts"
    assert builds["unknown:9092", "topics.wavered[v0]"][1] == "one run gave several verdicts"
    assert builds["unknown:9092", "topics.alternates[v0]"][1].endswith("builds are not known")
    assert builds["judged:9092", "topics.by-judge[v0]"] == (
        "b1", "the build is the same, the Touchstone that judged it is not",
    )  # fmt: skip


def test_what_the_newest_run_of_each_target_brought(said: Said) -> None:
    rows = [row for row in Tables(said.view("changes")).rows if len(row) == 4 and row[0]]
    assert {(row[0], row[1], row[2]) for row in rows} == STEPS


def test_flaky_is_only_what_is_flaky(said: Said) -> None:
    view = said.view("stability")
    shown = {(row[0], row[2], row[1]) for row in Tables(view).rows if len(row) == 7 and row[0]}
    assert shown == {
        (course, target, case) for target, case, course, _ in COURSES
        if course in ("flaky", "alternates")
    }  # fmt: skip


def test_nights_are_dates_and_the_axis_shows_them(said: Said) -> None:
    assert "6 targets · 70 cases · 12 runs on 4 dates" in said.view("overview")
    assert "4, 2026-11-20 to 2026-11-23" in said.view("overview")
    view = said.view("stability")
    for date in truth.DATES:
        assert f">{date[5:]}</text>" in view
    assert "4 runs, 4 dates" in view
    assert said.found["nights"] == list(truth.DATES)
    assert "136 rows of 18 runs on 4 dates, 2026-11-20 to 2026-11-23" in summary(said)


def test_wall_time_is_that_of_the_wall(said: Said) -> None:
    """Each run took nine minutes, its cases some milliseconds; one that was cut states no end."""
    rows = [row for row in Tables(said.view("runs")).rows if len(row) == 13][1:]
    assert len(rows) == 18
    assert {row[-2] for row in rows if row[2] != "ended:9092"} == {"9.0 min"}
    cut = rows[1]
    assert (cut[0], cut[2], cut[-2]) == ("n4-3", "ended:9092", "·")
    assert "cut after 2 of 4 cases" in cut[-1]


def test_a_run_that_was_cut_counts_what_it_judged_and_says_so(said: Said) -> None:
    view = said.view("overview")
    assert "ended:9092: cut after 2 of 4 cases" in view
    (row,) = (row for row in Tables(view).rows if row[1:2] == ["ended:9092"] and len(row) > 9)
    assert row[0] == "?incomplete" and row[4:6] == ["2", "1"]
    assert "INCOMPLETE: cut after 2 of 4 cases" in summary(said)


def test_a_new_target_is_called_new_and_no_other(said: Said) -> None:
    rows = Tables(said.view("overview")).rows
    names = [row[1] for row in rows if len(row) > 9][1:]
    assert sorted(names) == sorted({*truth.TARGETS} - {"newcomer:9092"} | {"newcomer:9092 new"})


def test_every_targets_causes_are_told_and_what_is_cut_is_counted(said: Said) -> None:
    view, text = said.view("overview"), summary(said)
    heads = [row[1] for row in Tables(view).rows if len(row) == 3 and row[2] == "What"]
    assert heads == [
        "ended:9092: 1 cause", "judged:9092: 1 cause", "known:9092: 46 causes",
        "newcomer:9092: 1 cause", "unknown:9092: 1 cause",
    ]  # fmt: skip
    assert "and 36 more causes of known:9092" in view
    for head in heads:
        target, _, count = head.rpartition(": ")
        assert f"## Causes: {target}, {count}" in text
    assert "... and 16 more, in index.html and summary.json" in text


def test_causes_of_fuzz_runs_stand_there_with_oracle_api_and_file(said: Said) -> None:
    found = Tables(said.view("overview"))
    rows = [row for row in found.rows if row[:1] == [truth.FUZZ] and len(row) == 8]
    file = "../results/fuzz/frames/00-parses-key-3.toml"
    assert rows == [
        [truth.FUZZ, "frames", "alive", "no API", "it died", "3", "2 of 5, unsteady", file],
        [truth.FUZZ, "frames", "parses", "Metadata", "<b>trailing</b> bytes behind the answer",
         "3", "5 of 5", file],
    ]  # fmt: skip
    assert file in found.links
    (played,) = (row for row in found.rows if row[:1] == [truth.FUZZ] and len(row) == 7)
    assert played[2:4] == ["1,000", "500"]  # two shards of 500 in the same two seconds
    assert "| parses | Metadata |" in summary(said)


def test_rows_of_a_fuzz_run_alone_make_a_page(tmp_path: Path) -> None:
    truth.fuzz(tmp_path / "fuzz")
    done = CliRunner().invoke(command, [str(tmp_path), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    found = Tables(drawn(tmp_path / "out" / "index.html", tmp_path / "profile"))
    assert [row[2] for row in found.rows if row[:1] == [truth.FUZZ] and len(row) == 8] == [
        "alive", "parses",
    ]  # fmt: skip
    text = (tmp_path / "out" / "summary.md").read_text(encoding="utf-8")
    assert text.startswith("# Touchstone: no target was judged") and "Metadata" in text
    figures = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert figures["fuzz"] == [
        {
            "target": truth.FUZZ, "campaign": "frames", "shards": 2, "executions": 1000,
            "seconds": 2.0, "signatures": 40, "died": 0, "causes": 1, "unsteady": 1,
        }
    ]  # fmt: skip
    assert (tmp_path / "out" / "tables" / "fuzz_causes").is_dir()


def test_the_panel_of_a_case_has_its_commands(said: Said) -> None:
    view = said.view("case/known:9092/topics.regressed%5Bv0%5D")
    commands = [
        shlex.split(line) for line in Tables(view).commands if line.startswith(("py", "to"))
    ]
    bundle = f"{said.out.parent}/results/n4-2/bundles/topics.regressed[v0].jsonl"
    assert commands == [
        ["pytest", "suites/topics/test_it.py::test_it[known:9092-v0]", "--target", "known:9092"],
        ["touchstone", "replay", bundle, "--target", "known:9092"],
        ["touchstone", "diff", bundle],
    ]


def summary(said: Said) -> str:
    return (said.out / "summary.md").read_text(encoding="utf-8")
