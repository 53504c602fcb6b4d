"""The broker's core without sockets: what is answered, what is closed, what never happens."""

from __future__ import annotations

import logging
import struct

import pytest

from touchstone.reference_impl.broker import registry
from touchstone.reference_impl.broker.configs import config_view
from touchstone.reference_impl.broker.effects import Close, Reply, Wait
from touchstone.reference_impl.broker.personas import PERSONAS
from touchstone.reference_impl.tests.broker.one_broker import CLOSED, OneBroker, batch
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.headers import decode_response, encode_request

LIST_OFFSETS, METADATA, API_VERSIONS, INIT_PRODUCER_ID = 2, 3, 18, 22


def header(key: int, version: int, client: bytes = b"\xff\xff") -> bytes:
    return struct.pack(">hhi", key, version, 7) + client


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\0\3\0\0",
        header(999, 0),
        header(-1, 0),
        header(METADATA, 99),
        header(METADATA, -1),
        header(METADATA, 0, b"\0\x50x"),
        header(METADATA, 0) + b"\x7f\xff\xff\xff",
        header(METADATA, 0) + b"\0\0",
    ],
    ids=[
        "empty",
        "short",
        "unknown key",
        "negative key",
        "newer",
        "negative version",
        "client id cut",
        "array too long",
        "body cut",
    ],
)
def test_what_cannot_be_named_closes_the_connection(frame):
    (effect,) = OneBroker().send(frame)
    assert isinstance(effect, Close)


@pytest.mark.parametrize("release", PERSONAS)
@pytest.mark.parametrize("version", [99, -1])
def test_an_unknown_api_versions_is_answered_in_version_0(release, version):
    tags = b"\0" if release > "2.4" and version > 0 else b""
    (effect,) = OneBroker(release).send(header(API_VERSIONS, version) + tags)
    body = decode_response(API_VERSIONS, 0, b"".join(effect.parts)).body
    assert body["error_code"] == 35
    assert len(body["api_keys"]) == (release > "2.4")


def test_trailing_bytes_after_the_body_are_not_looked_at():
    broker = OneBroker()
    broker.topic()
    frame = encode_request(METADATA, 1, 7, "x", {"topics": []}) + b"\1\2\3"
    assert isinstance(broker.send(frame)[0], Reply)


@pytest.mark.parametrize("release", PERSONAS)
def test_an_answer_whose_message_has_no_bytes_is_an_unknown_server_error(release):
    """The refusal quotes the name and is over 32,767 bytes, which is all that a string may have."""
    name = "n" * 32_767
    resource = {"resource_type": 4, "resource_name": name, "configuration_keys": None}
    answer = OneBroker(release).ask(
        "DescribeConfigs", int(release > "2"), {"resources": [resource]}
    )
    (result,) = answer["results"]
    assert result["error_code"] == -1
    assert result["resource_name"] == name


@pytest.mark.parametrize("release", PERSONAS)
def test_a_resource_named_again_is_described_once(release, monkeypatch):
    described = []
    real = config_view.broker_entries
    monkeypatch.setattr(
        config_view, "broker_entries", lambda node: described.append(1) or real(node)
    )
    rows = [{"resource_type": 4, "resource_name": "0", "configuration_keys": None}] * 500
    answer = OneBroker(release).ask("DescribeConfigs", int(release > "2"), {"resources": rows})
    assert len(described) == 1
    assert len(answer["results"]) == (500 if release >= "2.8" else 1)
    assert all(result == answer["results"][0] for result in answer["results"])


@pytest.mark.parametrize("release", ["3.9", "4.3"])
def test_no_coordinator_is_available_where_no_broker_is_registered(release):
    broker = OneBroker(release)
    broker.ask("UnregisterBroker", 0, {"broker_id": 0})
    answer = broker.ask("FindCoordinator", 0, {"key": "g"})
    assert answer["error_code"] == 15


def test_versions_that_are_listed_but_refused_close():
    broker = OneBroker("4.3")
    broker.topic()
    assert broker.produce(batch(), version=2) == CLOSED
    assert OneBroker("3.9").produce(batch(), version=2)["error_code"] == 3


def test_a_planted_defect_answers_an_unknown_version():
    broker = OneBroker(switches=["unknown-version-answered"])
    body = {"topics": [], "allow_auto_topic_creation": False}
    frame = encode_request(METADATA, 13, 7, "x", body)
    frame = frame[:2] + struct.pack(">h", 99) + frame[4:]
    assert isinstance(broker.send(frame)[0], Reply)
    assert isinstance(OneBroker().send(frame)[0], Close)


@pytest.mark.parametrize(
    ("api", "version", "body", "path"),
    [
        ("InitProducerId", 4, {"transactional_id": None}, lambda answer: answer["error_code"]),
        (
            "ListOffsets",
            5,
            {"topics": [{"name": "t", "partitions": [{"partition_index": 0, "timestamp": -1}]}]},
            lambda answer: answer["topics"][0]["partitions"][0]["error_code"],
        ),
    ],
)
def test_an_exception_in_a_handler_is_the_requests_own_error(
    monkeypatch, caplog, api, version, body, path
):
    broker = OneBroker()

    def broken(*_):
        raise ZeroDivisionError("planted")

    for key in (LIST_OFFSETS, INIT_PRODUCER_ID):
        broker.brokers[0].handler(key)  # so that it knows what the real one takes
        monkeypatch.setattr(registry.handler(key), "handle", broken)
    with caplog.at_level(logging.CRITICAL, "touchstone.broker"):
        assert path(broker.ask(api, version, body)) == -1
    monkeypatch.undo()
    assert broker.ask("InitProducerId", 4, {"transactional_id": None})["error_code"] == 0


