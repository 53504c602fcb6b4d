"""The engine gives each case the outcome that it would have had alone, in order, over any number of
connections.
"""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
from collections import Counter
from collections.abc import Iterator

import pytest

from touchstone.fuzz.campaign import campaigns, generated
from touchstone.fuzz.engine import Engine
from touchstone.fuzz.generator import Generator, Pair
from touchstone.fuzz.lanes import IN_TURN, MOST, SHARED, Flight, Lane, Planned
from touchstone.fuzz.oracles import sent_frame
from touchstone.fuzz.outcome import CLOSED, GARBLED, KEPT, RESET, SILENT
from touchstone.fuzz.runner import PROBE_CORRELATION, ROUNDS
from touchstone.fuzz.segments import may_wait
from touchstone.fuzz.triage import framed
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire.framing import Frames
from touchstone.reference_impl.wire.headers import encode_request

ANSWER, NOTHING, TWICE, CLOSE, HOLD, GARBAGE, OTHER_ID = range(7)
MANY = 300
GIVES_UP_S = 2.0


def for_the_controller(index: int, faults: tuple[str, ...] = ()) -> Planned:
    frame = encode_request(46, 0, index, "fuzz", {"topics": None, "timeout_ms": 0})
    return Planned(index, sent_frame(framed(frame)), faults)


def for_the_share_coordinator(index: int, faults: tuple[str, ...] = ()) -> Planned:
    return Planned(index, sent_frame(framed(encode_request(90, 0, index, "fuzz", {}))), faults)


def planned(index: int, faults: tuple[str, ...] = ()) -> Planned:
    frame = encode_request(3, 1, index, "fuzz", {"topics": None})
    return Planned(index, sent_frame(framed(frame)), faults)


