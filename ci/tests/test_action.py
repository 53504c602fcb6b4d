"""The script behind the action, run as a runner runs it: exit codes, summary, outputs, pins."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
JUDGE = ROOT / "ci" / "action" / "judge"
SUITE = "suites/topics/test_create.py"
CLAIM = "test_validate_only_creates_nothing"  # which Kafka 2.8 and 4.3 answer differently
OTHER = ("--oracle", "recorded@2.8")


@pytest.fixture
def judge(tmp_path):
    """Runs the script on one claim; the exit code, and the folder of the run."""

    def run(*options, name="one", **environment):
        places = {"RESULTS": tmp_path / "results", "GITHUB_STEP_SUMMARY": tmp_path / "summary",
                  "GITHUB_OUTPUT": tmp_path / "output"}  # fmt: skip
        here = Path(sys.executable).parent
        env = os.environ | {
            "PATH": f"{here}:{os.environ['PATH']}", "TARGET": "reference@4.3", "SUITES": SUITE,
            "RUN": name,
        } | {key: str(value) for key, value in (places | environment).items()}  # fmt: skip
        done = subprocess.run(
            [JUDGE, "-q", "--newest", "-k", CLAIM, *options], cwd=ROOT, env=env,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, tmp_path / "results" / name, done.stdout + done.stderr

    return run


@pytest.mark.slow
def test_a_target_that_conforms_is_green(judge, tmp_path):
    code, folder, told = judge()
    assert code == 0, told
    assert "no new difference" in (tmp_path / "summary").read_text()
    assert (tmp_path / "output").read_text() == (
        f"code=0\nfolder={folder}\nbadge={folder}/badge.svg\n"
    )
    assert "1 of 1 conform" in (folder / "badge.svg").read_text()
    assert ": verified: 1 case of 1 target" in told


@pytest.mark.slow
def test_a_new_cause_fails_and_one_that_is_pinned_does_not(judge, tmp_path):
    code, folder, told = judge(*OTHER)
    assert code == 1, told
    assert "1 cause" in (tmp_path / "summary").read_text()
    pins = tmp_path / "known.toml"
    command = [sys.executable, "-m", "touchstone", "pin", folder, "--out", pins]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    code, _, told = judge(*OTHER, name="two", PINS=pins)
    assert code == 0, told
    assert "code=0" in (tmp_path / "output").read_text()


@pytest.mark.slow
def test_what_cannot_be_judged_fails_unless_it_is_allowed(judge):
    nowhere = {"TARGET": "127.0.0.1:1"}
    code, _, told = judge(**nowhere)
    assert code == 3, told
    code, _, told = judge(name="two", ALLOW_INCOMPLETE="true", **nowhere)
    assert code == 0, told


def test_a_run_of_the_same_name_is_refused(judge, tmp_path):
    (tmp_path / "results" / "one").mkdir(parents=True)
    code, _, told = judge()
    assert code == 4 and "name another RUN" in told


def test_without_a_target_it_says_what_one_is(judge):
    code, _, told = judge(TARGET="")
    assert code != 0 and "HOST:PORT" in told
