"""Bytes of requests in flight have a limit: who waits, who goes on, and who is read when.

The order of the first test was observed on 4.3.1 with the same settings and the same bytes.
"""

from __future__ import annotations

import socket
import struct

import pytest

from touchstone.reference_impl.io.request_memory import RequestMemory
from touchstone.reference_impl.io.server import build, serve
from touchstone.reference_impl.tests.io.test_serving import API_VERSIONS, Peer, inside
from touchstone.reference_impl.wire.headers import encode_request

LIMIT = 1000
LIMITS = {"queued.max.request.bytes": str(LIMIT), "socket.request.max.bytes": str(LIMIT)}
FRAME = encode_request(API_VERSIONS, 0, 1, "x" * 880, {})
WIRE = struct.pack(">i", len(FRAME)) + FRAME
BEGUN = 100


@pytest.fixture
def running():
    with serve(config=LIMITS) as cluster:
        yield cluster


def begun(cluster, bytes_sent=BEGUN):
    """A connection that has sent the beginning of a request, which the broker has read."""
    peer = Peer(cluster.bootstrap[0])
    peer.sock.sendall(WIRE[:bytes_sent])
    name = peer.sock.getsockname()
    until(cluster, lambda at: at.sock.getpeername() == name and at.inbox.pending == bytes_sent)
    return peer


def until(cluster, holds):
    while not inside(cluster, lambda: any(map(holds, [*cluster.server._channels]))):
        pass


def waiting(cluster, peer):
    """Until the loop has seen its bytes and left them."""
    name = peer.sock.getsockname()
    until(cluster, lambda at: not at.events and at.sock.getpeername() == name)


def test_a_request_that_finds_no_byte_free_is_read_when_others_are_answered(running):
    one, two = begun(running), begun(running)  # one more than the limit has room for
    with Peer(running.bootstrap[0]) as three, Peer(running.bootstrap[0]) as four:
        three.sock.sendall(WIRE)
        four.send(API_VERSIONS, 0, 4, {})
        waiting(running, three)
        waiting(running, four)
        two.sock.sendall(WIRE[BEGUN:])
        for each in (two, three, four):
            assert each.frame()
        one.sock.sendall(WIRE[BEGUN:])
        assert one.frame()
    one.sock.close()
    two.sock.close()


def test_who_leaves_in_the_middle_gives_its_bytes_back(running):
    one, two = begun(running), begun(running)
    with Peer(running.bootstrap[0]) as three:
        three.sock.sendall(WIRE)
        waiting(running, three)
        one.sock.shutdown(socket.SHUT_RDWR)
        two.sock.shutdown(socket.SHUT_RDWR)
        assert three.frame()
    one.sock.close()
    two.sock.close()


def test_nothing_stays_counted(running):
    with Peer(running.bootstrap[0]) as peer:
        for _ in range(3):
            peer.sock.sendall(WIRE * 2)
            assert peer.frame()
            assert peer.frame()
        (memory,) = {id(each.memory): each.memory for each in running.server._channels}.values()
        assert inside(running, lambda: memory._free) == LIMIT


def test_a_tenth_is_free_before_others_are_read():
    class Open:
        open = True

    memory, one, two, late = RequestMemory(LIMIT), Open(), Open(), Open()
    assert memory.may_read(one)
    memory.hold(one, 900)
    assert memory.may_read(two)
    memory.hold(two, 900)
    assert not memory.may_read(late)
    assert memory.may_read(one)
    assert memory.hold(two, 100) == []  # none is free
    assert memory.hold(one, 800) == []  # a tenth and no more
    assert memory.hold(one, 799) == [late]


@pytest.mark.parametrize("limit", ["1", "999"])
def test_a_limit_below_one_request_does_not_start(limit):
    with pytest.raises(ValueError, match=r"queued\.max\.request\.bytes must be larger or equal"):
        build(config=LIMITS | {"queued.max.request.bytes": limit})


def test_without_the_setting_nothing_is_counted():
    assert RequestMemory.of({}) is None
    assert RequestMemory.of({"queued.max.request.bytes": "-1"}) is None
