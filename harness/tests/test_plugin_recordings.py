"""Runs that record a target, and runs that are held against what was recorded."""

from __future__ import annotations

import os
import signal

import pytest

from touchstone.harness.model import recordings
from touchstone.harness.model.provenance import Provenance
from touchstone.harness.targets.external import ExternalTarget
from touchstone.harness.tests import test_plugin
from touchstone.harness.tests.small_kafka import CREATE_TOPICS, small_kafka, word
from touchstone.harness.tests.test_plugin import PREFIXED, VERSIONS

# Fixtures are found by their names in this module.
kafka, liar = test_plugin.kafka, test_plugin.liar
patience, suite = test_plugin.patience, test_plugin.suite
pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow


@pytest.fixture
def store(tmp_path, monkeypatch):
    jar = Provenance("4.3", "4.3.1", "small.jar", "ab" * 32, "17")
    monkeypatch.setattr(recordings.Store.__init__, "__defaults__", (tmp_path,))
    monkeypatch.setattr(ExternalTarget, "provenance", lambda self, shape: jar, raising=False)
    return recordings.Store("4.3")


def test_what_was_recorded_is_an_oracle_and_a_target(suite, kafka, liar, store):
    assert suite("--target", kafka, "--record").ret == 0
    assert len(store.cases("test_demo")) == VERSIONS
    told = store.origin("test_demo", next(iter(store.cases("test_demo"))))
    assert (told.version, told.sha256) == ("4.3.1", "ab" * 32) and told.date and told.commit
    done = suite("--target", kafka)
    assert done.ret == 0
    done.stdout.fnmatch_lines(["*against oracle recorded@4.3 (recorded)*"])
    assert suite("--target", "recorded@4.3").ret == 0
    assert suite("--target", liar).ret == 1
    suite.write(code=42)
    assert suite("--target", "recorded@4.3").ret == 2, "oracle disagrees"


def test_a_claim_that_changed_has_no_recording(suite, kafka, store):
    assert suite("--target", kafka, "--record").ret == 0
    text = (suite.path / "test_demo.py").read_text().replace("partitions=0", "partitions=-2")
    (suite.path / "test_demo.py").write_text(text)
    done = suite("--target", kafka)
    assert done.ret == 3
    done.stdout.fnmatch_lines([f"{VERSIONS} cases not run: changed since Kafka 4.3*"])


def test_an_answer_that_is_not_repeated_is_not_recorded(suite, store):
    seen = []

    def moody(key, version, answer):
        if key == CREATE_TOPICS:
            seen.append(version)
            answer["topics"][0]["error_message"] = f"time {len(seen)}"
        return answer

    with small_kafka(twist=moody) as server:
        assert suite("--target", word(server), "--record").ret == 1
    assert recordings.Store("4.3").cases("test_demo") == {}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_agreed_before_an_interruption_is_kept(suite, store, number):
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]

    def ended(key, version, answer):
        if key == CREATE_TOPICS and version == 5:
            os.kill(os.getpid(), number)
            os.kill(os.getpid(), number)  # who has no patience spoils nothing
        return answer

    with small_kafka(twist=ended) as server:
        done = suite("--target", word(server), "--record", PREFIXED["--jobs"], "1")
    assert done.ret == 3
    done.stdout.fnmatch_lines([f"recorded: 3 of {VERSIONS} cases on Kafka 4.3; interrupted: *"])
    assert [name[-4:] for name in store.cases("test_demo")] == ["[v2]", "[v3]", "[v4]"]
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == before


def test_an_address_is_not_recorded_for_its_jar_is_unknown(suite, kafka, store, monkeypatch):
    monkeypatch.delattr(ExternalTarget, "provenance")
    done = suite("--target", kafka, "--record")
    done.stderr.fnmatch_lines([f"*only real Kafka is recorded whose jar can be hashed, {kafka}*"])
    assert not store.exists()


def test_a_stranger_is_not_recorded(suite, store):
    def stranger(key, version, answer):
        return answer | {"api_keys": answer["api_keys"][:3]} if "api_keys" in answer else answer

    with small_kafka(twist=stranger) as server:
        done = suite("--target", word(server), "--record")
    done.stderr.fnmatch_lines(["*advertises what no known release does*"])
    assert not store.exists()
