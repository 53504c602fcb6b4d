"""A run whose disk fills up, or becomes read-only, is incomplete and tells what was judged."""

from __future__ import annotations

import errno

import pytest
from click.testing import CliRunner

from touchstone.harness.__main__ import main
from touchstone.harness.judgement import bundle
from touchstone.harness.results import jsonl, junit, run_folder
from touchstone.harness.tests.test_plugin import kafka, liar, patience, suite

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow
__all__ = ["kafka", "liar", "patience", "suite"]  # fixtures


def filled(monkeypatch, where, name, number=errno.ENOSPC, after=0):
    """From its call number `after` on, this function finds no room."""
    whole, calls = getattr(where, name), []

    def write(*arguments, **more):
        calls.append(name)
        if len(calls) > after:
            raise OSError(number, "it takes no more")
        return whole(*arguments, **more)

    monkeypatch.setattr(where, name, write)


LINE = "results cannot be written any more: it takes no more"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
@pytest.mark.parametrize(
    ("where", "name", "after"),
    [
        (jsonl.Writer, "case", 2),  # the third row
        (bundle, "write", 0),  # of the first difference
        (run_folder, "write", 0),  # what is written last
    ],
)
def test_a_run_ends_as_incomplete_with_what_was_judged(
    suite, liar, kafka, monkeypatch, number, where, name, after
):
    filled(monkeypatch, where, name, number, after)
    done = suite("--target", liar, "--oracle", kafka)
    text = done.stdout.str()
    assert done.ret == 3 and "INTERNALERROR" not in text
    assert text.splitlines().count(LINE) == 1
    assert "of 6 cases judged" in text and "1 cause" in text
    assert "exit 3: incomplete" in text


def test_a_run_that_cannot_begin_its_files_does_not_begin(suite, kafka, monkeypatch):
    filled(monkeypatch, jsonl.Writer, "__init__")
    done = suite("--target", kafka, "--oracle", kafka)
    assert done.ret == 3 and LINE in done.stdout.str()
    assert "INTERNALERROR" not in done.stdout.str()


def parts_of(suite, kafka):
    for shard in ("1/2", "2/2"):
        assert suite("--target", kafka, "--oracle", kafka, "--run", "r", "--shard", shard).ret == 0
    return suite.path / "out" / "r"


def join(folder):
    return CliRunner().invoke(main, ["join", str(folder)])


@pytest.mark.parametrize(
    ("where", "name"), [(jsonl.Writer, "finish"), (junit, "write"), (run_folder, "write")]
)
def test_parts_stay_parts_until_their_whole_is_written(suite, kafka, monkeypatch, where, name):
    folder = parts_of(suite, kafka)
    with monkeypatch.context() as patched:
        filled(patched, where, name)
        done = join(folder)
    assert (
        done.exit_code == 3 and done.stderr == "touchstone join: cannot write: it takes no more\n"
    )
    if where is not run_folder:
        assert {path.name.split(".part-")[-1] for path in folder.iterdir()} == {
            "1-of-2.jsonl", "2-of-2.jsonl", "1-of-2.manifest.json", "2-of-2.manifest.json",
        }  # fmt: skip
        assert join(folder).exit_code == 0


def test_parts_beside_a_whole_of_their_name_are_refused(suite, kafka):
    folder = parts_of(suite, kafka)
    (part, *_) = folder.glob("*.part-1-of-2.jsonl")
    whole = folder / f"{part.name.partition('.part-')[0]}.jsonl"
    whole.write_text("somebody's")
    done = join(folder)
    assert done.exit_code == 3 and "is there already, beside its parts" in done.stderr
    assert whole.read_text() == "somebody's" and part.exists()
