"""A target that runs is restored: a reference broker is another one, any other gets its topics."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from touchstone.fuzz import __main__ as fuzz
from touchstone.fuzz.campaign import campaigns
from touchstone.fuzz.cases import corpus
from touchstone.fuzz.corpus_run import create_topics, listed_topics
from touchstone.fuzz.frozen_run import play_frozen
from touchstone.fuzz.running import Reach, RunningTarget
from touchstone.harness.model.target import Unavailable
from touchstone.harness.targets import parse

VALID = campaigns()["valid"]


def test_a_reference_broker_forgets_what_others_left():
    target = parse("reference@4.3")
    try:
        with RunningTarget(target, Reach()) as running:
            before = running.address
            create_topics(running.link, {"left": False})
            running.restore(VALID)
            assert "left" not in listed_topics(running.link)
            assert running.link.address == running.address != before
    finally:
        target.stop()


def test_a_target_that_others_started_is_prepared_where_it_is():
    theirs = parse("reference@4.3")
    try:
        with RunningTarget(theirs, Reach()) as running:
            host, port = running.address
            with RunningTarget(parse(f"{host}:{port}"), Reach(mine=True)) as external:
                create_topics(external.link, {"left": False})
                external.restore(VALID)
                assert (external.address, external.can_restart) == (running.address, False)
                assert "left" not in listed_topics(external.link)
                with pytest.raises(Unavailable, match="was started by others"):
                    external.restart()
    finally:
        theirs.stop()


@pytest.mark.slow
@pytest.mark.parametrize(("failures", "code"), [(2, 0), (100, 3)])
def test_a_target_that_cannot_be_prepared_is_started_again(failures, code, unprepared, tmp_path):
    unprepared(failures)
    asked = ["--campaign", "valid", "--cases", "60", "--out", str(tmp_path)]
    result = CliRunner().invoke(fuzz.command, asked)
    assert result.exit_code == code, result.output
    assert "topics were not deleted" in result.output
    assert ("valid: 60 cases" in result.output) == (code == 0), result.output


def test_the_frozen_corpus_is_played_on_a_target_that_others_have_not_harmed():
    target = parse("reference@4.3")
    try:
        with RunningTarget(target, Reach()) as running:
            (known,) = running.link.ask(3, 1, {"topics": None})["brokers"]
            unregistered = running.link.ask(64, 0, {"broker_id": known["node_id"]})
            assert unregistered["error_code"] == 0
            played = play_frozen(campaigns()["corpus"], running, 1, str)
    finally:
        target.stop()
    assert (played.gone, played.result.findings) == (None, [])
    assert played.result.cases == len(corpus()) > 0
