"""A soak sees nothing on our broker, and sees what is planted in it."""

from __future__ import annotations

import logging
import time

import pytest

from touchstone.fuzz.soak import Soak, hostile, pairs_for
from touchstone.reference_impl.broker import broker as broker_module
from touchstone.reference_impl.broker.personas import PERSONAS

FRAMES = 3_000
AT_NIGHT = pytest.mark.nightly


def soaked(release: str, brokers: int = 1, frames: int = FRAMES):
    made = Soak(release, brokers, time.thread_time)
    return made.run(hostile(pairs_for(release), 5), frames)


# Of three brokers each does what one alone does, and more.
SOAKED = [
    pytest.param(release, brokers, marks=() if brokers == 3 or release == "4.3" else AT_NIGHT)
    for release in PERSONAS
    for brokers in (1, 3)
]


@pytest.mark.slow
@pytest.mark.parametrize(("release", "brokers"), SOAKED)
def test_nothing_escapes_and_nothing_is_our_fault(release, brokers):
    report = soaked(release, brokers)
    assert report.faults == {}
    assert report.frames == FRAMES == sum(report.endings.values())
    assert report.endings["answered"] > FRAMES / 4
    assert report.waiting < 200


@pytest.mark.slow
def test_what_is_logged_and_what_escapes_is_kept_with_its_frame(monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(broker_module, "decode_request_header", broken)
    report = soaked("4.3", frames=200)
    (kind,) = report.faults
    assert kind.startswith("escaped: ZeroDivisionError at test_soak.py:")
    monkeypatch.undo()
    monkeypatch.setattr(broker_module.Broker, "handler", lambda self, key: broken)
    report = soaked("4.3", frames=200)
    assert [kind.partition(" at ")[0] for kind in report.faults] == ["ZeroDivisionError"]
    assert report.most_logged[0] > 500


@pytest.mark.slow
def test_the_log_is_left_as_it_was():
    log = logging.getLogger("touchstone")
    before = log.propagate, [*log.handlers]
    soaked("4.3", frames=10)
    assert (log.propagate, log.handlers) == before


def test_a_frame_is_the_same_whoever_sends_it():
    pairs = pairs_for("4.3")
    first, second = hostile(pairs, 9), hostile(pairs, 9)
    assert [next(first) for _ in range(50)] == [next(second) for _ in range(50)]
