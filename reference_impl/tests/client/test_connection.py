"""One connection: version negotiation, pipelining, and what ends it."""

import pytest

from touchstone.reference_impl.client.connection import Connection, ProtocolFault, Unsupported
from touchstone.reference_impl.client.flow import Ask
from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.framing import Frames, framed
from touchstone.reference_impl.wire.headers import decode_request_header, encode_response

HELLO, METADATA, PRODUCE = 18, 3, 0
NOW = 50
ROWS = [
    {"api_key": HELLO, "min_version": 0, "max_version": 2},
    {"api_key": METADATA, "min_version": 1, "max_version": 5},
    {"api_key": PRODUCE, "min_version": 0, "max_version": 5},
]
ASK = Ask("any", "Metadata", {"topics": None})


def heads(connection: Connection) -> list[tuple[int, int, int]]:
    frames = Frames().feed(connection.outgoing())
    found = [decode_request_header(frame)[0] for frame in frames]
    return [(head.key, head.version, head.correlation_id) for head in found]


def welcome(connection: Connection, version: int, error: int = 0, rows=ROWS, correlation_id=0):
    body = {"error_code": error, "api_keys": rows}
    return connection.receive(framed(encode_response(HELLO, version, correlation_id, body)), now=0)


def answer(correlation_id: int, version: int = 5) -> bytes:
    body = {"brokers": [], "topics": []}
    return framed(encode_response(METADATA, version, correlation_id, body))


def ready() -> Connection:
    connection = Connection("c", now=NOW)
    connection.outgoing()
    welcome(connection, by_name("ApiVersions").latest)
    return connection


def test_the_first_request_is_the_newest_api_versions():
    assert heads(Connection("c", now=NOW)) == [(HELLO, by_name("ApiVersions").latest, 0)]
    assert heads(Connection("c", now=NOW, first_version=0)) == [(HELLO, 0, 0)]


@pytest.mark.parametrize(
    ("rows", "second"),
    [(ROWS[:1], 2), ([], 0), ([{"api_key": HELLO, "min_version": 0, "max_version": 99}], 3)],
    ids=["the broker names its range", "Kafka before 2.4 does not", "a range that cannot be true"],
)
def test_an_unsupported_version_is_answered_in_version_0_and_asked_again(rows, second):
    connection = Connection("c", now=NOW, first_version=4)
    connection.outgoing()
    welcome(connection, 0, error=35, rows=rows)
    assert heads(connection) == [(HELLO, second, 1)]
    assert not connection.negotiated
    welcome(connection, second, correlation_id=1)
    assert connection.advertised[METADATA] == (1, 5)


def test_negotiation_ends_even_if_every_version_is_refused():
    connection = Connection("c", now=NOW, first_version=1)
    welcome(connection, 0, error=35, rows=[])
    with pytest.raises(ProtocolFault, match="ApiVersions failed with 35"):
        welcome(connection, 0, error=35, rows=[], correlation_id=1)


def test_asks_wait_for_the_versions_and_then_all_go_out():
    connection = Connection("c", now=NOW)
    connection.outgoing()
    for ticket in "ab":
        assert connection.ask(ticket, ASK, now=NOW) == []
    assert heads(connection) == []
    assert welcome(connection, by_name("ApiVersions").latest) == ([], [])
    assert heads(connection) == [(METADATA, 5, 1), (METADATA, 5, 2)]
    replies, _ = connection.receive(answer(1) + answer(2), now=0)
    assert [reply.ticket for reply in replies] == ["a", "b"]


def test_answers_arrive_in_any_chunks():
    connection = ready()
    connection.ask("a", ASK, now=NOW)
    data = answer(1)
    replies = [reply for byte in data for reply in connection.receive(bytes((byte,)), now=0)[0]]
    assert [reply.ticket for reply in replies] == ["a"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (answer(2), "correlation id 2, expected 1"),
        (framed(answer(1)[4:] + b"x"), "1 bytes after an answer"),
        (framed(answer(1)[4:-1]), "does not decode"),
        (framed(b""), "correlation id 0, expected 1"),
        (b"\xff\xff\xff\xff", "impossible size"),
    ],
)
def test_answers_that_end_the_connection(data, reason):
    connection = ready()
    connection.ask("a", ASK, now=NOW)
    with pytest.raises(ProtocolFault, match=reason):
        connection.receive(data, now=0)


def test_an_answer_to_nothing_ends_the_connection():
    with pytest.raises(ProtocolFault, match="nobody asked"):
        ready().receive(answer(1), now=0)


@pytest.mark.parametrize(
    ("ask", "version"),
    [
        (ASK, 5),
        (Ask("any", "Metadata", {}, versions=(0, 2)), 2),
        (Ask("any", "Metadata", {}, versions=(6, 9)), None),
        (Ask("any", "Metadata", {}, versions=(0, 0)), None),
        (Ask("any", "Fetch", {}), None),
    ],
)
def test_the_version_is_the_highest_of_all_sides(ask, version):
    connection = ready()
    if version is None:
        with pytest.raises(Unsupported):
            connection.version_of(ask)
    else:
        assert connection.version_of(ask) == version


def test_an_impossible_ask_that_waited_is_handed_back():
    connection = Connection("c", now=NOW)
    connection.ask("a", Ask("any", "Fetch", {}), now=NOW)
    connection.ask("b", ASK, now=NOW)
    replies, impossible = welcome(connection, by_name("ApiVersions").latest)
    assert [ticket for ticket, _ in impossible] == ["a"] and not replies
    assert connection.receive(answer(1), now=0)[0][0].ticket == "b"


def test_a_body_may_depend_on_the_version():
    connection = ready()
    connection.ask("a", Ask("any", "Metadata", lambda version: {"topics": None}), now=NOW)
    assert heads(connection) == [(METADATA, 5, 1)]


def test_nothing_is_awaited_for_acks_0():
    connection = ready()
    body = {"acks": 0, "timeout_ms": 1, "topic_data": []}
    (reply,) = connection.ask("p", Ask(0, "Produce", body, answer=False), now=NOW)
    assert (reply.ticket, reply.body) == ("p", None)
    connection.ask("a", ASK, now=NOW)
    assert connection.receive(answer(2), now=0)[0][0].ticket == "a"


def test_the_oldest_request_decides_when_a_broker_is_too_slow():
    connection = ready()
    assert connection.deadline() is None
    connection.ask("a", Ask("any", "Metadata", {"topics": None}, timeout_ms=100), now=NOW)
    connection.ask("b", ASK, now=NOW)
    assert connection.deadline() == NOW + 100
    assert not connection.expired(NOW + 99) and connection.expired(NOW + 100)
    assert connection.abandon() == [("a", True), ("b", True)]
    assert connection.deadline() is None


def test_what_was_never_sent_is_known_when_a_connection_ends():
    connection = Connection("c", now=NOW)
    connection.ask("a", ASK, now=NOW)
    assert connection.abandon() == [("a", False)]
