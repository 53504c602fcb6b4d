"""Commands that we print run as printed: whole words, from any folder, from a wheel too."""

from __future__ import annotations

import dataclasses
import shlex

import click
import pytest
from click.testing import CliRunner

from touchstone.harness.__main__ import main
from touchstone.harness.cli import sim
from touchstone.harness.judgement import card, wording
from touchstone.harness.results import jsonl
from touchstone.harness.tests.results import runs
from touchstone.harness.tests.test_cli import a_bundle
from touchstone.plugin import OPTIONS, asks_for_suites


def understood(line):
    """The words of a printed line, which its command accepts as far as its options go."""
    words = shlex.split(line)
    if words[0] == "pytest":
        assert {word for word in words if word.startswith("--")} <= {
            "--pyargs", *(f"--{name}" for name in OPTIONS),
        }  # fmt: skip
        return words
    command = main.get_command(click.Context(main), words[1])
    command.make_context(words[1], words[2:])
    return words


@pytest.fixture
def results(tmp_path):
    path = tmp_path / "a run" / "kfake.jsonl"
    with jsonl.Writer(path, runs.head()) as writer:
        for row in runs.rows():
            writer.case(row | {"known": None})
        writer.finish(finished="2026-11-21T00:01:00+00:00", exit_code=1)
    return path


def test_what_pin_prints_finds_the_suites_and_the_file_anywhere(results, tmp_path):
    out = tmp_path / "my pins.toml"
    done = CliRunner().invoke(main, ["pin", str(results), "--out", str(out)])
    words = understood(done.stderr.split("cases: ")[1])
    assert asks_for_suites(words[1:], tmp_path), "in a folder that is no checkout"
    assert words[-2:] == ["--expectations", str(out)]


def test_a_card_replays_on_what_the_run_was_told(tmp_path):
    file = tmp_path / "it's here.bundle.json"
    file.touch()
    again = shlex.join(["pytest", "x", "--target", "my broker.toml"])
    made = card.of_bundle(dataclasses.replace(a_bundle(), again=again), str(file))
    words = understood(made.replay)
    assert words == ["touchstone", "replay", str(file), "--target", "my broker.toml"]
    (row, *_) = (one for one in runs.rows() if one["verdict"] == "DIVERGES")
    words = understood(card.of_row(row, runs.head(), str(file)).replay)
    assert words[3:] == ["--target", "kfake.toml"], "a file, where the name alone may be nobody's"


def test_nobody_is_told_to_replay_what_is_no_file_or_a_clients_case():
    assert wording.replay(None, [], "kfake") == ""
    assert wording.replay("a.json", ["--client", "java", "--target", "reference"], "x") == ""


def test_a_seed_of_sim_is_played_again_by_the_line_that_names_it():
    command = main.get_command(click.Context(main), "sim")
    asked = ["--release", "4.3", "--fault", "kill", "--seconds", "7"]
    with command.make_context("sim", asked) as context:
        again = sim._again(context)
    words = understood(f"{again} 12")
    assert words == ["touchstone", "sim", *(words[2:-2]), "--seed", "12"]
    assert {*asked} <= {*words}
