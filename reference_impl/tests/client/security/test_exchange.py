"""The exchange as values: every cell of its table, both kinds of tokens, sessions that end."""

from __future__ import annotations

import itertools
from collections import deque

import pytest

from touchstone.reference_impl.client.connection import Connection, ProtocolFault
from touchstone.reference_impl.client.flow import ANY, Ask, Failed, NetworkPoll
from touchstone.reference_impl.client.running import put_off, resume
from touchstone.reference_impl.client.security.authenticator import (
    AUTHENTICATE,
    HANDSHAKE,
    SaslAuthenticator,
)
from touchstone.reference_impl.client.security.errors import (
    IllegalSaslStateException,
    SaslAuthenticationException,
    UnsupportedSaslMechanismException,
)
from touchstone.reference_impl.client.security.mechanisms import BadChallenge
from touchstone.reference_impl.client.security.sasl_states import TABLE, Deed, Event, State
from touchstone.reference_impl.wire.framing import Frames, framed
from touchstone.reference_impl.wire.headers import decode_request, encode_response

NEW = {18: (0, 4), HANDSHAKE: (0, 1), AUTHENTICATE: (0, 2)}
OLD = {18: (0, 0), HANDSHAKE: (0, 0)}
FINE = {"error_code": 0, "mechanisms": ["TWICE"]}
DONE = {"error_code": 0, "error_message": None, "auth_bytes": b"", "session_lifetime_ms": 1000}
MORE = DONE | {"auth_bytes": b"more"}


class Twice:
    """A mechanism of two tokens."""

    def first(self, now):
        return b"one"

    def answer(self, challenge):
        if challenge == b"bad":
            raise BadChallenge("no")
        return b"two" if challenge == b"more" else None


def exchange(draw=lambda: 0.5):
    return SaslAuthenticator("TWICE", Twice, draw)


def at(state):
    """An exchange in that state."""
    found = exchange()
    bare = state is State.BARE_TOKENS
    if state is not State.UNKNOWN:
        found.versions(OLD if bare else NEW, 0)
    if state not in (State.UNKNOWN, State.HANDSHAKE):
        found.answered(HANDSHAKE, FINE, 0)
    if state is State.COMPLETE:
        found.answered(AUTHENTICATE, DONE, 0)
    if state is State.FAILED:
        with pytest.raises(SaslAuthenticationException):
            found.answered(AUTHENTICATE, DONE | {"error_code": 58}, 0)
    assert found.state is state
    return found


EVENTS = {
    Event.VERSIONS: lambda found: found.versions(NEW, 0),
    Event.AGREED: lambda found: found.answered(HANDSHAKE, FINE, 0),
    Event.NOT_AGREED: lambda found: found.answered(HANDSHAKE, FINE | {"error_code": 33}, 0),
    Event.TOKEN: lambda found: found.answered(AUTHENTICATE, MORE, 0),
    Event.REFUSED: lambda found: found.answered(AUTHENTICATE, DONE | {"error_code": 58}, 0),
    Event.FRAME: lambda found: found.framed(b"more", 0),
    Event.EXPIRING: lambda found: found.renew(0),
}
RAISES = {
    Deed.OUT_OF_TURN: IllegalSaslStateException,
    Deed.EXPLAIN: UnsupportedSaslMechanismException,
    Deed.GIVE_UP: SaslAuthenticationException,
}


@pytest.mark.parametrize(("state", "event"), list(itertools.product(State, Event)))
def test_every_cell(state, event):
    found, deed = at(state), TABLE.peek(state, event)
    if deed in RAISES:
        with pytest.raises(RAISES[deed]):
            EVENTS[event](found)
        assert found.state is State.FAILED
        return
    said = EVENTS[event](found)
    assert said is not None
    if deed is Deed.NAME_MECHANISM:
        assert (said.key, said.version, found.state) == (HANDSHAKE, 1, State.HANDSHAKE)
    elif state is State.BARE_TOKENS:
        assert (said.key, said.frame) == (None, b"two")
    else:
        token = b"one" if deed is Deed.SAY_FIRST else b"two"
        assert said == (AUTHENTICATE, 2, {"auth_bytes": token}, b"")


def test_a_refusal_without_words_has_java_s():
    with pytest.raises(SaslAuthenticationException, match=r"^SASL Authentication failed\.$"):
        at(State.TOKENS).answered(AUTHENTICATE, DONE | {"error_code": 58}, 0)


def test_a_bad_challenge_is_told_as_java_tells_it():
    with pytest.raises(SaslAuthenticationException) as failed:
        at(State.TOKENS).answered(AUTHENTICATE, DONE | {"auth_bytes": b"bad"}, 0)
    assert str(failed.value) == (
        "An error: (java.util.concurrent.CompletionException: javax.security.sasl.SaslException:"
        " no) occurred when evaluating SASL token received from the Kafka Broker. Kafka Client will"
        " go to AUTHENTICATION_FAILED state."
    )


@pytest.mark.parametrize(("draw", "due"), [(0.0, 850), (0.999, 949)])
def test_a_session_is_renewed_in_time_and_not_by_all_at_once(draw, due):
    found = exchange(lambda: draw)
    found.versions(NEW, 0)
    found.answered(HANDSHAKE, FINE, 0)
    found.answered(AUTHENTICATE, DONE, 5_000)
    assert not found.expiring(5_000 + due - 1) and found.expiring(5_000 + due)
    found.renew(6_000)
    assert not found.complete and not found.expiring(7_000)


