"""`touchstone replay` comes to what a run comes to: chance is forgiven, and pins are known."""

from __future__ import annotations

import datetime

import pytest
from click.testing import CliRunner

from touchstone.harness import driver, known
from touchstone.harness.__main__ import main
from touchstone.harness.judgement import bundle
from touchstone.harness.judgement.bundle import Bundle
from touchstone.harness.model.expect import answer
from touchstone.harness.model.placeholders import Name
from touchstone.harness.model.scenario import Scenario
from touchstone.harness.model.steps import create_topic
from touchstone.harness.tests.small_kafka import CREATE_TOPICS, small_kafka, word


def run(*words):
    return CliRunner().invoke(main, [str(one) for one in words])


@pytest.fixture
def kept(tmp_path):
    """A bundle of a case that differed, and the step in which a liar may lie."""
    scenario = Scenario(
        [create_topic(Name("t", length=20), partitions=0, version=5, name="create")]
    )
    with small_kafka() as honest, small_kafka(twist=wrongly(always=True)) as liar:
        kafkas = driver.run(scenario, honest.endpoint, nonce="one")
        theirs = driver.run(scenario, liar.endpoint, nonce="two")
    expected = answer("create", "topics[0].error_code").is_(37)
    verdict = {"kind": "DIVERGES"}
    made = Bundle(
        "demo.case", "demo.case", "s", (), "4.3", verdict, scenario, expected, theirs, kafkas
    )
    return bundle.write(made, tmp_path)


def wrongly(*, always):
    """It gives a wrong code for what Kafka refuses, always or once."""
    asked = []

    def lies(key, version, body):
        refused = key == CREATE_TOPICS and body["topics"][0]["error_code"] == 37
        if refused and (always or not asked):
            asked.append(key)
            body["topics"][0]["error_code"] = 0
        return body

    return lies


def test_replay_forgives_what_a_run_forgives(kept):
    """A run asks again what differs, and chance is no difference."""
    with small_kafka(twist=wrongly(always=False)) as server:
        done = run("replay", kept, "--target", word(server))
    assert done.exit_code == 0 and "at first: create" in done.output, done.output


def test_replay_knows_what_a_run_knows(kept, tmp_path, monkeypatch):
    with small_kafka(twist=wrongly(always=True)) as server:
        pin = known.Pin(
            "too-kind", word(server), "its author knows", datetime.date.max, claim="demo.case",
            signature="DIVERGES kept create: topics[0].error_code",
        )  # fmt: skip
        monkeypatch.setattr(known, "load", lambda files=None: [pin])
        done = run("replay", kept, "--target", word(server))
        monkeypatch.setattr(known, "load", lambda files=None: [])
        unknown = run("replay", kept, "--target", word(server))
    assert (done.exit_code, unknown.exit_code) == (0, 1)
    assert "known: too-kind" in done.output and "known:" not in unknown.output
