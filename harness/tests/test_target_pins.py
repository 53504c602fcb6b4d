"""The pins of a target file hold in every run of its target: one process, several, another lie."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from touchstone.harness.known import BadPin, of_target
from touchstone.harness.run import tally
from touchstone.harness.targets import UnknownTarget

ROOT = Path(__file__).resolve().parents[2]
CASES = ("suites/topics/test_refusals.py", "--newest", "-k", "bad_configs or names")
PINS = "mine.pins.toml"
FILE = """
name = "mine"
about = "The reference broker with a planted defect"
version = "1"
{more}
[start]
command = ["{{python}}", "-m", "touchstone", "broker", "--port", "{{port}}", {switch}]
per = "cluster"
environment = {{PYTHONPATH = "{root}"}}
"""
DEFECT = '"--switch", "configs-not-validated"'
ANOTHER = '"--switch", "validate-only-creates"'


def written(folder, *, switch=DEFECT, pins=False):
    """The target file of a broker with these switches."""
    path = folder / "mine.toml"
    more = f'pins = "{PINS}"' if pins else ""
    path.write_text(FILE.format(more=more, switch=switch, root=ROOT))
    return path


def judged(file, folder, *arguments):
    return subprocess.run(
        [
            sys.executable, "-m", "pytest", *CASES, "--target", str(file),
            "--results", str(folder), "-p", "no:allure_pytest", *arguments,
        ],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


def command(*words):
    return subprocess.run(
        [sys.executable, "-m", "touchstone", *map(str, words)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def pinned(tmp_path_factory):
    """A folder with the pins that `touchstone pin` wrote of a run of the broker with its defect."""
    folder = tmp_path_factory.mktemp("pinned")
    first = judged(written(folder), folder, "--run", "first")
    assert first.returncode == tally.DIFFERENT, first.stdout
    done = command("pin", folder / "first", "--out", folder / PINS, "--reason", "seen by a person")
    assert done.returncode == 0 and "1 pin for 1 case" in done.stderr, done.stderr
    return folder


@pytest.mark.slow
def test_what_the_file_pins_is_known(pinned):
    done = judged(written(pinned, pins=True), pinned)
    assert done.returncode == tally.CONFORMED, done.stdout
    assert "known: mine/CreateTopics.topics.error_code:40,0" in done.stdout


@pytest.mark.slow
def test_known_ones_can_be_ignored(pinned):
    done = judged(written(pinned, pins=True), pinned, "--strict-known")
    assert done.returncode == tally.DIFFERENT and "1 case diverges" in done.stdout


@pytest.mark.slow
def test_a_pin_that_is_no_longer_true_fails(pinned):
    done = judged(written(pinned, pins=True, switch=ANOTHER), pinned)
    assert done.returncode == tally.DIFFERENT
    assert re.search(r"fixed: mine/CreateTopics.*bad-configs-are-refused", done.stdout)


@pytest.mark.slow
def test_the_parts_of_a_run_are_joined_under_the_pins_of_the_file(pinned):
    file = written(pinned, pins=True)
    for part in ("1/2", "2/2"):
        judged(file, pinned, "--run", "parts", "--shard", part)
    done = command("join", pinned / "parts")
    assert done.returncode == tally.CONFORMED, done.stdout + done.stderr


def test_a_target_without_a_file_has_no_pins():
    assert of_target("127.0.0.1:9092") == of_target("reference@4.3") == []


def test_a_file_without_pins_has_none(tmp_path):
    assert of_target(str(written(tmp_path))) == []


def test_a_pin_of_a_file_is_about_its_target(tmp_path):
    (tmp_path / PINS).write_text(
        '[[known]]\nid = "x"\ntarget = "yours"\nreason = "why"\nexpires = 2027-01-01\n'
        'claim = "topics.zero"\nsignature = "DIVERGES"\nissue = "4"\n'
    )
    with pytest.raises(BadPin, match=r"x is about target 'yours', and mine.toml describes 'mine'"):
        of_target(str(written(tmp_path, pins=True)))


def test_pins_that_are_not_there_are_a_wrong_key(tmp_path):
    with pytest.raises(UnknownTarget, match="pins: there is no "):
        of_target(str(written(tmp_path, pins=True)))
