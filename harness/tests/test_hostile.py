"""Whatever a target does, who asks it ends in the time that was stated, with a whole report.

All liars and all hostile targets stand before one broker. Nobody is connected to but this machine:
`guarded` refuses it, and writes down who would have been.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from touchstone.harness.cli import smoke
from touchstone.harness.results import jsonl
from touchstone.harness.results.run_folder import PAGE, SUMMARY
from touchstone.harness.run import tally
from touchstone.harness.targets import external, parse
from touchstone.harness.targets.liars import HOSTILE, LIARS, LyingServer, broker
from touchstone.harness.tests import guarded
from touchstone.harness.tests.small_kafka import word
from touchstone.reference_impl.io.server import serve

ROOT = Path(__file__).resolve().parents[2]
EVERYBODY = LIARS | HOSTILE
DEADLINE_S = 1
CASES = 14  # of the file that is asked, and two connections for each
LOOKING_S = 30  # the harness's own questions, and what is waited for a broker that is gone
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def honest():
    with serve(release="4.3") as cluster:
        host, port = cluster.bootstrap[0].rsplit(":", 1)
        yield broker((host, int(port)))


def test_there_are_enough_of_them():
    assert len(HOSTILE) >= 10 and not HOSTILE.keys() & LIARS.keys()
    assert all(one.sentence.endswith(".") for one in HOSTILE.values())


@pytest.mark.timeout(2 * smoke.MOST_S)
@pytest.mark.parametrize("name", HOSTILE)
def test_smoke_ends_in_the_time_that_it_states(honest, monkeypatch, name):
    asked, told, said = [], [], []
    guarded.guard(monkeypatch, asked.append)
    monkeypatch.setattr(external, "SECONDS", guarded.SECONDS)
    monkeypatch.setattr(smoke, "SECONDS", float(DEADLINE_S))
    monkeypatch.setattr(smoke, "EVERY_S", DEADLINE_S / 10)
    with LyingServer(HOSTILE[name], honest) as server:
        code = smoke.main(parse(word(server)), said.append, told.append)
    assert code in (smoke.FINE, smoke.INSANE, smoke.UNREACHABLE)
    assert all(f"of at most {smoke.MOST_S:g} s" in line for line in told), "who waits is told"
    assert told or name != "a-byte-a-second"
    assert all(line.isprintable() for line in said), said
    assert not [one for one in asked if one.startswith("connect")]


@pytest.fixture(scope="module")
def judged(honest, tmp_path_factory):
    """(exit code, output, folder of the run, addresses by name, who was asked)"""
    folder, asked = tmp_path_factory.mktemp("results"), tmp_path_factory.mktemp("asked") / "asked"
    asked.touch()
    with contextlib.ExitStack() as stack:
        servers = {
            name: stack.enter_context(LyingServer(liar, honest)) for name, liar in EVERYBODY.items()
        }
        words = {name: word(server) for name, server in servers.items()}
        targets = [part for each in words.values() for part in ("--target", each)]
        done = subprocess.run(
            [
                sys.executable, "-m", "pytest", "suites/topics/test_refusals.py", "--newest", "-q",
                "-p", "no:allure_pytest", "-p", "no:timeout", "-p", guarded.__name__,
                "--deadline", str(DEADLINE_S), "--results", str(folder), *targets,
            ],
            cwd=ROOT, capture_output=True, check=False, env=os.environ | {guarded.FILE: str(asked)},
            timeout=2 * len(EVERYBODY) * (LOOKING_S + CASES * DEADLINE_S),
        )  # fmt: skip
    return done.returncode, done.stdout.decode(), folder, words, asked.read_text()


def test_a_run_on_all_of_them_ends_with_a_whole_report(judged):
    code, output, folder, words, _ = judged
    assert code == tally.DIFFERENT, output[-3000:]
    assert "INTERNALERROR" not in output
    (run,) = folder.iterdir()
    assert (run / SUMMARY).stat().st_size and (run / PAGE).stat().st_size
    found = {file.header["target"]: file for file in map(jsonl.read, run.glob("*.jsonl"))}
    assert found.keys() == set(words.values())
    for name, each in words.items():
        rows = found[each]
        assert len(rows.cases) == rows.header["planned"], name
        assert {row["verdict"] for row in rows.cases} <= {"CONFORMS", "DIVERGES", "INCONCLUSIVE"}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("never-answers", "does not answer ApiVersions"),
        ("always-closes", "does not answer ApiVersions"),
        ("a-byte-a-second", "no whole answer in"),
        ("two-gigabytes", "its answer begins with size 2147483647"),
        ("names-no-broker", "the target's Metadata names no broker"),
        ("names-strangers", "192.0.2.1:9092 is not on loopback and was not given"),
        ("names-no-address", "no address"),
    ],
)
def test_a_run_that_finds_nobody_says_so_in_one_line(judged, name, why):
    _, output, folder, words, _ = judged
    (run,) = folder.iterdir()
    (file,) = run.glob(f"{words[name].replace(':', '_')}.jsonl")
    reasons = {row["reason"] for row in jsonl.read(file).cases}
    assert len(reasons) == 1 and why in reasons.pop()
    lines = [line for line in output.splitlines() if why in line and " cases " in line]
    assert lines and all(re.match(r"\d+ cases (not run|out of scope)", line) for line in lines)


def test_nobody_is_asked_whom_only_a_target_named(judged):
    *_, asked = judged
    assert "connect" not in asked, asked


def test_nothing_that_a_target_says_moves_a_cursor(judged):
    _, output, folder, _, _ = judged
    (run,) = folder.iterdir()
    shown = [path for path in run.iterdir() if path.is_file() and path.suffix != ".jsonl"]
    texts = {path.name: path.read_text(encoding="utf-8") for path in shown} | {"stdout": output}
    for name, text in texts.items():
        strange = {letter for letter in text if not letter.isprintable()} - {"\n"}
        assert not strange, (name, strange)
    assert r"\x1b[2J" in texts[PAGE] and r"\x1b" in output, "and it is seen"
