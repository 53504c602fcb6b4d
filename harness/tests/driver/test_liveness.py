"""A connection that is kept open tells of the end of a broker, and of nothing else."""

from __future__ import annotations

import contextlib
import select
import socket

import pytest

from touchstone.harness.driver import liveness
from touchstone.harness.driver.liveness import OpenConnection
from touchstone.harness.targets.misbehaviour import HangUp
from touchstone.harness.tests.small_kafka import small_kafka


@pytest.fixture
def kafka():
    with small_kafka() as server:
        yield server


@pytest.fixture
def connection(kafka, monkeypatch):
    monkeypatch.setattr(liveness, "LATE_S", 0.01)  # nobody closes it
    found = OpenConnection(kafka.address)
    yield found
    found.end()


def cut(kafka):
    """End all its connections; it goes on to listen, as if somebody had restarted it."""
    for one in list(kafka.sockets):
        with contextlib.suppress(OSError):  # it is closed already
            one.shutdown(socket.SHUT_RDWR)


def closed(connection):
    """Wait until the connection has been ended by the broker; whether that is the broker's end."""
    connection.wait(30)
    return connection.has_ended()


@pytest.fixture
def aged(monkeypatch):
    """Let the connection's clock go on by so many seconds."""
    now, real = [0.0], liveness.time.perf_counter

    class Clock:
        perf_counter = staticmethod(lambda: real() + now[0])
        sleep = staticmethod(liveness.time.sleep)

    monkeypatch.setattr(liveness, "time", Clock)
    return lambda seconds: now.__setitem__(0, now[0] + seconds)


def test_the_end_of_a_broker_that_is_there_again_is_seen_once(kafka, connection):
    assert connection.use() and not connection.has_ended()
    cut(kafka)
    assert closed(connection)
    assert not connection.has_ended(), "it is forgotten"
    assert connection.use() and not connection.has_ended(), "this is its next life"


def test_the_end_of_a_broker_at_the_first_question_leaves_its_next_life_watched(
    kafka, connection, monkeypatch
):
    reply, asked = kafka._reply, []

    def dies_of_the_first(frame, honest):
        asked.append(frame)
        if len(asked) == 1:
            raise HangUp
        return reply(frame, honest)

    monkeypatch.setattr(kafka, "_reply", dies_of_the_first)
    assert connection.use()
    cut(kafka)
    assert closed(connection)


def test_one_that_closes_after_each_answer_has_not_ended(kafka, connection, monkeypatch):
    """A broker may serve one request a connection."""
    reply = kafka._reply

    def last(frame, honest):
        kafka.sockets[-1].sendall(reply(frame, honest))
        raise HangUp

    monkeypatch.setattr(kafka, "_reply", last)
    monkeypatch.setattr(liveness, "LATE_S", 30.0)  # it is closed long before
    assert connection.use()
    assert not closed(connection)


@pytest.mark.parametrize("data", [b"\xff" * 8, b"\0\0\0\4\0\0\0\7"], ids=["garbage", "a frame"])
def test_bytes_that_nobody_asked_for_are_no_end(kafka, connection, data):
    connection.use()
    kafka.sockets[-1].sendall(data)
    assert not closed(connection)


def test_nobody_listens(kafka, connection):
    kafka.stop()
    assert not connection.use() and not connection.has_ended()


def test_one_that_was_idle_for_long_may_have_been_closed_for_it(kafka, connection, aged):
    connection.use()
    aged(liveness.LONGEST_IDLE_S + 1)
    cut(kafka)
    assert not closed(connection)


def test_idle_connections_are_known_to_be_left_in_peace(kafka, connection, aged):
    """It was seen to outlive as much, so its end is the broker's."""
    connection.use()
    aged(3.0)
    connection.use()
    aged(2.0)
    cut(kafka)
    assert closed(connection)


@pytest.mark.parametrize("reaps", [True, False])
def test_whether_a_broker_closes_what_is_idle_is_tried(kafka, connection, reaps, monkeypatch):
    """By a new connection, of which nothing is asked for as long as the last one was idle."""
    opened = OpenConnection._opened

    def opens(one):
        line = opened(one)
        if reaps:
            cut(kafka)
            select.select([line.socket], (), ())
        return line

    connection.use()
    monkeypatch.setattr(OpenConnection, "_opened", opens)
    cut(kafka)
    assert closed(connection) is not reaps
