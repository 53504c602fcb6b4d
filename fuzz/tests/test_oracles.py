"""Each oracle passes a good peer and is tripped by a liar of its own: its canary."""

from __future__ import annotations

import random
import struct

import pytest

from touchstone.fuzz.generator import Generator, Pair
from touchstone.fuzz.oracles import ORACLES, SentFrame, reviewed_unknown_errors
from touchstone.fuzz.outcome import CLOSED, GARBLED, KEPT, RESET, SILENT, Outcome, signature
from touchstone.fuzz.segments import frames_in, may_wait
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import encode_request, encode_response

METADATA = Generator([Pair(3, 4)], random.Random(1)).frame(9)[1]
SENT = SentFrame(3, 4, 9, METADATA)
GOOD = encode_response(3, 4, 9, {"brokers": [], "topics": [], "controller_id": 0})
PRODUCED = {"responses": [{"name": "t", "partition_responses": [{"index": 0, "error_code": -1}]}]}


def wire_of(key: int, version: int, body: dict) -> bytes:
    frame = encode_request(key, version, 9, None, body)
    return struct.pack(">i", len(frame)) + frame


FETCH = {"max_wait_ms": 60000, "min_bytes": 1, "topics": []}
TOPIC = {"resource_type": 2, "resource_name": "t", "configs": []}


def produced(records: bytes | None) -> bytes:
    """A Produce without an answer, of these records; no Kafka from 3.9 on ends it when null."""
    rows = [{"index": 0, "records": records}]
    return wire_of(
        0, 7, {"acks": 0, "timeout_ms": 1, "topic_data": [{"name": "t", "partition_data": rows}]}
    )


def markers(*partitions: list[int]) -> bytes:
    """A WriteTxnMarkers of one marker for each list of partitions."""
    rows = [
        {"producer_id": 7, "producer_epoch": 0, "transaction_result": True, "coordinator_epoch": 0,
         "topics": [{"name": "t", "partition_indexes": each}]}
        for each in partitions
    ]  # fmt: skip
    return wire_of(27, 1, {"markers": rows})


LIARS = {
    "answers_in_time": (SENT, Outcome((), SILENT)),
    "speaks_frames": (SENT, Outcome((), GARBLED)),
    "correlates": (SENT, Outcome((b"\0\0\0\x0a" + GOOD[4:],), KEPT)),
    "parses": (SENT, Outcome((GOOD + b"?",), KEPT)),
    "knows_its_errors": (
        SentFrame(12, 0, 9, b""),
        Outcome((encode_response(12, 0, 9, {"error_code": -1}),), KEPT),
    ),
    "keeps_the_connection": (SENT, Outcome((), CLOSED)),
    "answers_or_hangs_up": (SENT, Outcome((), KEPT)),
    "answers_nothing_to_acks_0": (SentFrame(0, 7, 9, produced(b"")), Outcome((GOOD,), KEPT)),
}


def test_every_oracle_has_its_liar():
    assert LIARS.keys() == ORACLES.keys()


@pytest.mark.parametrize("name", ORACLES)
def test_an_oracle_is_silent_about_a_good_answer(name):
    assert ORACLES[name](SENT, Outcome((GOOD,), KEPT)) is None


@pytest.mark.parametrize("name", ORACLES)
def test_an_oracle_is_tripped_by_its_liar(name):
    assert ORACLES[name](*LIARS[name])


@pytest.mark.parametrize("name", ["answers_in_time", "keeps_the_connection"])
def test_a_request_that_may_wait_may_be_met_with_silence(name):
    sent = SentFrame(1, 4, 9, wire_of(1, 4, FETCH))
    assert ORACLES[name](sent, Outcome((), SILENT)) is None


@pytest.mark.parametrize(
    "outcome", [Outcome((), CLOSED), Outcome((), SILENT), Outcome((GOOD,), KEPT)]
)
def test_a_request_that_ends_its_connection_is_not_passed_over(outcome):
    assert ORACLES["answers_or_hangs_up"](SENT, outcome) is None


