"""Every command, with what users type wrongly: its exit code, one clear line, and no traceback."""

from __future__ import annotations

import json
import lzma
import shlex

import pytest
from click.testing import CliRunner

from touchstone.harness.__main__ import COMMANDS, main
from touchstone.harness.judgement import bundle
from touchstone.harness.model import transcript
from touchstone.harness.results import jsonl
from touchstone.harness.targets import released
from touchstone.harness.tests.doctor import golden
from touchstone.harness.tests.errors.bad_inputs import ROWS
from touchstone.harness.tests.results import runs
from touchstone.harness.tests.test_cli import a_bundle

pytest_plugins = ["pytester"]

PYTEST = "pytest"
LEAST = 10  # rows of each command
LINES = 8  # of stderr: click says how a command is used, then what is wrong
NOISE = b"\xff\xfe\0\x80 no text"
FULL = "/dev/full"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """What `{...}` in a row stands for."""
    made = tmp_path_factory.mktemp("bad")
    texts = {
        "empty": b"", "noise": NOISE, "json": b"{}", "list": b"[]", "text": b"some words\n",
        "escape": b"a=\\u12", "server": b"num.partitions=many\nnode.id=never\n",
        "half": b'{"row":"hea', "pins": b"[[known]]\n", "toml.toml": b"x = [",
        "bad.toml": b'name = "m"\nabout = "A"\nversion = "1"\nadress = "localhost:9092"\n',
        "half.jsonl": b'{"row":"hea', "half.bundle.json": b'{"bundle": 1, ', "noise.jsonl": NOISE,
        "noise.jsonl.xz": lzma.compress(NOISE),
    }  # fmt: skip
    for name, data in texts.items():
        (made / name).write_bytes(data)
    found = {name.removesuffix(".toml"): made / name for name in texts}
    (made / "folder").mkdir()
    whole, cut = made / "runs" / "whole", made / "runs" / "cut"
    for folder in (whole, cut):
        with jsonl.Writer(folder / "kfake.jsonl", runs.head()) as writer:
            for row in runs.rows():
                writer.case(row | {"known": None})
            if folder is whole:
                writer.finish(finished="2026-11-21T00:01:00+00:00", exit_code=1)
    taken = made / "results" / "taken"
    taken.mkdir(parents=True)
    (taken / "reference@4.3.jsonl").touch()
    one_side = made / "one.jsonl"
    transcript.write(golden("2.8"), one_side)
    return found | {
        "missing": made / "missing", "folder": made / "folder", "below": made / "noise" / "x",
        "proc": "/proc/touchstone/x", "full": FULL, "run": whole, "cut": cut,
        "parent": taken.parent, "taken": "taken", "transcript": one_side,
        "bundle": bundle.write(a_bundle(), made / "bundles"),
    }  # fmt: skip


@pytest.fixture(autouse=True)
def a_maven_that_knows_no_more(monkeypatch):
    """Which versions of Kafka there are is known without asking."""
    out = released.out()
    monkeypatch.setattr(released, "known", lambda oldest_s=None: out)


def cases(names):
    return [pytest.param(name, *row, id=f"{name} {row[0]}") for name in names for row in ROWS[name]]


def test_no_command_is_without_bad_inputs():
    assert ROWS.keys() == {*COMMANDS, PYTEST}
    assert {name for name, rows in ROWS.items() if len({*rows}) < LEAST} == set()


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A folder to work in, where no command may leave anything."""
    monkeypatch.chdir(tmp_path)
    yield
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize(("name", "words", "code", "says"), cases(COMMANDS))
def test_a_command_says_what_is_wrong(files, name, words, code, says):
    done = CliRunner().invoke(main, [name, *shlex.split(words.format(**files))])
    check(done.exit_code, done.stdout, done.stderr, code, says.format(**files))


def check(left, stdout, stderr, code, says):
    assert (left, "Traceback" in stdout + stderr) == (code, False), stdout + stderr
    assert says in stderr, stderr
    assert len(stderr.strip().splitlines()) <= LINES, stderr
    if code == 4:
        assert stdout == "", "nothing was begun"


@pytest.mark.parametrize(("name", "words", "code", "says"), cases([PYTEST]))
def test_a_run_says_what_is_wrong(pytester, files, name, words, code, says):
    done = pytester.runpytest_inprocess(
        "-p", "no:allure_pytest", "-p", "no:timeout", "-p", "no:cacheprovider", "-q", "--pyargs",
        "touchstone.suites.topics.test_refusals", *shlex.split(words.format(**files)),
    )  # fmt: skip
    text = "\n".join(line for line in done.stderr.lines if line)
    check(int(done.ret), "", text, code, says.format(**files))
    assert not [line for line in done.outlines if line], "nothing was collected"


def test_rows_are_data():
    assert json.loads(json.dumps(ROWS)).keys() == ROWS.keys()
