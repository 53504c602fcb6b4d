"""What errors come to: one table, one place that catches, and disks that take no more."""

from __future__ import annotations

import errno
import importlib
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from touchstone.harness import exits
from touchstone.harness.__main__ import main
from touchstone.harness.cli import profile
from touchstone.harness.results import jsonl
from touchstone.harness.tests.results import runs
from touchstone.harness.writable import why_not, write_whole


@pytest.mark.parametrize("name", exits.ERRORS)
def test_every_name_of_the_table_is_an_error(name):
    module, _, attribute = name.rpartition(".")
    assert issubclass(getattr(importlib.import_module(module), attribute), Exception)


def test_the_codes_are_those_that_readme_names():
    text = " ".join((Path(__file__).parents[3] / "README.md").read_text().split())
    assert (
        "exit code is 0 when all that was in scope conforms, 1 for a new difference, 2 when "
        "Touchstone broke, 3 when something could not be judged, 4 when the command or a target "
        "file is wrong" in text
    )
    assert list(exits.EXITS) == [0, 1, 2, 3, 4]


def raising(monkeypatch, error):
    """What `touchstone profile` comes to where this is raised in it."""

    def fail(*_):
        raise error

    monkeypatch.setattr(profile, "heading", fail)
    return CliRunner().invoke(main, ["profile", "limits"])


def test_what_nobody_expects_is_our_defect_and_no_difference(monkeypatch):
    done = raising(monkeypatch, ZeroDivisionError("of ours"))
    assert done.exit_code == exits.BROKE and "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1] == (
        "touchstone profile: this is a defect of Touchstone itself (exit 2)"
    )


@pytest.mark.parametrize("number", sorted(exits.STORAGE))
def test_a_disk_that_takes_no_more_is_incomplete(monkeypatch, number):
    done = raising(monkeypatch, OSError(exits.STORAGE[number], "it takes no more", "results"))
    assert done.exit_code == exits.INCOMPLETE
    assert done.stderr == "touchstone profile: results: it takes no more\n"


def test_ctrl_c_is_incomplete(monkeypatch):
    done = raising(monkeypatch, KeyboardInterrupt())
    assert done.exit_code == exits.INCOMPLETE and "touchstone profile: interrupted" in done.stderr


def test_a_file_that_is_missing_is_ours_unless_a_command_says_otherwise(monkeypatch):
    done = raising(monkeypatch, FileNotFoundError(errno.ENOENT, "no such file", "ours.toml"))
    assert done.exit_code == exits.BROKE


def test_a_wrong_option_of_the_group_is_refused():
    assert CliRunner().invoke(main, ["--nosuch"]).exit_code == exits.REFUSED


def touchstone(*words, stdout):
    return subprocess.run(
        [sys.executable, "-m", "touchstone", *words], stdout=stdout, stderr=subprocess.PIPE,
        text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a full device")
def test_output_that_a_full_disk_does_not_take():
    with open("/dev/full", "w") as full:
        done = touchstone("profile", "limits", stdout=full)
    assert done.returncode == exits.INCOMPLETE
    assert done.stderr == "touchstone profile: cannot write: No space left on device\n"


@pytest.mark.slow
def test_output_that_nobody_reads_any_more():
    program = [sys.executable, "-m", "touchstone", "profile", "limits"]
    with subprocess.Popen(
        program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as done:
        done.stdout.close()
        assert done.stderr.read() == ""
    assert done.returncode == exits.INCOMPLETE


# what is written


def test_where_something_can_be_written(tmp_path):
    file = tmp_path / "file"
    file.write_text("kept")
    assert why_not(tmp_path / "new" / "deep", folder=True) is None
    assert why_not(tmp_path / "new.json", folder=False) is None
    assert why_not(file, folder=False) is None
    assert why_not(file, folder=True) == "it is a file"
    assert why_not(tmp_path, folder=False) == "it is a folder"
    assert why_not(file / "x", folder=True) == f"{file} is a file"
    assert why_not(Path("/proc/nosuch/x"), folder=True)
    assert [path.name for path in tmp_path.iterdir()] == ["file"] and file.read_text() == "kept"


def full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_file_is_written_whole_or_stays_as_it_was(tmp_path, monkeypatch):
    pins = tmp_path / "pins.toml"
    write_whole(pins, "one")
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(pins, "two")
    assert pins.read_text() == "one" and list(tmp_path.iterdir()) == [pins]


class Cramped:
    """A file on a disk that takes half of what it is given, and then nothing."""

    def __init__(self, file):
        self.file, self.left = file, 1

    def write(self, data):
        if not self.left:
            full()
        self.left = 0
        return self.file.write(data[: len(data) // 2])

    def __getattr__(self, name):
        return getattr(self.file, name)


def test_half_a_row_is_no_row(tmp_path):
    first, second, *_ = runs.rows()
    with jsonl.Writer(tmp_path / "kfake.jsonl", runs.head()) as writer:
        writer.case(first)
        writer._file = Cramped(writer._file)
        with pytest.raises(OSError, match="No space left"):
            writer.case(second)
    found = jsonl.read(writer.path, incomplete=True)
    assert [row["case"] for row in found.cases] == [first["case"]]
    assert writer.path.read_bytes().endswith(b"\n")


def test_options_are_of_kinds_that_this_module_checks():
    """A new option for seconds or an output has to have a kind that refuses what cannot be."""
    loose = []
    for name in main.list_commands(click.Context(main)):
        for one in main.get_command(click.Context(main), name).params:
            number = one.type in (click.FLOAT, click.INT) and one.name not in FREE
            path = type(one.type) is click.Path and not one.type.exists
            loose += [f"{name} {one.opts[0]}"] if number or path else []
    assert loose == []


FREE = {"seed"}  # any number will do
