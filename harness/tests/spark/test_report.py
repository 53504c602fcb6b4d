"""The whole way on golden rows: three nights, three targets, every kind of verdict and change."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from touchstone.harness import shown
from touchstone.harness.cli import report as cli
from touchstone.harness.spark import page, report, summary
from touchstone.harness.spark.page import DETAIL_BYTES
from touchstone.harness.tests.spark import made
from touchstone.harness.tests.spark.golden import (
    EVIL,
    HISTORY,
    ODD,
    PRODUCTS,
    WAVERED,
    golden,
    written,
)
from touchstone.harness.tests.spark.pages import HANGS_S, drawn

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.usefixtures("spark_here")]


def rows_of(found: dict, name: str, *fields: str) -> list[tuple]:
    return [tuple(row[field] for field in fields) for row in found[name]]


def test_totals_are_those_of_the_newest_runs(made_report: tuple[Path, dict]) -> None:
    names = ("target", "cases", "conforms", "known", "diverges", "inconclusive", "unsupported")
    assert rows_of(made_report[1], "targets", *names, "broken", "status", "runs") == [
        ("127.0.0.1:9092", 3, 2, 0, 1, 0, 0, 0, "diverges", 1),
        ("reference@2.8", 7, 5, 0, 1, 0, 1, 0, "diverges", 3),
        ("reference@3.9", 6, 2, 1, 1, 1, 0, 1, "broken", 3),
    ]
    assert (made_report[1]["rows"], made_report[1]["files"]) == (41, 7)
    assert made_report[1]["status"] == "broken"


def test_equal_differences_are_told_once_per_target(made_report: tuple[Path, dict]) -> None:
    told = {(row["target"], row["cause"]): row for row in made_report[1]["causes"]}
    (row,) = (row for (target, _), row in told.items() if target == "reference@2.8")
    assert row["cause"] == "CreateTopics.topics.error_code:37,37" and row["cases"] == 1
    assert row["what"].startswith("Kafka 2.8 answers INVALID_PARTITIONS (37)")
    assert "## Causes" in (made_report[0] / "out" / "summary.md").read_text(encoding="utf-8")


def test_claims_by_target(made_report: tuple[Path, dict]) -> None:
    names = ("claim", "target", "cases", "conforms", "known", "diverges")
    assert ("topics.refused", "reference@3.9", 2, 1, 0, 1) in rows_of(
        made_report[1], "claims", *names
    )
    assert ("topics.accepted", "reference@3.9", 1, 0, 1, 0) in rows_of(
        made_report[1], "claims", *names
    )


def test_suites_by_release_keep_families_apart(made_report: tuple[Path, dict]) -> None:
    names = ("suite", "family", "release", "cases", "conforms")
    topics = [row for row in rows_of(made_report[1], "suites", *names) if row[0] == "topics"]
    assert topics == [
        ("topics", "127.0.0.1:9092", None, 3, 2),
        ("topics", "reference", "2.8", 3, 2),
        ("topics", "reference", "3.9", 3, 1),
    ]


def test_apis_by_version(made_report: tuple[Path, dict]) -> None:
    names = ("api", "version", "target", "cases", "conforms")
    assert rows_of(made_report[1], "apis", *names)[:2] == [
        ("CreateTopics", 0, "127.0.0.1:9092", 2, 1),
        ("CreateTopics", 0, "reference@2.8", 5, 4),
    ]


def test_changes_since_the_run_before(made_report: tuple[Path, dict]) -> None:
    assert rows_of(made_report[1], "changes", "target", "kind", "cases") == [
        ("reference@2.8", "fixed", 1),
        ("reference@2.8", "flaky", 1),
        ("reference@2.8", "new", 2),
        ("reference@2.8", "regressed", 1),
        ("reference@2.8", "vanished", 1),
        ("reference@3.9", "changed", 1),
        ("reference@3.9", "regressed", 1),
    ]


def test_changes_between_neighbouring_releases(made_report: tuple[Path, dict]) -> None:
    assert rows_of(made_report[1], "releases", "older", "newer", "kind", "cases") == [
        ("reference@2.8", "reference@3.9", "changed", 2),
        ("reference@2.8", "reference@3.9", "regressed", 1),
        ("reference@2.8", "reference@3.9", "unjudged", 2),
    ]


def test_a_flake_moved_without_a_reason(made_report: tuple[Path, dict]) -> None:
    names = ("course", "target", "case", "track", "changes", "flake_rate")
    flaky = [row for row in rows_of(made_report[1], "moved", *names) if row[0] == "flaky"]
    assert flaky == [
        ("flaky", "reference@2.8", "topics.refused[v1]", "CDC", 2, 1.0),
        ("flaky", *WAVERED, "CCC", 0, 0.0),
    ]


def test_a_planted_defect_is_caught_where_the_healthy_target_conforms(
    made_report: tuple[Path, dict],
) -> None:
    """`topics.accepted` diverges without the defect too, so it kills nothing."""
    score = made_report[1]["detection"]
    assert (score["planted"], score["caught"]) == (2, 1)
    assert rows_of(score, "switches", "switch", "by") == [
        ("lies", []),
        ("forgets", ["topics.refused"]),
    ]


def test_reasons_are_counted(made_report: tuple[Path, dict]) -> None:
    reasons = rows_of(made_report[1], "reasons", "target", "verdict", "reason", "cases")
    assert reasons == [
        ("reference@2.8", "UNSUPPORTED", "because U of this case", 1),
        ("reference@3.9", "BROKEN", "because B of this case", 1),
        ("reference@3.9", "INCONCLUSIVE", "because I of this case", 1),
    ]


def test_the_tables_are_parquet_and_verdicts_lie_by_run(made_report: tuple[Path, dict]) -> None:
    tables = made_report[0] / "out" / "tables"
    assert sorted(path.name for path in (tables / "verdicts").glob("run=*")) == [
        "run=n-01",
        "run=n-02",
        "run=n-03",
    ]
    names = "api_version changes claim_target detection differences findings history releases runs"
    names += " suite_release trend verdicts"
    assert sorted(path.name for path in tables.iterdir()) == names.split()


def test_answers_keep_their_json_type(made_report: tuple[Path, dict]) -> None:
    data = embedded(made_report[0] / "out" / "index.html")
    stored = [tuple(data["strings"][n] for n in numbers) for numbers in data["differences"]]
    assert ("create", "topics[0].error_code", "37", '"37"') in stored


def embedded(page: Path) -> dict:
    text = page.read_text(encoding="utf-8")
    return json.loads(text.split('id="data">')[1].split("</script>")[0])


def test_the_page_has_every_verdict_of_the_newest_runs(made_report: tuple[Path, dict]) -> None:
    data = embedded(made_report[0] / "out" / "index.html")
    names = [data["claims"][row[0]][0] + row[1] for row in data["cases"]]
    for number, target in enumerate(data["summary"]["targets"]):
        shown = {
            name: code
            for name, code in zip(names, data["codes"][number], strict=True)
            if code != "."
        }
        expected = {n: c[2] for n, c in HISTORY[target["target"]].items() if c[2] != "."}
        assert shown == expected
    assert data["names"]["error_code"]["37"] == "INVALID_PARTITIONS"
    assert data["folders"][0] == f"../results/{ODD}/n-03"
    assert data["folders"][1:] == ["../results/n-03"] * 2


def spoil(path: Path, line: int, change: object) -> None:
    """Change one line of a file (a dict), or replace it (bytes)."""
    lines = path.read_bytes().splitlines(keepends=True)
    if isinstance(change, dict):
        lines[line - 1] = json.dumps(json.loads(lines[line - 1]) | change).encode() + b"\n"
    else:
        lines[line - 1] = change
    path.write_bytes(b"".join(lines))


SPOILED = [
    ("n-01/reference@2.8", 3, b'{"row": "case", "cla\n', "not JSON"),
    ("n-02/reference@2.8", 4, {"verdict": "FINE"}, "no such verdict: 'FINE'"),
    ("n-03/reference@2.8", 4, {"verdict": "BROKEN"}, "the footer counts"),
    ("n-01/reference@3.9", 4, {"version": "nine"}, "Spark reads other rows"),
    ("n-02/reference@3.9", 4, {"target": "reference@2.8"},
     "a row of 'reference@2.8' in a file of 'reference@3.9'"),
]  # fmt: skip
# What no footer shows is looked for in files that are right so far.
TWICE = [
    ("n-02/reference@2.8", 3, {"case": "topics.refused[v0]", "verdict": "DIVERGES"},
     "stands on line 2"),
]  # fmt: skip


@pytest.mark.parametrize("spoiled", [SPOILED, TWICE], ids=["lines", "a case twice"])
def test_files_wrong_between_their_ends_are_refused_and_nothing_is_published(
    tmp_path: Path, spoiled: list[tuple[str, int, object, str]]
) -> None:
    golden(results := tmp_path / "results")
    for name, line, change, _ in spoiled:
        spoil(results / f"{name}.jsonl", line, change)
    with pytest.raises(report.Refused) as refused:
        written(results, tmp_path / "out")
    found = {defect.path: defect.reason for defect in refused.value.defects}
    assert len(found) == len(refused.value.defects) == len(spoiled)
    for name, *_, reason in spoiled:
        assert reason in found[results / f"{name}.jsonl"]
    assert list((tmp_path / "out").iterdir()) == []


LONG, MANY, BUDGET = 1_500, 500, DETAIL_BYTES * 3 // 8  # numbers of an answer; cases; bytes


@pytest.fixture(scope="module")
def odd_report(tmp_path_factory: pytest.TempPathFactory, spark_here: None) -> tuple[Path, dict]:
    """A run that was cut, one without cases, and two whose cases differ in 15 kB each, or in less:
    the folder of the report, whose page has a smaller budget, and its summary.
    """
    folder = tmp_path_factory.mktemp("odd")
    results, run = folder / "results", "n-01"
    made.write(results, made.result_lines(run, "reference@2.8", {"topics.refused[v0]": "C"})[:-1])
    made.results(results, run, "reference@3.9", {})
    cases = {f"topics.refused[v{number}]": "D" for number in range(MANY)}
    lines = made.result_lines(run, "reference@4.3", cases | {"topics.z[v0]": "B"})
    for number, line in enumerate(lines):
        if line.get("differences"):
            long = f"{number:04} " * LONG
            line["differences"] = [made.DIFFERENCE | {"oracle": long, "target": long[::-1]}]
    made.write(results, lines)
    made.results(results, run, "reference@4.2", dict.fromkeys(cases, "D"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(summary, "EXPLAINED", MANY - 100)
        patch.setattr(page, "DETAIL_BYTES", BUDGET)
        return folder / "out", written(results, folder / "out", allow_incomplete=True)


def test_incomplete_runs_are_never_green_even_when_allowed(odd_report: tuple[Path, dict]) -> None:
    dead, empty = odd_report[1]["targets"][:2]
    assert (empty["cases"], empty["status"]) == (0, "incomplete")
    assert (dead["conforms"], dead["status"]) == (1, "incomplete")
    assert dead["incomplete"].startswith("cut after 1 of 1 cases (no footer")
    assert (
        "INCOMPLETE: cut after 1 of 1 cases (no footer"
        in (odd_report[0] / "summary.md").read_text()
    )


def test_evidence_beyond_the_budget_is_left_out_and_counted(odd_report: tuple[Path, dict]) -> None:
    """The page stays small, keeps the worst, and says so."""
    out, found = odd_report
    left = [{"target": name, "cases": 100} for name in ("reference@4.2", "reference@4.3")]
    assert found["unexplained"] == left
    assert {row["target"] for row in found["causes"]} == {"reference@4.2", "reference@4.3"}
    text = (out / "summary.md").read_text(encoding="utf-8")
    assert "reference@4.3: causes of 100 cases more were not looked for" in text
    data = embedded(out / "index.html")
    assert (out / "index.html").stat().st_size < 2 * BUDGET
    assert data["left_out"] > 400
    assert data["left_out"] + sum(map(len, data["details"])) == 2 * MANY + 1
    assert "because B of topics.z[v0]" in data["strings"]
    assert any("characters; see tables/differences" in text for text in data["strings"])


def test_a_hostile_answer_stays_text(made_report: tuple[Path, dict]) -> None:
    page = made_report[0] / "out" / "index.html"
    assert page.read_text(encoding="utf-8").count("</script>") == 2
    assert shown.line(EVIL) in embedded(page)["strings"]


def test_a_second_report_has_the_same_bytes_and_leaves_nothing_else(
    made_report: tuple[Path, dict], tmp_path: Path
) -> None:
    """In a process of its own, over the first one's output, from an empty working directory."""
    first = {name: (made_report[0] / "out" / name).read_bytes() for name in PRODUCTS}
    shutil.copytree(made_report[0], tmp_path / "copy")
    work = tmp_path / "work"
    work.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "touchstone", "report", "../copy/results", "--out", "../copy/out"],
        cwd=work,
        capture_output=True,
        text=True,
        check=False,
        timeout=HANGS_S,
    )
    assert done.returncode == cli.WRITTEN, done.stderr
    assert all(line.startswith("touchstone report: ") for line in done.stderr.splitlines())
    out = tmp_path / "copy" / "out"
    assert {name: (out / name).read_bytes() for name in PRODUCTS} == first
    assert sorted(path.name for path in out.iterdir()) == sorted([*PRODUCTS, "tables"])
    assert list(work.iterdir()) == []


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("overview", "0 of 3 targets conform"),
        ("differences", "topics.accepted[v0]"),
        ("claims", "The sentence of fetch.whole."),
        ("apis", "CreateTopics"),
        ("overview", "1 of 2 caught by the suites"),
        ("changes", "vanished"),
        ("stability", "Flaky cases"),
        ("runs", "n-01"),
        ("case/reference%402.8/topics.accepted%5Bv0%5D", "bad CRC"),
    ],
)
def test_every_view_draws_itself(
    made_report: tuple[Path, dict], tmp_path: Path, place: str, expected: str
) -> None:
    assert expected in drawn(made_report[0] / "out" / "index.html", tmp_path, place)
