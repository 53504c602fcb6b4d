"""`touchstone pin` and `touchstone compare`: what they make of result files, and of others."""

from __future__ import annotations

import datetime
import tomllib

import pytest
from click.testing import CliRunner

from touchstone.harness import known
from touchstone.harness.__main__ import main
from touchstone.harness.results import jsonl
from touchstone.harness.tests.results import runs


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def results(tmp_path):
    path = tmp_path / "run" / "kfake.jsonl"
    with jsonl.Writer(path, runs.head()) as writer:
        for row in runs.rows():
            writer.case(row | {"known": None})
        writer.finish(finished="2026-11-21T00:01:00+00:00", exit_code=1)
    return path


def test_pins_of_a_run_make_it_expected(results, tmp_path):
    out = tmp_path / "pins.toml"
    done = run("pin", results.parent, "--out", out, "--reason", "seen by a person")
    assert done.exit_code == 0 and "3 pins for 4 cases" in done.output
    pins = known.load([out])
    assert {pin.reason for pin in pins} == {"seen by a person"}
    found = jsonl.read(results)
    day = datetime.date(2026, 11, 21)
    assert known.surprises(found.cases, pins, day) == []
    before = out.read_text()
    assert run("pin", results, "--out", out).exit_code == 0
    assert out.read_text() == before, "what still holds stays as it is, with its reason"


def test_pins_are_shown_without_a_file(results):
    text = CliRunner().invoke(main, ["pin", str(results)]).stdout
    assert tomllib.loads(text)["known"][0]["reason"] == "not reviewed"


def test_targets_are_compared(results, tmp_path):
    done = run("compare", results, "--out", tmp_path / "out")
    assert done.exit_code == 0 and "## By cause" in done.output
    assert "<table>" in (tmp_path / "out" / "compare.html").read_text()
    assert "kfake@0.1" in (tmp_path / "out" / "compare.md").read_text()


@pytest.mark.parametrize("command", ["pin", "compare"])
@pytest.mark.parametrize("keep", [0.5, 0.0])
def test_a_cut_file_is_refused_in_one_line(results, command, keep):
    data = results.read_bytes()
    results.write_bytes(data[: int(len(data) * keep)])
    done = run(command, results)
    assert done.exit_code == 3 and done.output.count("\n") == 1
    assert "kfake.jsonl:" in done.output and "incomplete" in done.output


@pytest.mark.parametrize("command", ["pin", "compare"])
@pytest.mark.parametrize("text", ["\x00\x01", "{}", "[1]\n", '{"row": "header", "schema": 1}\n'])
def test_what_is_no_result_file_is_refused_in_one_line(tmp_path, command, text):
    path = tmp_path / "other.jsonl"
    path.write_text(text)
    done = run(command, path)
    assert done.exit_code == 3 and done.output.count("\n") == 1 and "other.jsonl" in done.output
    assert run(command, tmp_path / "nowhere").exit_code == 4


def test_a_file_of_pins_that_is_none_is_refused_and_kept(results, tmp_path):
    out = tmp_path / "pins.toml"
    out.write_text("[[known]]\n")
    done = run("pin", results, "--out", out)
    assert done.exit_code == 4 and "no id" in done.output and out.read_text() == "[[known]]\n"
