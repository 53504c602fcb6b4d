"""Answers that are never read are counted, and a Fetch reads less while there are many."""

from __future__ import annotations

import contextlib

import pytest

from touchstone.reference_impl.broker.data import answer_memory
from touchstone.reference_impl.broker.data.answer_memory import AnswerMemory
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.broker.one_broker import NOW
from touchstone.reference_impl.tests.io.test_serving import Peer, append, inside, reading, topic
from touchstone.reference_impl.wire.records import build

PRODUCE, FETCH, API_VERSIONS = 0, 1, 18
SIZE, COUNT, READERS = 900_000, 12, 6


@pytest.fixture(scope="module")
def cluster():
    with serve() as running:
        topic(running, "t")
        with Peer(running.bootstrap[0]) as peer:
            for _ in range(COUNT):
                peer.ask(PRODUCE, 9, append(build(2, [b"x" * SIZE], timestamp=NOW)))
        yield running


def in_flight(running) -> int:
    return inside(running, lambda: running.brokers[0].room(AnswerMemory).in_flight)


def test_who_never_reads_makes_the_answers_of_others_small(cluster, monkeypatch):
    monkeypatch.setattr(answer_memory, "MOST", 3 * SIZE)
    whole = COUNT * SIZE
    with contextlib.ExitStack() as stack:
        readers = [stack.enter_context(Peer(cluster.bootstrap[0])) for _ in range(READERS)]
        for each in readers:
            each.send(FETCH, 11, 1, reading("t", wait=0, most=1 << 24))
            with Peer(cluster.bootstrap[0]) as other:  # it is served by now
                assert other.ask(API_VERSIONS, 0, {})["error_code"] == 0
        assert in_flight(cluster) < 2 * whole
        sizes = [len(each.frame() or b"") for each in readers]
        assert max(sizes) > whole
        assert min(sizes) < 2 * SIZE  # and yet a whole batch
        assert in_flight(cluster) == 0
        assert len(readers[0].ask(FETCH, 11, reading("t", wait=0, most=1 << 24))) > 0


def test_who_leaves_without_reading_gives_the_bytes_back(cluster):
    with Peer(cluster.bootstrap[0]) as reader:
        reader.send(FETCH, 11, 1, reading("t", wait=0, most=1 << 24))
        with Peer(cluster.bootstrap[0]) as other:
            other.ask(API_VERSIONS, 0, {})
        assert in_flight(cluster) > 0
        inside(cluster, lambda: [
            cluster.server._close(each, "left") for each in [*cluster.server._channels]
            if each.outbox
        ])  # fmt: skip
        assert in_flight(cluster) == 0


def test_what_is_sent_is_counted_to_the_last_byte(cluster):
    with Peer(cluster.bootstrap[0]) as reader:
        for number in range(3):
            reader.send(FETCH, 11, number, reading("t", wait=0, most=1 << 24))
        assert all(len(reader.frame() or b"") > COUNT * SIZE for _ in range(3))
    assert in_flight(cluster) == 0