def test_what_kafka_answers_with_unknown_server_error_is_no_complaint():
    answer = encode_response(0, 3, 9, PRODUCED)
    assert ORACLES["knows_its_errors"](SentFrame(0, 3, 9, b""), Outcome((answer,), KEPT)) is None


def test_every_reviewed_unknown_error_is_a_path_of_an_error_code():
    for key, paths in reviewed_unknown_errors().items():
        there = set(error_paths(API[key].response.fields))
        assert paths <= there, API[key].name


def error_paths(fields, above: str = ""):
    for field in fields:
        if field.name == "error_code":
            yield above + field.name
        yield from error_paths(field.fields, f"{above}{field.name}{'[*]' * field.is_array}.")


def test_a_produce_that_wants_no_answer_may_be_met_with_none():
    sent = SentFrame(0, 7, 9, produced(b""))
    assert ORACLES["answers_or_hangs_up"](sent, Outcome((), KEPT)) is None


@pytest.mark.parametrize(("acks", "complains"), [(0, False), (1, True)])
def test_a_produce_without_an_answer_may_be_hung_up_on(acks, complains):
    wire = wire_of(0, 3, {"acks": acks, "timeout_ms": 1, "topic_data": []})
    said = ORACLES["keeps_the_connection"](SentFrame(0, 3, 9, wire), Outcome((), CLOSED))
    assert bool(said) is complains


def test_an_answer_that_is_cut_does_not_parse():
    assert ORACLES["parses"](SENT, Outcome((GOOD[:-1],), KEPT))


def test_an_answer_to_an_unknown_key_does_not_parse():
    assert ORACLES["parses"](SentFrame(999, 0, 9, b""), Outcome((GOOD,), KEPT))


def test_a_refused_api_versions_is_read_as_version_0():
    answer = encode_response(18, 0, 9, {"error_code": 35, "api_keys": []})
    assert signature(18, 99, Outcome((answer,), KEPT)) == "answer(error_code=35) kept"


def test_a_reset_and_a_close_are_one_behaviour():
    assert signature(3, 4, Outcome((), RESET)) == signature(3, 4, Outcome((), CLOSED))


@pytest.mark.parametrize(
    ("wire", "frames", "whole"),
    [
        (b"", [], True),
        (b"\0\0\0\1x", [b"x"], True),
        (b"\0\0\0\1x\0\0\0\2yz", [b"x", b"yz"], True),
        (b"\0\0\0\2x", [], False),
        (b"\0\0\0\1x\0\0", [b"x"], False),
        (b"\xff\xff\xff\xff", [], False),
        (struct.pack(">i", 104857601), [], False),
    ],
)
def test_frames_in(wire, frames, whole):
    assert frames_in(wire) == (frames, whole)


@pytest.mark.parametrize(
    ("wire", "waits"),
    [
        (wire_of(1, 4, FETCH), True),
        (wire_of(1, 4, {**FETCH, "max_wait_ms": 10}), False),
        (METADATA + wire_of(1, 4, FETCH), True),
        (wire_of(11, 2, {"group_id": "g", "protocols": []}), True),
        (wire_of(33, 1, {"resources": [TOPIC, TOPIC], "validate_only": True}), True),
        (wire_of(33, 1, {"resources": [TOPIC], "validate_only": True}), False),
        (produced(None), True),
        (wire_of(9, 8, {"groups": []}), True),
        (wire_of(9, 8, {"groups": [{"group_id": "g", "topics": None}]}), False),
        (wire_of(24, 4, {"transactions": []}), True),
        (wire_of(24, 3, {"v3_and_below_transactional_id": "t"}), False),
        (markers([0, 0]), True),
        (markers([0], []), True),
        (markers([0, 1], [0]), False),
        (produced(b""), False),
        (METADATA, False),
        (b"\0\0\0\2\0\1", False),
    ],
)
def test_may_wait(wire, waits):
    assert may_wait(wire) is waits
