"""Each oracle passes a good peer and is tripped by a liar of its own: its canary."""

from __future__ import annotations

import random
import struct
from dataclasses import replace

import pytest

from touchstone.fuzz import unknown_errors
from touchstone.fuzz.generator import Generator, Pair
from touchstone.fuzz.oracles import ORACLES, SentFrame
from touchstone.fuzz.outcome import CLOSED, GARBLED, KEPT, RESET, SILENT, Outcome, signature
from touchstone.fuzz.segments import frames_in, may_wait
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import decode_request, encode_request, encode_response
from touchstone.reference_impl.wire.records import build

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


def joining(version: int, **named) -> bytes:
    body = {
        "group_id": "g", "member_id": "", "session_timeout_ms": 6000, "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": b""}],
    }  # fmt: skip
    return wire_of(11, version, body | named)


def described_offsets(partition: int) -> bytes:
    topics = [{"topic_name": "t", "partitions": [partition]}]
    return wire_of(90, 0, {"groups": [{"group_id": "g", "topics": topics}]})


def syncing(**named) -> bytes:
    return wire_of(14, 2, {"group_id": "g", "member_id": "m", "generation_id": 1} | named)


def carrying(records: bytes) -> SentFrame:
    """A Produce of these records to partition 0."""
    rows = [{"index": 0, "records": records}]
    topics = [{"name": "t", "partition_data": rows}]
    return SentFrame(0, 7, 9, wire_of(0, 7, {"acks": 1, "timeout_ms": 1, "topic_data": topics}))


def acknowledged(code: int) -> Outcome:
    rows = [{"name": "t", "partition_responses": [{"index": 0, "error_code": code}]}]
    return Outcome((encode_response(0, 7, 9, {"responses": rows}),), KEPT)


GOOD_BATCH = build(2, [(b"k", b"v")], 3)
WRONG_CRC = GOOD_BATCH[:17] + bytes([GOOD_BATCH[17] ^ 1]) + GOOD_BATCH[18:]
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
    "refuses_wrong_checksums": (carrying(WRONG_CRC), acknowledged(0)),
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
    answer = encode_response(0, 7, 9, PRODUCED)
    assert ORACLES["knows_its_errors"](carrying(WRONG_CRC), Outcome((answer,), KEPT)) is None


def test_no_request_that_is_as_it_should_be_is_answered_with_unknown_server_error():
    answer = encode_response(0, 7, 9, PRODUCED)
    for records, broken in ((WRONG_CRC, False), (build(2, [(b"k", b"v")]), True)):
        sent = replace(carrying(records), broken=broken)
        assert ORACLES["knows_its_errors"](sent, Outcome((answer,), KEPT))


@pytest.mark.parametrize(("of_all", "of_one"), [(-1, None), (0, -1)])
def test_a_share_session_with_a_deleted_topic_fails_whatever_is_asked(of_all, of_one):
    rows = [] if of_one is None else [{"partition_index": 0, "error_code": of_one}]
    body = {
        "error_code": of_all, "node_endpoints": [],
        "responses": [{"topic_id": bytes(16), "partitions": rows}] if rows else [],
    }  # fmt: skip
    sent = SentFrame(78, 1, 9, b"", broken=False)
    outcome = Outcome((encode_response(78, 1, 9, body),), KEPT)
    assert bool(ORACLES["knows_its_errors"](sent, outcome)) is (of_one is not None)


@pytest.mark.parametrize(
    ("named", "forgiven"),
    [
        ({}, False),
        ({"isolation_level": 2}, True),
        ({"session_id": 5}, True),
        ({"max_bytes": -1}, True),
    ],
)
def test_a_fetch_says_why_it_may_fail(named, forgiven):
    body = {**FETCH, "max_bytes": 1, "topics": [], **named}
    frame = wire_of(1, 11, body)
    found = unknown_errors.is_forgiven(
        1, "responses[*].partitions[*].error_code", decode_request(frame[4:]).body
    )
    assert found is forgiven


def test_a_clause_that_cannot_be_read_is_refused():
    with pytest.raises(ValueError, match="no clause"):
        unknown_errors.clause("records are strange")


def test_every_reviewed_unknown_error_is_a_path_of_an_error_code():
    for (key, path), clauses in unknown_errors.reviewed().items():
        assert path in set(error_paths(API[key].response.fields)), API[key].name
        fields = set(all_paths(API[key].request.fields))
        assert {".".join(one.path) for one in clauses} <= fields, API[key].name


def all_paths(fields, above: str = ""):
    for field in fields:
        yield above + field.name
        yield from all_paths(field.fields, f"{above}{field.name}.")


def error_paths(fields, above: str = ""):
    for field in fields:
        if field.name == "error_code":
            yield above + field.name
        yield from error_paths(field.fields, f"{above}{field.name}{'[*]' * field.is_array}.")


@pytest.mark.parametrize(("records", "code"), [(WRONG_CRC, 2), (GOOD_BATCH, 0), (b"", 0)])
def test_a_batch_is_acknowledged_by_its_checksum(records, code):
    assert ORACLES["refuses_wrong_checksums"](carrying(records), acknowledged(code)) is None


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
        (described_offsets(0), False),
        (described_offsets(2), True),  # of a topic of one partition 4.3.1 never answers that
        (joining(2), True),
        (joining(5), False),  # it is told its id at once
        (joining(5, member_id="m"), True),
        (joining(5, group_instance_id="i"), True),
        (joining(2, protocols=[]), False),
        (joining(2, protocol_type=""), False),
        (joining(2, group_id=""), False),
        (joining(2, session_timeout_ms=0), False),
        (syncing(), True),
        (syncing(member_id=""), False),
        (syncing(generation_id=-1), False),
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
