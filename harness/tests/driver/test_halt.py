"""Ctrl-C ends cases that wait, from outside."""

from __future__ import annotations

import threading

import pytest

from touchstone.harness.driver import run
from touchstone.harness.driver.halt import Halt, Halted
from touchstone.harness.model.scenario import Ask, Scenario
from touchstone.harness.targets.liars import LIARS, LyingServer
from touchstone.harness.tests.test_driver import ASK, HONEST, LONG_S, directions


def test_a_case_that_waits_ends_at_once():
    """Its deadline is a minute, and it has another step to go to."""
    halt, ended = Halt(), []
    scenario = Scenario((ASK, Ask("ApiVersions", 0, {})))

    def wait(endpoint):
        ended.append(run(scenario, endpoint, nonce="n", deadline_s=LONG_S, halt=halt))

    with LyingServer(LIARS["never-answers"], HONEST) as server:
        thread = threading.Thread(target=wait, args=(server.endpoint,), daemon=True)
        thread.start()
        while not halt._under_way or not halt._under_way[0]:
            pass
        halt.halt()
        thread.join(LONG_S / 2)
    assert directions(ended[0]) == ["opened", "sent", "closed"] and not halt._under_way


def test_nothing_is_begun_behind_it():
    halt = Halt()
    halt.halt()
    with LyingServer(None, HONEST) as server:
        assert not run(Scenario((ASK,)), server.endpoint, nonce="n", halt=halt).events
    with pytest.raises(Halted):
        halt.check()


def test_who_is_not_halted_goes_on():
    halt = Halt()
    with LyingServer(None, HONEST) as server:
        assert run(Scenario((ASK,)), server.endpoint, nonce="n", halt=halt).complete
