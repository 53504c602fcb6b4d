"""Who asks little is served before all but one of the frames that may take long."""

from __future__ import annotations

import contextlib
import threading

import pytest

from touchstone.reference_impl.io import event_loop
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.io.test_serving import API_VERSIONS, PATIENCE_S, Peer
from touchstone.reference_impl.wire.framing import framed
from touchstone.reference_impl.wire.headers import encode_request

LONG = encode_request(API_VERSIONS, 0, 1, "x" * 30_000, {}) + bytes(event_loop._LONG)
SHORT = encode_request(API_VERSIONS, 0, 2, "short", {})
CANARY = encode_request(API_VERSIONS, 0, 3, "canary", {})
SENDERS, MANY = 4, 200


@pytest.fixture
def order(monkeypatch):
    """A cluster, and the kinds of frames in the order in which its broker gets them."""
    with serve() as cluster:
        broker, seen = cluster.brokers[0], []
        receive = broker.receive

        def received(connection, frame, now):
            long = len(frame) > event_loop._LONG
            seen.append("canary" if frame == CANARY else "long" if long else "short")
            return receive(connection, frame, now)

        monkeypatch.setattr(broker, "receive", received)
        yield cluster, seen


class Held:
    """The loop does nothing until the end of the `with`: what peers send meanwhile is all there."""

    def __init__(self, cluster) -> None:
        self.cluster, self.go, self.there = cluster, threading.Event(), threading.Event()

    def __enter__(self) -> None:
        def wait(now: int) -> None:
            self.there.set()
            self.go.wait(PATIENCE_S)

        self.cluster.server.call(wait)
        self.there.wait(PATIENCE_S)

    def __exit__(self, *_: object) -> None:
        self.go.set()


def test_one_frame_that_may_take_long_in_each_turn(order):
    cluster, seen = order
    with contextlib.ExitStack() as stack:
        canary, *senders = [
            stack.enter_context(Peer(cluster.bootstrap[0])) for _ in range(1 + SENDERS)
        ]
        for each in (canary, *senders):
            each.raw(SHORT)
            assert each.frame()
        seen.clear()
        with Held(cluster):
            for each in senders:
                each.raw(LONG)
                each.raw(SHORT)
            canary.raw(CANARY)
        assert canary.frame()
        assert seen[: seen.index("canary")].count("long") <= 1
        for each in senders:
            assert each.frame()
            assert each.frame()
        assert seen.count("long") == seen.count("short") == SENDERS


def test_a_connection_whose_last_request_took_long_waits_for_its_turn(order, monkeypatch):
    monkeypatch.setattr(event_loop, "_SLOW_S", -1.0)  # each does
    cluster, seen = order
    with Peer(cluster.bootstrap[0]) as peer:
        for _ in range(3):
            peer.raw(SHORT)
            peer.raw(SHORT)
            assert peer.frame()
            assert peer.frame()
    assert len(seen) == 6


def test_many_small_frames_are_served_a_few_in_each_turn(order):
    """Fifty connections that send a read full of them each made everybody wait for six seconds."""
    cluster, seen = order
    with contextlib.ExitStack() as stack:
        canary, *senders = [
            stack.enter_context(Peer(cluster.bootstrap[0])) for _ in range(1 + SENDERS)
        ]
        for each in (canary, *senders):
            each.raw(SHORT)
            assert each.frame()
        seen.clear()
        with Held(cluster):
            for each in senders:
                each.sock.sendall(framed(SHORT) * MANY)
            canary.raw(CANARY)
        assert canary.frame()
        assert seen.index("canary") <= SENDERS * event_loop._FRAMES
        for each in senders:
            for _ in range(MANY):
                assert each.frame()
        assert seen.count("short") == SENDERS * MANY


def test_who_has_had_a_share_waits_for_who_asks_now(order, monkeypatch):
    """However many have frames left, one turn serves at least one of them, and no more than CPU
    for all of them allows.
    """
    cluster, seen = order
    monkeypatch.setattr(event_loop, "_BACKLOG_S", -1)
    monkeypatch.setattr(event_loop, "_SHARE_S", -1)  # the first frame takes all of a share
    with contextlib.ExitStack() as stack:
        canary, *senders = [
            stack.enter_context(Peer(cluster.bootstrap[0])) for _ in range(1 + SENDERS)
        ]
        for each in (canary, *senders):
            each.raw(SHORT)
            assert each.frame()
        with Held(cluster):
            for each in senders:
                each.sock.sendall(framed(SHORT) * MANY)
        seen.clear()
        for _ in range(5):  # each is served in the turn in which it is read
            canary.raw(CANARY)
            assert canary.frame()
        at = [index for index, kind in enumerate(seen) if kind == "canary"]
        assert len(at) == 5
        for each in senders:
            for _ in range(MANY):
                assert each.frame()
        assert seen.count("short") >= SENDERS * (MANY - 1)
