"""Runs that judge many cases at a time: what they tell meanwhile, and what they leave out."""

from __future__ import annotations

import threading

import pytest

from touchstone.harness import plugin
from touchstone.harness.results import jsonl
from touchstone.harness.run.ahead import Ahead
from touchstone.harness.tests import test_plugin
from touchstone.harness.tests.small_kafka import CREATE_TOPICS, small_kafka, word
from touchstone.harness.tests.test_plugin import VERSIONS

# Fixtures are found by their names in this module.
kafka, liar = test_plugin.kafka, test_plugin.liar
patience, suite = test_plugin.patience, test_plugin.suite
pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow
HANGS_S = 300


def test_a_gentle_run_leaves_out_what_may_kill(suite, kafka):
    suite.write(
        extra="""
        from touchstone.harness.model.scenario import Raw

        @claim("demo.garbage", evidence=("TOPIC-11",))
        def test_garbage(case):
            \"""It sends what is no request.\"""
            return case.scenario(Raw(b"\\x00\\x00"))
    """
    )
    done = suite("--target", kafka, "--oracle", kafka, "--gentle")
    assert done.ret == 0
    done.assert_outcomes(passed=VERSIONS, deselected=1)
    done.stdout.fnmatch_lines(["gentle: without 1 case that may kill*"])


def test_what_is_judged_is_kept_when_the_run_is_cut(suite, kafka, liar):
    suite("--target", liar, "--oracle", kafka, "-x").assert_outcomes(failed=1)
    (file,) = (suite.path / "out").glob("*/*.jsonl")
    assert len(jsonl.read(file, incomplete=True).cases) == VERSIONS


@pytest.fixture
def told(monkeypatch):
    """Set once a pooled run has told how far it is."""
    event = threading.Event()
    line = Ahead.line

    def telling(ahead):
        event.set()
        return line(ahead)

    monkeypatch.setattr(Ahead, "line", telling)
    return event


@pytest.fixture
def waiting(told):
    """It creates no topic before the run has told how far it is."""

    def waits(key, version, answer):
        if key == CREATE_TOPICS:
            told.wait(HANGS_S)
        return answer

    with small_kafka(twist=waits) as server:
        yield word(server)


def test_a_pooled_run_tells_how_far_it_is(suite, waiting, told, monkeypatch):
    monkeypatch.setattr(plugin, "LINE_S", 0.0)
    line = f"* of {VERSIONS} cases judged, * differ*"
    suite("--target", waiting, "--oracle", waiting).stdout.fnmatch_lines([line])
    assert told.is_set()
    suite("--target", waiting, "--oracle", waiting, "--jobs", "1").stdout.no_fnmatch_line(line)
    suite("--target", waiting, "--oracle", waiting, "-qq").stdout.no_fnmatch_line(line)
