"""Findings are written, steady or not, though their target dies while they are made small."""

from __future__ import annotations

from dataclasses import replace

import pytest

from touchstone.fuzz.campaign import Finding
from touchstone.fuzz.triage.settled import REPLAYS, Trial, settled
from touchstone.fuzz.triage.surviving import MOST, Surviving
from touchstone.harness.model.target import Unavailable
from touchstone.reference_impl.wire.framing import framed
from touchstone.reference_impl.wire.headers import encode_request

METADATA = framed(encode_request(3, 0, 1, "fuzz", {"topics": [{"name": "words"}]}))
FOUND = Finding("valid", "answers", "no answer", "silent", 1, 7, (), METADATA)


class Mortal:
    """A target on which every script is complained about, but those that are to kill it."""

    def __init__(self, *, fatal: int = 0, dead: bool = False) -> None:
        self.plays, self.starts, self.fatal, self.dead = 0, 0, fatal, dead

    def complains(self, script):
        self.plays += 1
        self.dead = self.dead or self.plays == self.fatal
        if self.dead:
            raise ConnectionRefusedError("nobody listens")
        return [FOUND]

    def start(self):
        self.starts += 1
        self.dead = False

    def surviving(self, *, can_start: bool = True):
        trial = Trial(self.complains, self.complains, lambda: None)
        return Surviving(trial, self.start if can_start else None)


def test_a_target_that_dies_of_a_candidate_is_started_again():
    target = Mortal(fatal=1)
    surviving = target.surviving()
    (one,) = settled([FOUND], surviving.trial)
    assert one.repeats == REPLAYS and (surviving.deaths, target.starts) == (1, 1)
    assert surviving.gone is None


@pytest.mark.parametrize("dead", [True, False])
def test_what_nobody_can_try_again_is_unsteady_but_there(dead):
    target = Mortal(fatal=1, dead=dead)
    surviving = target.surviving(can_start=False)
    (one,) = settled([FOUND], surviving.trial)
    assert (one.repeats, one.finding) == (0, FOUND)
    assert target.plays == 1 and surviving.gone == "nobody listens"


def test_a_target_that_cannot_be_put_in_order_is_started_again():
    target = Mortal()

    def refuses():
        raise Unavailable("topics were not deleted")

    surviving = Surviving(Trial(target.complains, target.complains, refuses), target.start)
    (one,) = settled([FOUND], surviving.trial)
    assert one.repeats == REPLAYS and target.starts == surviving.deaths == REPLAYS


def test_a_target_that_dies_of_every_replay_is_given_up():
    target = Mortal(dead=True)
    target.start = lambda: None
    surviving = target.surviving()
    names = ("answers", "parses", "correlates", "ends", "keeps")
    found = [replace(FOUND, oracle=name, index=at) for at, name in enumerate(names)]
    assert [one.repeats for one in settled(found, surviving.trial)] == [0] * len(found)
    assert surviving.deaths == MOST + 1 and surviving.gone


@pytest.mark.parametrize("at", ["replay", "restore"])
def test_a_user_who_does_not_wait_has_all_that_was_found(at):
    target, stopped = Mortal(), []

    def stops(*_):
        stopped.append(at)
        raise KeyboardInterrupt

    pieces = (stops, stops, lambda: None) if at == "replay" else (*[target.complains] * 2, stops)
    surviving = Surviving(Trial(*pieces), target.start)
    found = [FOUND, replace(FOUND, oracle="parses", index=8)]
    assert [one.repeats for one in settled(found, surviving.trial)] == [0, 0]
    assert surviving.interrupted and (target.starts, stopped) == (0, [at])