class Peer:
    """Answers in order on each connection, and does with each correlation id what it was told."""

    def __init__(self, told: dict[int, int]) -> None:
        self.told = told
        self.read: Counter[int] = Counter()
        self.connections = 0
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.address = self._listener.getsockname()

    def __enter__(self) -> Peer:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._threads[0].join()
        self._listener.close()
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _start(self, work, *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._open.append(connection)
                self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        frames = Frames()
        with contextlib.suppress(OSError), connection:
            while chunk := connection.recv(65536):
                for frame in frames.feed(chunk):
                    if not self._one(connection, int.from_bytes(frame[4:8], "big")):
                        return

    def _one(self, connection: socket.socket, correlation: int) -> bool:
        answer = framed(correlation.to_bytes(4, "big"))
        if correlation == PROBE_CORRELATION:
            connection.sendall(answer)
            return True
        self.read[correlation] += 1
        told = self.told.get(correlation, ANSWER)
        if told == HOLD:
            while connection.recv(65536):
                pass
        elif told == GARBAGE:
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n")
        elif told == OTHER_ID:
            connection.sendall(framed(b"\x7f\x7f\x7f\x7f"))
        elif told in (ANSWER, TWICE):
            connection.sendall(answer * (1 + (told == TWICE)))
        return told not in (CLOSE, HOLD)


@contextlib.contextmanager
def engine_on(peer: Peer, **how) -> Iterator[Engine]:
    with peer, Engine(peer.address, timeout_s=0.2, **how) as engine:
        yield engine


WAYS = [{}, {"connections": 1}, {"connections": 3, "depth": 50}, {"fresh": True}]


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_outcomes_leave_in_the_order_in_which_cases_came(how):
    peer = Peer(dict.fromkeys(range(0, MANY, 7), CLOSE))
    with engine_on(peer, **how) as engine:
        left = [case.index for case, _ in engine.play(planned(i) for i in range(MANY))]
    assert left == list(range(MANY))


@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize("faults", [(), ("trailing",)], ids=["good", "broken"])
@pytest.mark.parametrize(
    ("told", "end", "answers"),
    [
        (ANSWER, KEPT, 1),
        (NOTHING, KEPT, 0),
        (TWICE, KEPT, 2),
        (CLOSE, CLOSED, 0),
        (GARBAGE, GARBLED, 0),
        (OTHER_ID, KEPT, 1),
    ],
)
def test_each_case_has_the_outcome_that_it_has_alone(how, faults, told, end, answers):
    """The third of every four is special; its neighbours are answered, on the same lane or not."""
    peer = Peer(dict.fromkeys(range(2, 60, 4), told))
    with engine_on(peer, **how) as engine:
        came = list(engine.play(planned(i, faults) for i in range(60)))
    shown = {
        (case.index % 4 == 2, CLOSED if outcome.end == RESET else outcome.end, len(outcome.answers))
        for case, outcome in came
    }
    assert shown == {(True, end, answers), (False, KEPT, 1)}


def test_what_stands_behind_a_case_that_ends_the_lane_was_never_read_and_goes_out_again():
    peer = Peer({3: CLOSE})
    with engine_on(peer, connections=1, depth=20) as engine:
        list(engine.play(planned(i) for i in range(20)))
    assert set(peer.read.values()) == {1}


def test_a_case_that_is_never_answered_is_silent_and_nobody_waits_behind_it():
    peer = Peer({0: HOLD})
    with engine_on(peer, connections=2, depth=1) as engine:
        came = list(engine.play(planned(i) for i in range(50)))
    ends = [outcome.end for _, outcome in came]
    assert (ends, len(peer.read)) == ([SILENT, *[KEPT] * 49], 50)


@pytest.mark.parametrize(("slowest", "until"), [(0.2, 0.8), (60.0, 10.0)])
def test_a_peer_that_is_slow_with_all_is_given_more_time(slowest, until):
    with engine_on(Peer({})) as engine:
        engine._slowest = slowest
        lane = engine._dial(SHARED)
        engine._expect(lane, 0.0)
        engine._late(lane, 0.3)
        assert (lane.deadline, lane.rounds) == (pytest.approx(until), ROUNDS)


def test_what_an_answer_took_is_remembered():
    with engine_on(Peer({})) as engine:
        list(engine.play([planned(0)]))
        assert engine._slowest > 0


class ByTurns(Peer):
    """Answers who asks anew at once, and the cases of connections one after the other: the next one
    when newcomers have been answered twice as often as cases still wait.
    """

    def __init__(self, cases: int) -> None:
        super().__init__({})
        self._turn = threading.Condition()
        self._newcomers, self._left = 0, cases

    def _one(self, connection: socket.socket, correlation: int) -> bool:
        with self._turn:
            if correlation == PROBE_CORRELATION:
                self._newcomers += 1
            else:
                self._turn.wait_for(lambda: self._newcomers >= 2 * self._left, GIVES_UP_S)
                self._newcomers, self._left = 0, self._left - 1
            self._turn.notify_all()
        return super()._one(connection, correlation)


def test_who_waits_for_his_turn_is_not_silent():
    cases = 6
    with engine_on(ByTurns(cases), depth=1, connections=cases) as engine:
        came = list(engine.play(planned(i, ("trailing",)) for i in range(cases)))
    assert [outcome.end for _, outcome in came] == [KEPT] * cases


def test_a_lane_is_left_to_a_case_that_takes_long_while_others_go_on(monkeypatch):
    """And another is opened, so that as many as before go on."""
    monkeypatch.setattr("touchstone.fuzz.engine.PATIENCE_S", 0.0)
    peer, left = Peer({0: HOLD}), []

    def source():
        for index in itertools.count():
            yield planned(index, ("trailing",))
            if engine._left:
                left.append(index)
                return

    with engine_on(peer, connections=2) as engine:
        list(engine.play(source()))
    assert left


def test_a_peer_that_settles_itself_is_asked_nothing_elsewhere():
    settled = []
    peer = Peer({0: HOLD})
    with engine_on(peer, settle=lambda: settled.append(1)) as engine:
        came = list(engine.play([planned(0)]))
    assert (came[0][1].end, len(settled), peer.connections) == (SILENT, 3, 1)


class OneAtATime(Peer):
    """Takes no request for the controller before as many wait as the engine may have on its way,
    and counts how many there are.
    """

    def __init__(self) -> None:
        super().__init__({})
        self._turn = threading.Barrier(MOST[IN_TURN])
        self._lock = threading.Lock()
        self.waiting = self.most = 0

    def _one(self, connection: socket.socket, correlation: int) -> bool:
        if correlation == PROBE_CORRELATION:
            return super()._one(connection, correlation)
        with self._lock:
            self.waiting += 1
            self.most = max(self.most, self.waiting)
        with contextlib.suppress(threading.BrokenBarrierError):  # more were on their way: no hang
            self._turn.wait(GIVES_UP_S)
        with self._lock:
            self.waiting -= 1
        return super()._one(connection, correlation)


@pytest.mark.parametrize("case", [for_the_controller, for_the_share_coordinator])
@pytest.mark.parametrize("faults", [(), ("trailing",)], ids=["good", "broken"])
def test_few_requests_are_on_their_way_to_be_handed_on_at_a_time(case, faults):
    peer = OneAtATime()
    with engine_on(peer) as engine:
        came = list(engine.play(case(i, faults) for i in range(10 * MOST[IN_TURN])))
    assert ({outcome.end for _, outcome in came}, peer.most) == ({KEPT}, MOST[IN_TURN])


def test_one_that_waits_for_its_turn_is_not_silent_as_soon_as_another():
    """A controller that resigned is back, or another is there, after two seconds."""
    lane = Lane(("127.0.0.1", 9), IN_TURN)
    lane.socket.close()
    assert lane.patience_s(2.0) == 6.0
    lane.flights.append(Flight(for_the_controller(0)))
    assert lane.patience_s(2.0) == 6.0


def test_bytes_that_do_not_end_a_frame_are_followed_by_our_close():
    half = Planned(0, sent_frame(planned(0).sent.wire[:-1]), ("size_lie",))
    with engine_on(Peer({})) as engine:
        ((_, outcome),) = engine.play([half])
    assert outcome.end == CLOSED


def test_no_more_is_drawn_than_may_wait_to_leave(monkeypatch):
    monkeypatch.setattr("touchstone.fuzz.engine.WINDOW", 40)
    peer, drawn = Peer({0: HOLD}), []

    def source():
        for index in range(100):
            drawn.append(index)
            yield planned(index, ("trailing",))

    with engine_on(peer) as engine:
        first = next(engine.play(source()))
    assert (first[1].end, len(drawn)) == (SILENT, 40)


def test_a_target_that_is_gone_is_a_connection_error_that_knows_what_was_in_flight():
    peer = Peer({})
    with peer:
        pass
    with Engine(peer.address) as engine:
        with pytest.raises(ConnectionError):
            list(engine.play([planned(7)]))
        assert [case.index for case in engine.in_flight()] == [7]


@pytest.mark.slow
def test_outcomes_on_a_broker_are_those_of_one_connection():
    """Of requests whose answers depend on no other request."""
    pairs = [Pair(18, 3), Pair(10, 4), Pair(17, 1), Pair(60, 1), Pair(2, 7), Pair(61, 0)]

    def shown(**how) -> list[tuple[int, str, int]]:
        source = generated(campaigns()["frames"], lambda draw: Generator(pairs, draw), 3)
        cases = (Planned(*case) for case in itertools.islice(source, 400))
        host, _, port = cluster.bootstrap[0].rpartition(":")
        with Engine((host, int(port)), settle=settle, **how) as engine:
            return [
                (case.index, CLOSED if outcome.end == RESET else outcome.end, len(outcome.answers))
                for case, outcome in engine.play(cases)
                if not may_wait(case.sent.wire)  # its silence is believed at once
            ]

    def settle() -> None:
        """The loop has come round: what was sent before is done."""
        for _ in range(4):
            cluster.server.call(lambda now: None).result(60)

    with serve(release="4.3", config={"auto.create.topics.enable": "false"}) as cluster:
        assert shown() == shown(connections=1, depth=1)
