"""How many connections, for how long: limits, resets of peers that wait, connections never used.

The suite `connections` proves the same on real Kafka; here stands what its scenarios cannot see: a
broker's own table, and peers that break a connection instead of ending it.
"""

from __future__ import annotations

import errno
import logging
import os
import socket
import struct
import threading

import pytest

from touchstone.reference_impl.io import event_loop, portable
from touchstone.reference_impl.io.connection_quotas import ConnectionQuotas
from touchstone.reference_impl.io.event_loop import Server
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.broker.one_broker import OneBroker
from touchstone.reference_impl.tests.io.test_serving import (
    API_VERSIONS,
    FETCH,
    PATIENCE_S,
    Peer,
    reading,
    topic,
)

HOST, OTHER = "10.0.0.1", "10.0.0.2"


def quotas(release="4.3", **config):
    settings = {name.replace("_", "."): value for name, value in config.items()}
    return ConnectionQuotas(OneBroker(release, **settings).brokers[0])


def test_an_address_has_its_own_limit_or_everybodys():
    limits = {
        "max_connections_per_ip": "1",
        "max_connections_per_ip_overrides": f"{OTHER}:2, 10.0.0.3:9",
    }
    made = quotas(**limits)
    for host, most in ((HOST, 1), (OTHER, 2)):
        for _ in range(most):
            assert made.admits(host)
            made.taken(host, "PLAINTEXT")
        assert not made.admits(host)
    made.given_back(HOST, "PLAINTEXT")
    assert made.admits(HOST)


@pytest.mark.parametrize("name", ["max_connections", "listener_name_plaintext_max_connections"])
def test_all_together_have_room_by_release(name):
    for release, room in (("1.0", True), ("2.2", True), ("2.8", False), ("4.3", False)):
        made = quotas(release, **{name: "1"})
        assert made.has_room("PLAINTEXT")
        made.taken(HOST, "PLAINTEXT")
        assert made.has_room("PLAINTEXT") is room, release
        made.given_back(HOST, "PLAINTEXT")
        assert made.has_room("PLAINTEXT")


def test_brokers_of_one_process_count_for_themselves():
    limit = {"max.connections.per.ip": "1"}
    with serve(brokers=2, config=limit) as running:
        for bootstrap in running.bootstrap:
            with Peer(bootstrap) as peer:
                assert peer.ask(API_VERSIONS, 0, {})["error_code"] == 0


def gone(running, *, monkeypatch):
    """An event that is set when the server closes a channel for a broken peer."""
    seen = threading.Event()
    close = running.server._close

    def closing(channel, reason):
        close(channel, reason)
        if reason == "the peer broke the connection":
            seen.set()

    monkeypatch.setattr(running.server, "_close", closing)
    return seen


def test_a_peer_that_breaks_its_connection_while_it_waits_is_let_go(monkeypatch):
    """Its request would wait ten minutes; the bytes behind it would never be read."""
    monkeypatch.setattr(event_loop, "_LOOK_MS", 50)
    with serve() as running:
        topic(running, "t")
        seen = gone(running, monkeypatch=monkeypatch)
        peer = Peer(running.bootstrap[0])
        peer.send(FETCH, 4, 1, reading("t", wait=600_000))
        peer.send(API_VERSIONS, 0, 2, {})
        peer.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.sock.close()
        assert seen.wait(PATIENCE_S)
        assert len(running.brokers[0].purgatory) == 0


def test_a_peer_that_only_ends_its_direction_is_still_answered(monkeypatch):
    monkeypatch.setattr(event_loop, "_LOOK_MS", 50)
    with serve() as running, Peer(running.bootstrap[0]) as peer:
        topic(running, "t")
        peer.send(FETCH, 4, 1, reading("t", wait=200))  # longer than one look at muted peers
        peer.sock.shutdown(socket.SHUT_WR)
        assert peer.frame()[:4] == struct.pack(">i", 1)
        assert peer.frame() is None


