"""The reference broker survives mutated frames: it answers afterwards and has not grown.

The long run is `touchstone fuzz --cases 200000` against `touchstone broker`; this is its slice.
"""

from __future__ import annotations

import logging

import pytest

from touchstone.fuzz.campaign import Result, campaigns, run
from touchstone.fuzz.corpus_run import create_topics
from touchstone.fuzz.generator import TOPICS, Generator, harmless, pairs_of
from touchstone.fuzz.runner import Link
from touchstone.harness.model import advertised
from touchstone.reference_impl.io.server import serve

CASES = 20_000
SEED = 3
ROUNDS = 4  # of the loop: into the one that is under way, through a whole one, and what it left
ROUND_S = 60.0  # a loop that takes longer is dead
CONFIG = {
    "auto.create.topics.enable": "false",
    "log.retention.bytes": "1048576",
    "log.segment.bytes": "1048576",
    "group.initial.rebalance.delay.ms": "0",
}


@pytest.fixture(scope="module")
def survived():
    logging.getLogger("touchstone.broker").setLevel(logging.CRITICAL)
    pairs = harmless(pairs_of(advertised.table("4.3")))
    result = Result("frames")
    with serve(release="4.3", config=CONFIG) as cluster:
        host, _, port = cluster.bootstrap[0].rpartition(":")

        def settle() -> None:
            """The loop has come round: what was sent before is read, done and answered."""
            for _ in range(ROUNDS):
                cluster.server.call(lambda now: None).result(ROUND_S)

        with Link(host, int(port), timeout_s=0.5, settle=settle) as link:
            create_topics(link, dict.fromkeys(TOPICS, False))
            run(
                campaigns()["frames"],
                link,
                lambda draw: Generator(pairs, draw),
                seed=SEED,
                wanted=lambda so_far: so_far.cases < CASES,
                result=result,
            )
            answer = link.ask(18, 0, {})
            channels = len(cluster.server._channels)
    logging.getLogger("touchstone.broker").setLevel(logging.NOTSET)
    return result, answer, channels


@pytest.mark.slow
def test_it_answers_afterwards(survived):
    _, answer, _ = survived
    assert answer["error_code"] == 0


@pytest.mark.slow
def test_every_case_was_played(survived):
    assert survived[0].cases == CASES


@pytest.mark.slow
def test_no_connection_is_left_but_ours_and_those_of_requests_without_an_answer(survived):
    result, _, channels = survived
    unanswered = sum("silent" in shown for shown in result.signatures.elements())
    assert channels <= 1 + unanswered


@pytest.mark.slow
def test_the_cases_reached_more_than_the_front_door(survived):
    assert len(survived[0].signatures) > 300


@pytest.mark.slow
def test_nothing_is_found(survived):
    """What Kafka never answers the personas do not answer either; the oracles know of it."""
    assert [
        (found.oracle, found.signature, found.wire.hex()) for found in survived[0].findings
    ] == []
