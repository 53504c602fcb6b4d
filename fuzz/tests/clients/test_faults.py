"""An answer is spoiled as its fault says, on its turn only, and is honest before and after."""

from __future__ import annotations

import random

import pytest

from touchstone.fuzz.clients.faults import (
    GO_ON,
    ONLY_FOR,
    WAYS,
    Fault,
    Spoiler,
    askable,
    cap,
    drawn,
)
from touchstone.fuzz.clients.session import KEYS
from touchstone.fuzz.generator import Generator, Pair
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import API_VERSIONS, decode_response, encode_response

OWN_PORT, PORT = 40_000, 9092
SEED = 3
PAIRS = askable(KEYS, {key: (API[key].versions[0], API[key].versions[-1]) for key in API})


def answer(key: int, version: int, number: int = 0) -> bytes:
    return Generator([], random.Random(f"{SEED}/{number}")).response_to(Pair(key, version), 7)


def metadata(port: int = PORT) -> bytes:
    broker = {"node_id": 0, "host": "127.0.0.1", "port": port, "rack": None}
    body = {"brokers": [broker], "cluster_id": None, "controller_id": 0, "topics": []}
    frame = encode_response(3, 5, 7, body)
    return len(frame).to_bytes(4, "big") + frame


def test_every_brokers_address_becomes_the_proxys():
    wire, then = Spoiler(None).answer(3, 5, metadata(), OWN_PORT)
    brokers = decode_response(3, 5, wire[4:]).body["brokers"]
    assert ([broker["port"] for broker in brokers], then) == ([OWN_PORT], GO_ON)


def test_only_the_answers_of_the_fault_are_spoiled():
    spoiler = Spoiler(Fault(3, None, 2, 2, "other_correlation", "s"))
    sent = [spoiler.answer(3, 5, metadata(), PORT)[0] != metadata() for _ in range(5)]
    other = spoiler.answer(10, 0, answer(10, 0), PORT)
    assert sent == [False, True, True, False, False]
    assert (other[1], spoiler.fired, spoiler.over) == (GO_ON, 2, True)


def test_a_version_is_capped_where_the_broker_offers_more():
    rows = [{"api_key": 3, "min_version": 0, "max_version": 12},
            {"api_key": 1, "min_version": 4, "max_version": 17}]  # fmt: skip
    frame = encode_response(18, 0, 7, {"error_code": 0, "api_keys": rows})
    wire = len(frame).to_bytes(4, "big") + frame
    for key, version, most in ((3, 4, {3: 4, 1: 17}), (1, 2, {3: 12, 1: 17})):
        spoiler = Spoiler(Fault(key, version, 1, 1, "cut", "s"))
        body = decode_response(18, 0, spoiler.answer(18, 0, wire, OWN_PORT)[0][4:]).body
        assert {row["api_key"]: row["max_version"] for row in body["api_keys"]} == most


def test_behind_the_first_handshake_tokens_are_no_requests():
    rows = [{"api_key": key, "min_version": 0, "max_version": 1} for key in (17, 36)]
    offered = {"api_keys": rows}
    cap(offered, Fault(17, 0, 1, 1, "cut", "s"))
    assert offered == {"api_keys": [{"api_key": 17, "min_version": 0, "max_version": 0}]}


def test_half_of_the_faults_are_in_what_only_these_answers_have():
    ways = [drawn(5, index, [Pair(1, 4)]).way for index in range(1000)]
    assert 400 < sum(ONLY_FOR.get(way) == (1,) for way in ways) < 600


def test_a_case_descends_from_seed_and_index_alone():
    first = [drawn(5, index, PAIRS) for index in range(50)]
    assert first == [drawn(5, index, PAIRS) for index in range(50)]
    assert first != [drawn(6, index, PAIRS) for index in range(50)]


def test_the_first_turn_comes_to_every_pair():
    cases = [drawn(5, index, PAIRS) for index in range(len(PAIRS))]
    assert {(case.key, case.version) for case in cases} == {
        (pair.key, None if pair.key == API_VERSIONS else pair.version) for pair in PAIRS
    }
    assert {case.nth for case in cases} == {1}


def test_a_client_is_made_to_ask_what_is_served():
    pairs = askable((0, 18, 22), {0: (3, 5), 1: (4, 17), 18: (0, 4)})
    assert pairs == [Pair(0, 3), Pair(0, 4), Pair(0, 5), Pair(18, 4)]


def test_a_spoiler_tells_the_versions_that_were_asked_for():
    spoiler = Spoiler(Fault(3, None, 1, 1, "cut", "s"))
    spoiler.answer(3, 5, metadata(), OWN_PORT)
    spoiler.answer(10, 0, answer(10, 0), OWN_PORT)
    assert spoiler.asked == {Pair(3, 5)}


def test_cases_come_to_nearly_every_way():
    cases = [drawn(5, index, PAIRS) for index in range(3000)]
    assert WAYS.keys() - {case.way for case in cases} <= {"telemetry_payload", "message_field"}


@pytest.mark.parametrize("way", sorted(WAYS.keys() - {"telemetry_payload", "message_field"}))
def test_each_way_spoils_answers(way):
    keys = [key for key in KEYS if key in (1, 11, 14, 3, 36)]
    changed = 0
    for number in range(120):
        key = keys[number % len(keys)]
        version = API[key].versions[-1]
        wire = answer(key, version, number)
        spoiled, _ = WAYS[way](key, version, wire, random.Random(f"{SEED}/spoiled/{number}"))
        changed += spoiled != wire
    assert changed >= 10


def test_the_same_case_spoils_the_same_bytes():
    fault = Fault(3, None, 1, 1, "field_edge", "seed")
    assert Spoiler(fault).answer(3, 5, metadata(), OWN_PORT) == Spoiler(fault).answer(
        3, 5, metadata(), OWN_PORT
    )


@pytest.mark.parametrize(
    ("key", "way", "misleads"),
    [(14, "another_message", True), (14, "cut", False), (3, "another_message", False)],
)
def test_a_well_formed_lie_about_an_assignment_misleads(key, way, misleads):
    spoiler = Spoiler(Fault(key, None, 1, 1, way, "s"))
    spoiler.answer(key, 4, answer(key, 4), OWN_PORT)
    assert spoiler.misleads is misleads


def test_a_fault_that_is_ended_spoils_no_more():
    spoiler = Spoiler(Fault(3, None, 1, 5, "other_correlation", "s"))
    spoiler.answer(3, 5, metadata(), PORT)
    spoiler.end()
    assert (spoiler.answer(3, 5, metadata(), PORT)[0], spoiler.over) == (metadata(), True)