# --- on a connection ------------------------------------------------------------------------------


class Broker:
    """Answers what a connection has said, request by request."""

    def __init__(self, connection):
        self.connection, self._frames = connection, Frames()
        self.requests = []

    def take(self):
        for frame in self._frames.feed(self.connection.outgoing()):
            self.requests.append(decode_request(frame))
        return [each.header.key for each in self.requests]

    def answer(self, body, now=0):
        asked = self.requests.pop(0).header
        data = encode_response(asked.key, asked.version, asked.correlation_id, body)
        replies, impossible = self.connection.receive(framed(data), now=now)
        assert not impossible
        return replies


HELLO = {
    "error_code": 0,
    "api_keys": [
        {"api_key": key, "min_version": low, "max_version": high}
        for key, (low, high) in (NEW | {3: (0, 12)}).items()
    ],
}
METADATA = {
    "throttle_time_ms": 0,
    "brokers": [],
    "cluster_id": "c",
    "controller_id": 1,
    "topics": [],
}


def ask(connection, ticket, now):
    return connection.ask(ticket, Ask(ANY, "Metadata", {"topics": []}, versions=(1, 1)), now=now)


def known():
    """A connection that has said who it is at 0, and its broker."""
    connection = Connection("me", now=0, authenticator=exchange())
    broker = Broker(connection)
    assert broker.take() == [18] and broker.requests[0].header.version == 0
    ask(connection, 1, 0)
    broker.answer(HELLO)
    assert broker.take() == [HANDSHAKE]
    broker.answer(FINE)
    assert broker.take() == [AUTHENTICATE]
    broker.answer(MORE)
    assert broker.take() == [AUTHENTICATE] and not connection.ready
    broker.answer(DONE)
    assert connection.ready and broker.take() == [3]
    return connection, broker


def test_nothing_is_asked_before_it_has_said_who_it_is():
    _, broker = known()
    assert [reply.ticket for reply in broker.answer(METADATA)] == [1]


def test_a_session_that_ends_is_renewed_between_two_requests():
    connection, broker = known()
    ask(connection, 2, 899)
    assert broker.take() == [3, 3]
    ask(connection, 3, 900)  # 85 to 95 % of 1000
    ask(connection, 4, 901)
    assert broker.take() == [3, 3, HANDSHAKE]
    assert [reply.ticket for reply in broker.answer(METADATA) + broker.answer(METADATA)] == [1, 2]
    broker.answer(FINE)
    assert broker.take() == [AUTHENTICATE]
    broker.answer(DONE, now=905)
    assert broker.take() == [3, 3]
    assert [reply.ticket for reply in broker.answer(METADATA) + broker.answer(METADATA)] == [3, 4]
    ask(connection, 5, 905 + 899)
    assert broker.take() == [3]


def test_who_is_refused_has_asked_nothing():
    connection = Connection("me", now=0, authenticator=exchange())
    broker = Broker(connection)
    ask(connection, 1, 0)
    broker.take()
    broker.answer(HELLO)
    broker.take()
    with pytest.raises(UnsupportedSaslMechanismException):
        broker.answer(FINE | {"error_code": 33})
    assert connection.abandon() == [(1, False)]
    assert broker.take() == []


def test_an_exchange_that_nobody_answers_is_late():
    connection = Connection("me", now=0, authenticator=exchange())
    assert not connection.expired(29_999) and connection.expired(30_000)


def test_what_nobody_asked_for_is_still_a_fault():
    connection = Connection("me", now=0, authenticator=exchange())
    connection.outgoing()
    with pytest.raises(ProtocolFault):
        connection.receive(framed(b"\0\0\0\7xx"), now=0)


# --- flows ----------------------------------------------------------------------------------------


REFUSED = SaslAuthenticationException("no")


def test_who_is_refused_is_told_where_the_flow_waits_and_once():
    def flow():
        asks = [Ask(ANY, "Metadata", {})]
        inbox = deque([Failed(asks[0], "unauthenticated", "no", REFUSED)])
        for wanted in (asks, NetworkPoll([], inbox, 0)):
            try:
                yield wanted
            except SaslAuthenticationException:
                told.append(wanted)
        yield NetworkPoll([], inbox, 0)
        assert len(inbox) == 1  # for its owner to count

    told = []
    running = flow()
    asks = resume(running, None)
    poll = resume(running, [Failed(asks[0], "unauthenticated", "no", REFUSED)])
    last = resume(running, [], poll.inbox)
    assert told == [asks, poll]
    with pytest.raises(StopIteration):
        resume(running, [], last.inbox)


def test_other_failures_are_given_to_the_flow():
    def flow():
        return (yield [Ask(ANY, "Metadata", {})])

    running = flow()
    (ask,) = resume(running, None)
    with pytest.raises(StopIteration) as end:
        resume(running, [Failed(ask, "closed", "gone")])
    assert [each.kind for each in end.value.value] == ["closed"]


def test_records_in_hand_are_returned_before_a_call_fails():
    with put_off(True):
        raise REFUSED
    with pytest.raises(SaslAuthenticationException), put_off(False):
        raise REFUSED
