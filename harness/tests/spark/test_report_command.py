"""`touchstone report` where Spark is not asked: refusals, and machines without Java."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from touchstone.harness import exits
from touchstone.harness.__main__ import main
from touchstone.harness.cli import report
from touchstone.harness.tests.spark import made

AGAIN_S = 8.0  # a report that hears Ctrl-C ends within two
CASES = {"topics.refused[v0]": "C", "topics.refused[v1]": "D"}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["report", *map(str, arguments)])


@pytest.fixture
def no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))


@pytest.mark.usefixtures("no_java")
def test_without_java_the_table_is_printed_and_the_dashboard_loudly_not_run(tmp_path: Path) -> None:
    made.results(tmp_path / "r", "n-01", "reference@4.3", CASES)
    done = run(tmp_path / "r", "--out", tmp_path / "out")
    assert done.exit_code == report.NOT_RUN
    assert "DASHBOARD NOT RUN: no Java" in done.stderr
    assert "reference@4.3  recorded@4.3" in done.stdout
    assert "DIVERGES" in done.stdout
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("no_java")
def test_without_java_the_lines_between_the_ends_are_still_checked(tmp_path: Path) -> None:
    lines = made.result_lines("n-01", "reference@4.3", CASES)
    lines[1], lines[2] = lines[1], lines[1]
    path = made.write(tmp_path / "r", lines)
    done = run(tmp_path / "r", "--out", tmp_path / "out")
    assert done.exit_code == report.INCOMPLETE
    assert f"{path}:3: case 'topics.refused[v0]' stands on line 2" in done.stderr


def test_a_truncated_file_is_refused_with_its_name_and_line(tmp_path: Path) -> None:
    path = made.results(tmp_path, "n-01", "reference@4.3", CASES)
    path.write_bytes(path.read_bytes()[:-30])
    done = run(path, "--out", tmp_path / "out")
    assert done.exit_code == report.INCOMPLETE
    assert f"refused: {path}:4: incomplete: no footer (half a line)" in done.stderr
    assert "INCOMPLETE" in done.stdout
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("no_java")
def test_a_run_that_was_cut_counts_what_it_judged(tmp_path: Path) -> None:
    """A night ended by its budget: no footer, and half a row."""
    cases = {f"topics.refused[v{number}]": "CDU"[number % 3] for number in range(9)}
    path = made.write(tmp_path / "r", made.result_lines("n-01", "reference@4.3", cases)[:-1])
    path.write_bytes(path.read_bytes()[:-20])
    done = run(tmp_path / "r", "--out", tmp_path / "out", "--allow-incomplete")
    cells = done.stdout.splitlines()[1].split()
    assert cells[2:10] == ["8", "3", ".", "3", ".", "2", ".", "1"]
    assert "INCOMPLETE: cut after 8 of 9 cases (no footer (half a line))" in done.stdout


@pytest.mark.usefixtures("no_java")
def test_what_has_no_header_cannot_be_allowed(tmp_path: Path) -> None:
    path = tmp_path / "r" / "x.jsonl"
    path.parent.mkdir()
    path.write_bytes(b'{"row": "hea')
    done = run(path, "--out", tmp_path / "out", "--allow-incomplete")
    assert done.exit_code == report.INCOMPLETE
    assert f"{path}:1: no header: half a line" in done.stderr


def test_a_run_that_two_files_claim_is_refused(tmp_path: Path) -> None:
    made.results(tmp_path / "a", "n-01", "reference@4.3", CASES)
    made.results(tmp_path / "b", "n-01", "reference@4.3", CASES)
    done = run(tmp_path, "--out", tmp_path / "out")
    assert done.exit_code == report.INCOMPLETE
    assert "run 'n-01' of 'reference@4.3' is in" in done.stderr


def test_nothing_to_report_says_where_it_looked(tmp_path: Path) -> None:
    done = run(tmp_path / "none*", "--out", tmp_path / "out")
    assert done.exit_code == exits.REFUSED
    assert "none*: no such file or folder" in done.stderr


def test_a_long_list_of_refusals_is_cut_and_counted(tmp_path: Path) -> None:
    for night in range(report.LISTED + 3):
        made.results(tmp_path, f"n-{night:02}", "x@1", CASES).write_bytes(b"")
    done = run(tmp_path, "--out", tmp_path / "out")
    assert done.stderr.count("refused:") == report.LISTED
    assert "and 3 more" in done.stderr


def test_without_pyspark_the_command_still_imports_and_judges(tmp_path: Path) -> None:
    made.results(tmp_path / "r", "n-01", "reference@4.3", CASES)
    program = "import sys; sys.modules.update(pyspark=None, jinja2=None, py4j=None)\n"
    program += "from touchstone.harness.cli.report import command; command()"
    done = subprocess.run(
        [sys.executable, "-c", program, "r", "--out", "out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == report.NOT_RUN
    assert "DASHBOARD NOT RUN: no pyspark (the extra spark): pip install 'pyspark" in done.stderr
    assert "DIVERGES" in done.stdout


def hear_interrupts() -> None:
    """A shell has what it starts in the background, tests among it, ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def press_until_it_ends(report: subprocess.Popen[str]) -> None:
    """Ctrl-C, and again where it was lost: Python ignores what is raised in a finalizer, and py4j
    has one for each object.
    """
    while report.poll() is None:
        report.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            report.wait(AGAIN_S)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.usefixtures("spark_here")
def test_an_interrupted_report_says_so_in_one_line(tmp_path: Path) -> None:
    made.results(tmp_path / "r", "n-01", "reference@4.3", CASES)
    command = [sys.executable, "-m", "touchstone", "report", tmp_path / "r"]
    with subprocess.Popen(
        [*command, "--out", tmp_path / "out"], text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=hear_interrupts,
    ) as report:  # fmt: skip
        assert report.stderr is not None
        for line in report.stderr:
            if "checking" in line:  # Spark has started, and works
                break
        press_until_it_ends(report)
        said = report.stderr.read()
    assert report.returncode == exits.INCOMPLETE
    assert "Traceback" not in said
    assert said.splitlines()[-1] == "touchstone report: interrupted"
    assert not (tmp_path / "out" / "index.html").exists()
