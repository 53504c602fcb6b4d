"""Before a peer has said who it is nothing of it is served, whatever it says and in what order."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from touchstone.reference_impl.broker.effects import ANONYMOUS, Close, Reply
from touchstone.reference_impl.tests.security.conversations import BAD, GOOD, SASL, SHORT
from touchstone.reference_impl.tests.security.test_recorded import CoreWire, core
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import encode_request

VERSIONS = 18
RELEASES = ["1.0", "2.8", "4.3"]
RIGHT = (GOOD, encode_request(36, 0, 1, "p", {"auth_bytes": GOOD}))


def frames():
    handshakes = st.builds(
        lambda mechanism, version: encode_request(17, version, 1, "p", {"mechanism": mechanism}),
        st.sampled_from(["PLAIN", "SCRAM-SHA-256", "GSSAPI", ""]),
        st.sampled_from([0, 1]),
    )
    tokens = st.one_of(
        st.sampled_from([GOOD, BAD, b"", b"n,,n=alice,r=abc", b"c=biws,r=abc,p="]),
        st.binary(max_size=40),
    )
    authentications = st.builds(
        lambda token, version: encode_request(36, version, 1, "p", {"auth_bytes": token}),
        tokens,
        st.sampled_from([0, 1, 2]),
    )
    versions = st.sampled_from([0, 1, 2]).map(lambda v: encode_request(VERSIONS, v, 1, "p", {}))
    headers = st.builds(
        lambda key, version, rest: key.to_bytes(2, "big") + version.to_bytes(2, "big") + rest,
        st.sampled_from(sorted(API)),
        st.integers(0, 20),
        st.binary(min_size=4, max_size=60),
    )
    metadata = st.just(encode_request(3, 1, 1, "p", {"topics": [{"name": "made"}]}))
    return st.one_of(
        handshakes, authentications, versions, headers, metadata, tokens, st.binary(max_size=60)
    )


@pytest.fixture(scope="module", params=RELEASES)
def made(request):
    return core(request.param)


@pytest.mark.slow
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(said=st.lists(frames(), max_size=12), listener=st.sampled_from([SASL, SHORT]))
def test_nothing_is_served_before(made, said, listener):
    broker, served = made.brokers[0], []
    handler = broker.handler
    broker.handler = lambda key: served.append(key) or handler(key)
    wire = CoreWire(made, listener, 1)
    try:
        for frame in said:
            if wire.connection.authenticator is None or wire.connection.principal != ANONYMOUS:
                assert any(right in frame for right in RIGHT for frame in said)
                break
            effects = made.send(frame, connection=wire.connection)
            assert set(served) <= {VERSIONS}, "a handler was asked before"
            assert all(isinstance(each, Reply | Close) for each in effects)
            if any(isinstance(each, Close) for each in effects):
                break
    finally:
        broker.handler = handler
        wire.close()
        made.now += 1000
        broker.tick(made.now)
    assert "made" not in made.cluster.topics


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(token=st.binary(max_size=200))
def test_no_token_but_the_right_one_opens(token):
    for mechanism in ("PLAIN", "SCRAM-SHA-256"):
        made = ONE
        wire = CoreWire(made, SASL, 2)
        wire.send(encode_request(17, 0, 1, "p", {"mechanism": mechanism}))
        if token != GOOD:
            made.send(token, connection=wire.connection)
            assert wire.connection.principal == ANONYMOUS
        wire.close()
        made.brokers[0].tick(made.now)


ONE = core("4.3")


def test_what_was_refused_leaves_nothing_behind():
    """As many peers again with large tokens leave less than one of them said."""
    made = core("4.3")

    def refused(number):
        wire = CoreWire(made, SASL, number)
        wire.send(encode_request(17, 1, 1, "p", {"mechanism": "PLAIN"}))
        large = b"\0alice\0" + b"x" * 20_000
        made.send(encode_request(36, 2, 1, "p", {"auth_bytes": large}), connection=wire.connection)
        wire.close()

    def round_of(first):
        for number in range(first, first + 150):
            refused(number)
        made.now += 1000
        made.brokers[0].tick(made.now)

    tracemalloc.start()
    try:
        round_of(1)
        before, _ = tracemalloc.get_traced_memory()
        round_of(1000)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 20_000


def test_every_deed_of_a_refused_peer_waits():
    """connection.failed.authentication.delay.ms: neither words nor the end come sooner."""
    made = core("4.3")
    wire = CoreWire(made, SASL, 1)
    wire.send(encode_request(17, 1, 1, "p", {"mechanism": "PLAIN"}))
    frame = encode_request(36, 2, 1, "p", {"auth_bytes": BAD})
    assert made.send(frame, connection=wire.connection) == []
    assert made.brokers[0].tick(made.now + 99) == []
    assert [type(each) for each in made.brokers[0].tick(made.now + 100)] == [Reply, Close]


def test_what_follows_a_refusal_is_not_looked_at():
    made = core("4.3")
    wire = CoreWire(made, SASL, 1)
    wire.send(encode_request(17, 1, 1, "p", {"mechanism": "PLAIN"}))
    for token in (BAD, GOOD, GOOD):
        frame = encode_request(36, 2, 1, "p", {"auth_bytes": token})
        assert made.send(frame, connection=wire.connection) == []
    assert wire.connection.principal == ANONYMOUS


def test_the_known_are_known():
    made = core("4.3")
    wire = CoreWire(made, SASL, 1)
    wire.send(encode_request(17, 1, 1, "p", {"mechanism": "PLAIN"}))
    wire.send(encode_request(36, 2, 1, "p", {"auth_bytes": GOOD}))
    assert str(wire.connection.principal) == "User:alice"
    assert wire.connection.authenticator is None
