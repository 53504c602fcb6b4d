"""The witness on living targets: our broker gives Kafka's golden answers, and so does Kafka today.

The first half holds the reference broker to five releases in a second; the second half holds the
golden files themselves to real Kafka, so that they cannot grow old unnoticed.
"""

from __future__ import annotations

import pytest

from touchstone.harness.checkers import check_all
from touchstone.harness.driver import line, run
from touchstone.harness.judgement.compare import compare
from touchstone.harness.model.target import Shape, Target
from touchstone.harness.targets import parse
from touchstone.harness.tests.witness import RELEASES, golden, witness


def differs(target, release):
    reason = target.available()
    if reason:
        pytest.skip(f"not run: {reason}")
    try:
        endpoint = target.start(Shape())
        found = run(witness(release), endpoint, nonce="witness", release=release)
    finally:
        target.stop()
    return [str(found) for found in (*check_all(found), *compare(golden(release), found))]


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_our_broker_answers_as_the_release_did(release, monkeypatch):
    monkeypatch.setattr(line, "QUIET_S", (0.02, 1, 0.02, 0.02))
    target = parse(f"reference@{release}")
    assert isinstance(target, Target)
    assert differs(target, release) == []


@pytest.mark.live
@pytest.mark.java
@pytest.mark.maven
@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_kafka_still_answers_as_it_did(release):
    assert differs(parse(f"kafka@{release}"), release) == []


def test_a_reference_target_keeps_one_cluster_per_shape():
    target = parse("reference@4.3")
    try:
        first = target.start(Shape())
        assert target.start(Shape()) is first
        assert target.start(Shape(2)) is not first
        assert len(target.start(Shape(2)).brokers) == 2
        assert 18 in target.advertised()
    finally:
        target.stop()
        target.stop()


def test_a_recording_cannot_be_started():
    target = parse("recorded@4.3")
    assert isinstance(target, Target)
    with pytest.raises(Exception, match="recording"):
        target.start(Shape())
