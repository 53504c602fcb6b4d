"""A target that runs is restored: a reference broker is another one, any other gets its topics."""

from __future__ import annotations

import pytest

from touchstone.fuzz.campaign import campaigns
from touchstone.fuzz.corpus_run import create_topics, listed_topics
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
