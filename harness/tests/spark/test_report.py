"""The whole way on golden rows: three nights, three targets, every kind of verdict and change."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import report as cli
from harness.spark import inputs, report
from harness.tests.spark import made

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.usefixtures("spark_here")]

# case -> its code on night 1, 2, 3 ("." for not in that run); commits are a, a, b
HISTORY = {
    "reference@2.8": {
        "topics.refused[v0]": "CCC",
        "topics.refused[v1]": "CDC",  # flips at an unchanged commit, and back
        "topics.accepted[v0]": "CCD",  # regressed by the new commit
        "produce.acked[v0]": "DDC",  # fixed
        "produce.acked[v1]": "UUU",
        "fetch.empty[v0]": "C.C",
        "fetch.whole[v0]": "..C",  # new
        "fetch.old[v0]": "CC.",  # vanished
    },
    "reference@3.9": {
        "topics.refused[v0]": "CCD",
        "topics.refused[v1]": "CCC",
        "topics.accepted[v0]": "CCK",
        "produce.acked[v0]": "BBB",
        "produce.acked[v1]": "CCC",
        "fetch.empty[v0]": "III",
    },
    "127.0.0.1:9092": {"topics.refused[v0]": "..C", "topics.refused[v1]": "..C"},
}
COMMITS = ("a" * 40, "a" * 40, "b" * 40)


def golden(folder: Path) -> Path:
    for target, cases in HISTORY.items():
        for night, commit in enumerate(COMMITS):
            tonight = {case: codes[night] for case, codes in cases.items() if codes[night] != "."}
            if tonight:
                made.results(folder, f"n-{night + 1:02}", target, tonight, commit=commit)
    return folder


def written(results: Path, out: Path, **options: object) -> dict:
    files = [inputs.edges(path) for path in inputs.find([str(results)])]
    said: list[str] = []
    return report.write(files, out, say=said.append, **options)


@pytest.fixture(scope="module")
def made_report(tmp_path_factory: pytest.TempPathFactory, spark_here: None) -> tuple[Path, dict]:
    folder = tmp_path_factory.mktemp("golden")
    found = written(golden(folder / "results"), folder / "out", names={"error_code": {37: "X"}})
    return folder, found


def rows_of(found: dict, name: str, *fields: str) -> list[tuple]:
    return [tuple(row[field] for field in fields) for row in found[name]]


def test_totals_are_those_of_the_newest_runs(made_report: tuple[Path, dict]) -> None:
    names = ("target", "cases", "conforms", "known", "diverges", "inconclusive", "unsupported")
    assert rows_of(made_report[1], "targets", *names, "broken", "status", "runs") == [
        ("127.0.0.1:9092", 2, 2, 0, 0, 0, 0, 0, "conforms", 1),
        ("reference@2.8", 7, 5, 0, 1, 0, 1, 0, "diverges", 3),
        ("reference@3.9", 6, 2, 1, 1, 1, 0, 1, "broken", 3),
    ]
    assert (made_report[1]["rows"], made_report[1]["files"]) == (40, 7)
    assert made_report[1]["status"] == "broken"


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
        ("topics", "127.0.0.1:9092", None, 2, 2),
        ("topics", "reference", "2.8", 3, 2),
        ("topics", "reference", "3.9", 3, 1),
    ]


def test_apis_by_version(made_report: tuple[Path, dict]) -> None:
    names = ("api", "version", "target", "cases", "conforms")
    assert rows_of(made_report[1], "apis", *names)[:2] == [
        ("CreateTopics", 0, "127.0.0.1:9092", 1, 1),
        ("CreateTopics", 0, "reference@2.8", 5, 4),
    ]


def test_changes_since_the_run_before(made_report: tuple[Path, dict]) -> None:
    assert rows_of(made_report[1], "changes", "target", "kind", "cases") == [
        ("reference@2.8", "fixed", 2),
        ("reference@2.8", "new", 2),
        ("reference@2.8", "regressed", 1),
        ("reference@2.8", "vanished", 1),
        ("reference@3.9", "changed", 1),
        ("reference@3.9", "regressed", 1),
    ]


def test_changes_between_neighbouring_releases(made_report: tuple[Path, dict]) -> None:
    assert rows_of(made_report[1], "releases", "older", "newer", "kind", "cases") == [
        ("reference@2.8", "reference@3.9", "changed", 1),
        ("reference@2.8", "reference@3.9", "fixed", 1),
        ("reference@2.8", "reference@3.9", "regressed", 3),
    ]


def test_a_flake_moved_without_a_reason(made_report: tuple[Path, dict]) -> None:
    names = ("target", "case", "track", "changes", "unexplained", "flake_rate")
    assert rows_of(made_report[1], "flaky", *names) == [
        ("reference@2.8", "topics.refused[v1]", "CDC", 2, 1, 1.0),
    ]


def test_reasons_are_counted(made_report: tuple[Path, dict]) -> None:
    reasons = rows_of(made_report[1], "reasons", "target", "verdict", "reason", "cases")
    assert ("reference@2.8", "UNSUPPORTED", "because U", 1) in reasons
    assert ("reference@3.9", "INCONCLUSIVE", "because I", 1) in reasons


def test_the_tables_are_parquet_and_verdicts_lie_by_run(made_report: tuple[Path, dict]) -> None:
    tables = made_report[0] / "out" / "tables"
    assert sorted(path.name for path in (tables / "verdicts").glob("run=*")) == [
        "run=n-01",
        "run=n-02",
        "run=n-03",
    ]
    names = "api_version changes claim_target differences findings history releases runs"
    names += " suite_release trend verdicts"
    assert sorted(path.name for path in tables.iterdir()) == names.split()


def test_answers_keep_their_json_type(made_report: tuple[Path, dict]) -> None:
    data = embedded(made_report[0] / "out" / "index.html")
    step, path, oracle, target = (data["strings"][n] for n in data["differences"][0])
    assert (step, path, oracle, target) == ("create", "topics[0].error_code", "37", '"37"')


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
    assert data["names"] == {"error_code": {"37": "X"}}
    assert data["folders"] == ["../results/n-03"] * 3


def test_a_second_report_on_the_same_input_has_the_same_bytes(
    made_report: tuple[Path, dict],
) -> None:
    folder, _ = made_report
    names = ("index.html", "summary.json", "summary.md")
    first = {name: (folder / "out" / name).read_bytes() for name in names}
    written(folder / "results", folder / "out", names={"error_code": {37: "X"}})
    assert {name: (folder / "out" / name).read_bytes() for name in names} == first
    assert sorted(path.name for path in (folder / "out").iterdir()) == sorted([*names, "tables"])


def spoiled(folder: Path, line: int, change: object) -> Path:
    """Golden results with one line of one file changed (a dict) or replaced (bytes)."""
    golden(folder)
    path = folder / "n-02" / "reference@2.8.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    if isinstance(change, dict):
        lines[line - 1] = json.dumps(json.loads(lines[line - 1]) | change).encode() + b"\n"
    else:
        lines[line - 1] = change
    path.write_bytes(b"".join(lines))
    return path


@pytest.mark.parametrize(
    ("line", "change", "reason"),
    [
        (3, b'{"row": "case", "cla\n', "not JSON"),
        (4, {"verdict": "FINE"}, "no such verdict: 'FINE'"),
        (4, {"verdict": "BROKEN"}, "the footer counts"),
        (4, {"version": "nine"}, "Spark reads other rows"),
        (4, {"target": "reference@3.9"}, "a row of 'reference@3.9' in a file of 'reference@2.8'"),
        (3, {"case": "topics.refused[v0]", "verdict": "DIVERGES"}, "stands on line 2"),
    ],
)
def test_a_file_wrong_between_its_ends_is_refused_and_nothing_is_published(
    tmp_path: Path, line: int, change: object, reason: str
) -> None:
    path = spoiled(tmp_path / "results", line, change)
    with pytest.raises(report.Refused) as refused:
        written(tmp_path / "results", tmp_path / "out")
    [defect] = refused.value.defects
    assert defect.path == path
    assert reason in defect.reason
    assert list((tmp_path / "out").iterdir()) == []


def test_an_allowed_incomplete_run_is_never_green(tmp_path: Path) -> None:
    lines = made.result_lines("n-01", "reference@4.3", {"topics.refused[v0]": "C"})
    made.write(tmp_path / "results", lines[:-1])
    found = written(tmp_path / "results", tmp_path / "out", allow_incomplete=True)
    [target] = found["targets"]
    assert (target["conforms"], target["status"]) == (1, "incomplete")
    assert target["incomplete"].startswith("incomplete: no footer")
    assert "INCOMPLETE" in (tmp_path / "out" / "summary.md").read_text()


def test_a_run_in_which_nothing_was_judged_is_incomplete(tmp_path: Path) -> None:
    made.results(tmp_path / "results", "n-01", "reference@4.3", {})
    found = written(tmp_path / "results", tmp_path / "out")
    assert found["targets"][0]["status"] == "incomplete"


def test_a_hostile_answer_stays_text(tmp_path: Path) -> None:
    evil = "</script><script>document.title='owned'</script><!--\u2028"
    row = made.case_row("topics.refused[v0]", "D", "reference@4.3")
    row["differences"] = [{"step": evil, "path": evil, "oracle": {evil: 1}, "target": evil}]
    lines = made.result_lines("n-01", "reference@4.3", {"topics.refused[v0]": "D"})
    lines[1] = row
    made.write(tmp_path / "results", lines)
    written(tmp_path / "results", tmp_path / "out")
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert page.count("</script>") == 2
    assert evil in embedded(tmp_path / "out" / "index.html")["strings"]


def test_names_that_hadoop_cannot_read_are_read(tmp_path: Path) -> None:
    made.results(tmp_path / "a b[1]{x}*%20é", "n-01", "[::1]:9092", {"topics.refused[v0]": "C"})
    found = written(tmp_path, tmp_path / "out")
    assert [(t["target"], t["status"]) for t in found["targets"]] == [("[::1]:9092", "conforms")]


def test_the_command_leaves_nothing_in_the_working_directory(tmp_path: Path) -> None:
    golden(tmp_path / "results")
    work = tmp_path / "work"
    work.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "harness", "report", "../results", "--out", "../out"],
        cwd=work,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == cli.WRITTEN, done.stderr
    assert all(line.startswith("touchstone report: ") for line in done.stderr.splitlines())
    assert list(work.iterdir()) == []


def browser() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("overview", "1 of 3 targets conforms"),
        ("differences", "topics.accepted[v0]"),
        ("claims", "The sentence of fetch.whole."),
        ("apis", "CreateTopics"),
        ("changes", "vanished"),
        ("stability", "Flaky cases"),
        ("runs", "n-01"),
        ("case/reference%402.8/topics.accepted%5Bv0%5D", "bad CRC"),
    ],
)
def test_every_view_draws_itself(
    made_report: tuple[Path, dict], tmp_path: Path, place: str, expected: str
) -> None:
    chromium = browser()
    if chromium is None:
        pytest.skip("not run: no Chromium")
    flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync"
    flags += " --disable-background-networking --disable-component-update --dump-dom"
    done = subprocess.run(
        [chromium, *flags.split(), "--enable-logging=stderr", f"--user-data-dir={tmp_path}"]
        + ["--virtual-time-budget=3000", f"file://{made_report[0]}/out/index.html#{place}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "CONSOLE" not in done.stderr, done.stderr
    body = done.stdout.split("<noscript>")[0]
    assert expected in body
