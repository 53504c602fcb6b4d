"""The broker without sockets answers as the one behind them, and time costs nothing."""

from __future__ import annotations

import itertools

import pytest

from touchstone.fuzz.campaign import campaigns, planned_cases, run
from touchstone.fuzz.corpus_run import create_topics
from touchstone.fuzz.engine import Engine
from touchstone.fuzz.generator import TOPICS, Generator, harmless, pairs_of
from touchstone.fuzz.in_process import CONFIG, InProcess, OneByOne
from touchstone.fuzz.outcome import CLOSED, KEPT, SILENT, signature
from touchstone.fuzz.runner import Link
from touchstone.fuzz.segments import may_wait
from touchstone.fuzz.triage import framed
from touchstone.harness.model import advertised
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire.headers import decode_response, encode_request

TABLE = advertised.table("4.3")
PAIRS = harmless(pairs_of({key: advertised.served("4.3", key, TABLE) for key in TABLE}))


def request(key: int, version: int, body: dict) -> bytes:
    return framed(encode_request(key, version, 9, "fuzz", body))


METADATA = request(3, 1, {"topics": None})
FETCH = {
    "replica_id": -1, "max_wait_ms": 60_000, "min_bytes": 1, "max_bytes": 1000,
    "isolation_level": 0,
    "topics": [
        {
            "topic": TOPICS[0],
            "partitions": [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1000}],
        }
    ],
}  # fmt: skip


@pytest.fixture
def link() -> InProcess:
    made = InProcess()
    create_topics(made, dict.fromkeys(TOPICS, False))
    return made


@pytest.mark.parametrize(
    ("wire", "end", "answers"),
    [
        (METADATA, KEPT, 1),
        (METADATA * 3, KEPT, 3),
        (METADATA + METADATA[:9], CLOSED, 1),
        (b"\xff\xff\xff\xff", CLOSED, 0),
        (framed((999).to_bytes(2, "big") + bytes(10)), CLOSED, 0),
        (request(1, 4, FETCH), SILENT, 0),
    ],
)
def test_how_a_case_ends(link, wire, end, answers):
    outcome = link.play([wire], may_wait=True)
    assert (outcome.end, len(outcome.answers)) == (end, answers)


def test_a_connection_that_ended_is_replaced(link):
    link.play([b"\xff\xff\xff\xff"])
    assert link.play([METADATA]).end == KEPT


def test_a_renewed_broker_has_nothing(link):
    link.renew()
    answer = link.play([METADATA]).answers[0]
    assert decode_response(3, 1, answer).body["topics"] == []


def test_a_planted_defect_is_there(link):
    produce = request(
        0, 3, {"transactional_id": None, "acks": 0, "timeout_ms": 1, "topic_data": []}
    )
    planted = InProcess(switches=["acks-zero-answered"])
    assert [len(one.play([produce]).answers) for one in (link, planted)] == [0, 1]


@pytest.mark.slow
def test_the_same_cases_have_the_same_outcomes_over_sockets(link):
    cases = list(
        itertools.islice(
            planned_cases(campaigns()["frames"], lambda draw: Generator(PAIRS, draw), 5), 1500
        )
    )

    def settle() -> None:
        """The loop has come round: what was sent before is done."""
        for _ in range(4):
            cluster.server.call(lambda now: None).result(60)

    # Records of made up timestamps are past their retention. Only on a slow machine do five minutes
    # pass over sockets; in process none does.
    kept = CONFIG | {"log.retention.check.interval.ms": str(24 * 3_600_000)}
    with serve(release="4.3", config=kept) as cluster:
        host, _, port = cluster.bootstrap[0].rpartition(":")
        how = {"connections": 1, "depth": 1, "settle": settle}
        with Link(host, int(port)) as other, Engine(other.address, **how) as one:
            create_topics(other, dict.fromkeys(TOPICS, False))
            sockets = [
                signature(case.sent.key, case.sent.version, outcome)
                for case, outcome in one.play(cases)
            ]
    here = [
        signature(case.sent.key, case.sent.version, outcome)
        for case, outcome in OneByOne(link).play(cases)
    ]
    different = [
        (case.index, case.sent.key, a, b)
        for case, a, b in zip(cases, here, sockets, strict=True)
        if a != b and not may_wait(case.sent.wire)
    ]
    assert different == []


@pytest.mark.slow
def test_equal_seeds_have_equal_outcomes():
    def shown() -> dict[str, int]:
        link = InProcess()
        return run(
            campaigns()["frames"], link, lambda draw: Generator(PAIRS, draw), seed=4,
            wanted=lambda so_far: so_far.cases < 300, player=OneByOne(link),
        ).signatures  # fmt: skip

    assert shown() == shown()


def test_an_exception_that_leaves_the_broker_is_a_finding(link, monkeypatch):
    def raises(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(link.broker, "receive", raises)
    result = run(
        campaigns()["valid"], link, lambda draw: Generator(PAIRS, draw), seed=4,
        wanted=lambda so_far: so_far.cases < 5, player=OneByOne(link),
    )  # fmt: skip
    assert [(one.oracle, one.index) for one in result.findings[:2]] == [
        ("keeps_the_connection", 0), ("lets_nothing_escape", 0),
    ]  # fmt: skip
    assert {one.index for one in result.findings} == {0}
