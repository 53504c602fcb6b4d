"""Cases reach a listener with SASL and TLS as they reach a plain one, with the same outcomes."""

from __future__ import annotations

import struct

import pytest

from touchstone.fuzz.engine import Engine
from touchstone.fuzz.lanes import Planned
from touchstone.fuzz.oracles import sent_frame
from touchstone.fuzz.outcome import CLOSED, KEPT
from touchstone.fuzz.runner import Link, frame_of, is_alive
from touchstone.fuzz.running import Reach, RunningTarget
from touchstone.fuzz.targets import SASL_HANDSHAKE
from touchstone.harness.tests.targets.secured import secured

LISTENERS = ("PLAINTEXT", "SASL_PLAINTEXT", "SASL_SSL", "SSL")
VERSIONS = frame_of(18, 0, {})
NOBODYS = struct.pack(">ihhih", 10, 31000, 0, 9, -1)  # an API key that nobody has
CASES = {
    "a question": (VERSIONS, KEPT, 1),
    "no such key": (NOBODYS, CLOSED, 0),
    "half a frame": (VERSIONS[:-3], CLOSED, 0),
    "two in one": (VERSIONS + VERSIONS, KEPT, 2),
}


@pytest.fixture(scope="module")
def broker():
    with secured() as found:
        for listener in LISTENERS[1:]:
            found.target(listener, found.properties(listener))
        yield found


@pytest.mark.parametrize("listener", LISTENERS)
def test_a_link_has_the_outcome_of_each_case(broker, listener):
    with Link(*broker.address(listener), timeout_s=30) as link:
        for name, (wire, end, answers) in CASES.items():
            outcome = link.play([wire], probe=name != "half a frame")
            assert (outcome.end, len(outcome.answers)) == (end, answers)
        assert link.ask_apart([(18, 0, {})] * 3)[0]["api_keys"]
    assert is_alive(broker.address(listener), dying_s=0)


@pytest.mark.parametrize("listener", LISTENERS)
def test_many_connections_at_once_have_the_same(broker, listener):
    cases = [wire for wire, _, _ in CASES.values()] * 8
    planned = [Planned(n, sent_frame(wire), ()) for n, wire in enumerate(cases)]
    with Engine(broker.address(listener), connections=4, timeout_s=30) as engine:
        found = [(one.end, len(one.answers)) for _, one in engine.play(planned)]
    assert found == [(end, answers) for _, end, answers in CASES.values()] * 8


def test_a_handshake_ends_a_connection_whose_session_has_an_end():
    """It begins a second login, for which there is no such mechanism."""
    with secured(connections_max_reauth_ms="3600000") as broker:
        broker.target("SASL_SSL", broker.properties("SASL_SSL"))
        with Link(*broker.address("SASL_SSL"), timeout_s=30) as link:
            outcome = link.play([frame_of(SASL_HANDSHAKE, 0, {"mechanism": ""})])
    assert outcome.end == CLOSED


@pytest.mark.parametrize("listener", LISTENERS)
def test_nobody_who_is_logged_in_is_asked_to_log_in_again(broker, listener):
    given = broker.properties(listener) if listener != "PLAINTEXT" else None
    with RunningTarget(broker.target(listener, given), Reach()) as running:
        asked = {pair.key for pair in running.pairs()}
    assert (SASL_HANDSHAKE in asked) is not listener.startswith("SASL")