def test_a_wait_that_breaks_is_answered_once(monkeypatch, caplog):
    broker = OneBroker()

    def handle(request, *services):
        now = services[-1]
        return Wait(now + 10, ["key"], lambda _: 1 / 0, lambda _: {"error_code": 0})

    broker.brokers[0].handler(INIT_PRODUCER_ID)
    monkeypatch.setattr(registry.handler(INIT_PRODUCER_ID), "handle", handle)
    assert broker.ask("InitProducerId", 4, {"transactional_id": None}) == "waiting"
    core = broker.brokers[0]
    core.purgatory.touch("key")
    with caplog.at_level(logging.CRITICAL, "touchstone.broker"):
        (effect,) = core.tick(broker.now)
    assert OneBroker.read([effect], "InitProducerId", 4)["error_code"] == -1
    assert core.tick(broker.now + 99) == []
    assert core.deadline() is None


def test_two_brokers_give_different_producer_ids():
    both = OneBroker(brokers=2)
    ids = [
        both.ask("InitProducerId", 4, {"transactional_id": None}, broker=i % 2)["producer_id"]
        for i in range(6)
    ]
    assert len(set(ids)) == 6


def test_what_is_logged_of_a_request_has_a_limit(caplog):
    """Nested parentheses were a traceback of a thousand lines, 150 KB a request."""
    broker = OneBroker("4.3")
    broker.topic("__transaction_state")
    body = {"state_filters": [], "producer_id_filters": [], "duration_filter": -1}
    nested = "(" * 15_000 + ")" * 15_000
    answer = broker.ask("ListTransactions", 2, body | {"transactional_id_pattern": nested})
    assert answer["error_code"] == -1
    assert len(caplog.text) < 10_000


@pytest.mark.parametrize(
    ("pattern", "code", "count"),
    [
        ("(a+)+b", 0, 0),
        ("(a|aa)+", 0, 1),
        (r"\pL+", 0, 1),
        ("(?=a)a+", ErrorCode.INVALID_REGULAR_EXPRESSION, None),
        (r"(a)\1*", ErrorCode.INVALID_REGULAR_EXPRESSION, None),
    ],
)
def test_transactional_ids_are_matched_in_linear_time(pattern, code, count):
    """`re` would take 2**60 steps for the first; whoever may list transactions sends it."""
    broker = OneBroker("4.3")
    broker.topic("__transaction_state")
    init = {"transactional_id": "a" * 60, "transaction_timeout_ms": 60_000}
    assert broker.ask("InitProducerId", 4, init)["error_code"] == 0
    body = {"state_filters": [], "producer_id_filters": [], "duration_filter": -1}
    answer = broker.ask("ListTransactions", 2, body | {"transactional_id_pattern": pattern})
    assert answer["error_code"] == code
    if count is not None:
        assert len(answer["transaction_states"]) == count


@pytest.mark.parametrize(
    ("api", "asked", "more", "field"),
    [
        ("DescribeConfigs", {"configuration_keys": None}, {}, "results"),
        ("AlterConfigs", {"configs": []}, {"validate_only": False}, "responses"),
    ],
    ids=["describe", "alter"],
)
@pytest.mark.parametrize(("release", "kind", "closes"), [
    ("1.0", -1, True), ("1.0", 1, False), ("1.0", 3, False), ("2.2", -1, False), ("2.8", -1, False),
])  # fmt: skip
def test_a_type_of_resource_without_settings_is_refused(
    api, asked, more, field, release, kind, closes
):
    """1.0.2 closes the connection on a negative one; so seen on 1.0.2, 2.2.1, 2.8.2."""
    row = {"resource_type": kind, "resource_name": "t"} | asked
    answer = OneBroker(release).ask(api, 0, {"resources": [row]} | more)
    assert (answer == CLOSED) is closes
    assert closes or answer[field][0]["error_code"] == 42


@pytest.mark.parametrize("release", PERSONAS)
def test_a_marker_of_a_coordinator_before_the_first_is_fenced(release):
    """A partition that knows nothing of the producer has coordinator epoch -1 (KIP-98)."""
    broker = OneBroker(release)
    broker.topic()

    def code(epoch: int) -> int:
        marker = {
            "producer_id": 900 - epoch, "producer_epoch": 1, "transaction_result": False,
            "topics": [{"name": "t", "partition_indexes": [0]}], "coordinator_epoch": epoch,
        }  # fmt: skip
        version = 1 if release == "4.3" else 0
        answer = broker.ask("WriteTxnMarkers", version, {"markers": [marker]})
        return answer["markers"][0]["topics"][0]["partitions"][0]["error_code"]

    assert [code(epoch) for epoch in (-2, -1, 0)] == [52, 0, 0]


@pytest.mark.parametrize("release", ["2.2", "2.8", "3.9", "4.3"])
def test_an_epoch_below_none_is_an_older_one_but_to_fetch(release):
    """Seen on 2.2.1, 2.8.2, 3.9.2 and 4.3.1; Fetch takes it for none since 2.8."""
    broker = OneBroker(release)
    broker.topic()
    row = {"partition": 0, "current_leader_epoch": -2, "leader_epoch": 0}
    answer = broker.ask(
        "OffsetForLeaderEpoch", 2, {"topics": [{"topic": "t", "partitions": [row]}]}
    )
    assert answer["topics"][0]["partitions"][0]["error_code"] == 74
    row = {"partition_index": 0, "current_leader_epoch": -2, "timestamp": -1}
    body = {"replica_id": -1, "isolation_level": 0}
    answer = broker.ask("ListOffsets", 4, body | {"topics": [{"name": "t", "partitions": [row]}]})
    assert answer["topics"][0]["partitions"][0]["error_code"] == 74
