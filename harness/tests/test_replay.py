"""`touchstone replay` comes to what a run comes to: chance is forgiven, and pins are known."""

from __future__ import annotations

import datetime
from dataclasses import replace

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


def test_replay_says_which_release_it_is(kept):
    with small_kafka() as server:
        done = run("replay", kept, "--target", word(server), "--release", "4.3")
        other = run("replay", kept, "--target", word(server), "--release", "3.9")
    assert "held against Kafka 4.3: the bundle has its answers" in done.output
    assert (done.exit_code, other.exit_code) == (0, 4)
    assert "--release 3.9: the bundle has the answers of Kafka 4.3" in other.output


@pytest.mark.parametrize(
    ("asked", "wanted", "why"), [((), "4.3", "its ApiVersions fit 4.3"),
                                 (("--release", "3.9"), "3.9", "--release says so")],
)  # fmt: skip
def test_a_bundle_without_answers_leaves_the_release_to_its_user(
    kept, tmp_path, asked, wanted, why
):
    old = replace(bundle.read(kept), oracle=None, release=None, case="demo.case[0]")
    with small_kafka() as server:
        done = run("replay", bundle.write(old, tmp_path), "--target", word(server), *asked)
    assert f"held against Kafka {wanted}: {why}" in done.output, done.output


@pytest.mark.parametrize(
    ("again", "asked", "prefix"),
    [("", (), "t-"), ("", ("--prefix", "team-"), "team-t-"),
     ("pytest --prefix crew-", (), "crew-t-"), ("pytest --prefix crew-", ("--prefix", ""), "t-")],
)  # fmt: skip
def test_names_begin_as_in_the_run_or_as_its_user_says(kept, tmp_path, again, asked, prefix):
    names = []

    def hears(key, version, body):
        if key == CREATE_TOPICS:
            names.extend(row["name"] for row in body["topics"])
        return body

    old = replace(bundle.read(kept), again=again)
    with small_kafka(twist=hears) as server:
        run("replay", bundle.write(old, tmp_path), "--target", word(server), *asked)
    assert names[-1].startswith(prefix), names  # what it may do is asked before


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
