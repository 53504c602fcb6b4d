"""The commands in the panel of a case run as they are printed, on a run that really was made."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from touchstone.checkout import ROOT
from touchstone.harness.cli.report import NAMES
from touchstone.harness.results import jsonl
from touchstone.harness.spark import inputs, report
from touchstone.harness.tests.spark.pages import HANGS_S, Tables, drawn

pytestmark = [
    pytest.mark.spark, pytest.mark.slow, pytest.mark.nightly, pytest.mark.usefixtures("spark_here"),
]  # fmt: skip
RUN = "-m pytest -q -p no:cacheprovider --newest --target reference@3.9 --oracle recorded@4.3"
DIFFERS = 1


@pytest.mark.timeout(2 * HANGS_S)
def test_commands_of_a_case_run_as_they_are_printed(tmp_path: Path) -> None:
    assert ROOT is not None
    asked = [sys.executable, *RUN.split(), "--results", str(tmp_path / "a run's"), "suites/topics"]
    subprocess.run(asked, cwd=ROOT, check=False, timeout=HANGS_S)
    files = [inputs.edges(path) for path in inputs.find([str(tmp_path / "a run's")])]
    report.write(files, tmp_path / "out", say=lambda line: None, names=NAMES)
    rows = jsonl.read(files[0].path).cases
    case = next(row["case"] for row in rows if row["verdict"] == "DIVERGES")
    place = f"case/{quote('reference@3.9')}/{quote(case, safe='')}"
    view = Tables(drawn(tmp_path / "out" / "index.html", tmp_path / "profile", place))
    commands = [line for line in view.commands if line.startswith(("pytest ", "touchstone "))]
    assert [shlex.split(line)[:2] for line in commands[1:]] == [
        ["touchstone", "replay"], ["touchstone", "diff"],
    ]  # fmt: skip
    bins = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for line in commands:
        done = subprocess.run(
            ["bash", "-c", line], cwd=ROOT, env={**os.environ, "PATH": bins},
            capture_output=True, text=True, check=False, timeout=HANGS_S,
        )  # fmt: skip
        assert done.returncode == DIFFERS, (line, done.stdout, done.stderr)
        assert case.split("[")[0] in done.stdout