def test_who_waits_behind_a_broken_size_keeps_nobody_busy(monkeypatch):
    """What comes after the size is never read, and is there to be read until the answer is out."""
    with serve() as running, Peer(running.bootstrap[0]) as peer:
        topic(running, "t")
        turns, turn = [], running.server._turn
        monkeypatch.setattr(running.server, "_turn", lambda: (turns.append(1), turn()))
        peer.send(FETCH, 4, 1, reading("t", wait=400))
        peer.sock.sendall(struct.pack(">i", -1))
        with Peer(running.bootstrap[0]) as other:
            other.ask(API_VERSIONS, 0, {})  # by then that was read
        peer.sock.sendall(bytes(100))
        before = len(turns)
        assert peer.frame()[:4] == struct.pack(">i", 1)
        assert len(turns) - before < 100, "thousands where the loop looks again at once"


def test_connections_never_used_end_with_the_broker_at_least():
    config = {"connections.max.idle.ms": "40"}
    with serve(release="1.0", config=config) as running, Peer(running.bootstrap[0]) as unused:
        with Peer(running.bootstrap[0]) as used:
            used.ask(API_VERSIONS, 0, {})
            assert used.frame() is None
        assert unused.ask(API_VERSIONS, 0, {})["error_code"] == 0
    with serve(release="1.0") as running:
        unused = Peer(running.bootstrap[0])
        with Peer(running.bootstrap[0]) as used:  # when it is served, the other was accepted
            used.ask(API_VERSIONS, 0, {})
        running.stop()
        assert unused.frame() is None
        unused.sock.close()


class Exhausted(socket.socket):
    """A listener of a process that has no descriptor left while `code` says so."""

    code, tries = 0, 0

    def accept(self):
        if Exhausted.code:
            Exhausted.tries += 1
            raise OSError(Exhausted.code, os.strerror(Exhausted.code))
        return super().accept()


@pytest.fixture
def exhausted(monkeypatch):
    bind = Server.bind

    def bound(host, port):
        listener = Exhausted(fileno=bind(host, port).detach())
        listener.setblocking(False)
        return listener

    monkeypatch.setattr(Server, "bind", staticmethod(bound))
    yield Exhausted
    Exhausted.code = Exhausted.tries = 0


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE])
@pytest.mark.parametrize("ends", ["a connection", "a moment"])
def test_without_descriptors_a_listener_waits_and_says_so_once(
    exhausted, monkeypatch, caplog, ends, code
):
    """It stays readable all the while, so a loop that looked at it would do nothing else."""
    caplog.set_level(logging.WARNING, "touchstone.server")
    look_ms = 500_000 if ends == "a connection" else 200
    monkeypatch.setattr(event_loop, "_LOOK_MS", look_ms)
    with serve() as running, Peer(running.bootstrap[0]) as early:
        early.ask(API_VERSIONS, 0, {})
        exhausted.code = code
        with Peer(running.bootstrap[0]) as late:
            for _ in range(200):  # each is a turn of the loop
                early.ask(API_VERSIONS, 0, {})
            assert 1 <= exhausted.tries < 100
            exhausted.code = 0
            if ends == "a connection":
                early.sock.close()
            assert late.ask(API_VERSIONS, 0, {})["error_code"] == 0
    assert [each.message.partition(":")[0] for each in caplog.records] == [
        "cannot accept until a connection ends"
    ]


def test_some_descriptors_are_kept_for_who_is_connected(monkeypatch, caplog):
    """Without one left, the first request of a kind ended its connection: its module could not be
    loaded.
    """
    caplog.set_level(logging.WARNING, "touchstone.server")
    monkeypatch.setattr(event_loop, "_LOOK_MS", 200)
    with serve() as running, Peer(running.bootstrap[0]) as early:
        early.ask(API_VERSIONS, 0, {})
        acceptor = running.server._acceptor
        acceptor._descriptors = 0
        with Peer(running.bootstrap[0]) as late:
            for _ in range(20):
                early.ask(API_VERSIONS, 0, {})
            assert len(running.server._channels) == 1
            acceptor._descriptors = portable.descriptors()
            assert late.ask(API_VERSIONS, 0, {})["error_code"] == 0
    assert [each.message for each in caplog.records] == [
        "cannot accept until a connection ends: [Errno 24] few descriptors are left"
    ]
