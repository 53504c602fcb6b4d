"""Many cases at once, each with the outcome that it would have had alone.

One selector waits on all connections. While the peer works on some cases, others are generated,
sent and judged, so that neither side waits for the other. `lanes` says what a connection carries.
A case that keeps its lane for PATIENCE_S, while the peer is done with many others, is left there,
and another lane is opened in its place. Of a peer that is slow altogether no more is asked.

A rejected road: asyncio, which spends more on a case than the case itself costs (two tasks, a
future and three callbacks each). Outcomes leave in the order in which cases came, whatever order
they ended in, so that a seed means the same with one connection and with a hundred. What waits to
leave is bounded in number and in bytes.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from touchstone.fuzz.lanes import MOST, OWN, SHARED, Flight, Lane, Planned
from touchstone.fuzz.outcome import CLOSED, GARBLED, KEPT, RESET, SILENT, Outcome
from touchstone.fuzz.ring import Ring
from touchstone.fuzz.runner import (
    ASK_TIMEOUT_S,
    CHUNK,
    PROBE,
    PROBE_ANSWER,
    ROUNDS,
    SETTLE_S,
    Tally,
    connect,
    require_answers,
)
from touchstone.harness.targets import reach
from touchstone.reference_impl.wire.framing import FrameError

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
CONNECTIONS, DEPTH = 32, 8
"""Lanes for what does not wait, and the cases that one of them carries at a time. Sixteen and eight
took a prototype to 4,869 cases/s on Kafka 4.3.1 on two cores of its own; on a machine where each
lane waits for a processor, twice and four times as many lanes do more (177 to 204/s, 332 to 616/s).
"""
MOST_LEFT = 256
"""Lanes that were left to a case that takes long; beyond that, others wait behind such cases."""
LOGIN_S = 10.0
PATIENCE_S = 0.2
AS_MANY = 2
"""Cases that have ended meanwhile, for each connection."""
TIMES_SLOWER = 4
FORGETS = 0.995
"""A peer is not silent before it takes so many times what it took over others of late, at least as
long as a busy machine makes everything slow (at a load of 50 one case in 60 was called silent after
two seconds); with each case it is believed to have become so much faster."""
LOOK_S = 0.01
"""How often deadlines are looked at."""
WINDOW = 16_384
WINDOW_BYTES = 64 * 1024 * 1024
"""Cases, and bytes of them and of their answers, that are sent or wait to leave in order."""


class Engine:
    """Plays cases over many connections to one target; made for one thread.

    `depth` is how many cases without a fault one connection carries at a time, and `fresh` gives
    each case a connection of its own. `timeout_s` and `settle` are as for a `Link`.
    """

    def __init__(
        self,
        address: tuple[str, int],
        *,
        connections: int = CONNECTIONS,
        depth: int = DEPTH,
        fresh: bool = False,
        timeout_s: float = 2.0,
        settle: Callable[[], object] | None = None,
    ) -> None:
        self.address = (str(socket.getaddrinfo(address[0], None)[0][4][0]), address[1])
        self._named = address
        logs_in = reach.login_of(address) is not None
        self._login = partial(connect, address, LOGIN_S) if logs_in else None
        self.connections = connections
        self.depth = 1 if fresh else depth
        self.fresh = fresh
        self.timeout_s = timeout_s
        self.settle = settle
        self.tally = Tally()
        self.ring = Ring()
        self._selector = selectors.DefaultSelector()
        self._most = MOST | {SHARED: connections}
        self._idle: dict[int, list[Lane]] = {lanes: [] for lanes in self._most}
        self._open = dict.fromkeys(self._most, 0)
        self._left = 0
        self._done = 0
        self._slowest = 0.0  # seconds that a case took of late
        self._busy: set[Lane] = set()
        self._doubted: set[Lane] = set()  # those of which it is being asked whether they are silent
        self._again: deque[Flight] = deque()  # to be sent before anything new
        self._apart: dict[int, deque[Flight]] = {lanes: deque() for lanes in MOST}
        self._order: deque[Flight] = deque()
        self._bytes = 0
        self._source: Iterator[Planned] | None = None
        self._look_at = 0.0

    def close(self) -> None:
        for key in list((self._selector.get_map() or {}).values()):
            key.data.socket.close()
        self._selector.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def play(self, cases: Iterable[Planned]) -> Iterator[tuple[Planned, Outcome]]:
        """Each case with its outcome, in the order of `cases`, which are drawn as they are needed.

        ConnectionError when the target no longer accepts connections: `in_flight` then holds the
        cases that it may have died of.
        """
        self._source = iter(cases)
        while True:
            self._fill()
            if not self._order:
                return
            self._wait()
            while self._order and self._order[0].outcome is not None:
                flight = self._order.popleft()
                self._bytes -= flight.size
                assert flight.outcome is not None
                yield flight.planned, flight.outcome

    def in_flight(self) -> list[Planned]:
        """The cases whose outcome is not known yet, and those that ended their connection since the
        last one that was yielded; in order.
        """
        known = (None, CLOSED, RESET, SILENT)
        return [f.planned for f in self._order if (f.outcome and f.outcome.end) in known]

    # --- which case goes where --------------------------------------------------------------------

    def _pull(self) -> Flight | None:
        """The next case, while there is one and what waits to leave is not too much."""
        if self._again:
            return self._again.popleft()
        if self._source is None or not self._has_more():
            return None
        planned = next(self._source, None)
        if planned is None:
            self._source = None
            return None
        flight = Flight(planned)
        self._bytes += len(planned.sent.wire)
        self._order.append(flight)
        return flight

    def _has_more(self) -> bool:
        room = len(self._order) < WINDOW and self._bytes <= WINDOW_BYTES
        return bool(self._again) or (room and self._source is not None)

    def _fill(self) -> None:
        """Give every lane that has nothing to do as much as it may carry, unless one is doubted:
        with nothing new to do a peer comes to an end with what it was sent, and so to that one.
        """
        if self._doubted:
            return
        while self._has_more() and (lane := self._lane(SHARED)) is not None:
            batch = self._batch()
            if not batch:
                self._idle[SHARED].append(lane)
                break
            self._send(lane, batch)
        for lanes, waiting in self._apart.items():
            while waiting and (lane := self._lane(lanes)) is not None:
                self._send(lane, [waiting.popleft()])

    def _batch(self) -> list[Flight]:
        batch: list[Flight] = []
        while len(batch) < self.depth and (flight := self._pull()) is not None:
            if flight.lanes != SHARED:
                self._apart[flight.lanes].append(flight)
            elif flight.alone:
                if not batch:
                    return [flight]
                self._again.appendleft(flight)
                break
            else:
                batch.append(flight)
        return batch

    def _lane(self, lanes: int) -> Lane | None:
        while self._idle[lanes]:
            lane = self._idle[lanes].pop()
            if self._login is None or not reach.expiring(lane.socket):
                return lane
            self._drop(lane)
        if self._open[lanes] >= self._most[lanes]:
            return None
        return self._dial(lanes)

    def _dial(self, lanes: int) -> Lane:
        lane = Lane(self.address, lanes, self._login)
        self._open[lanes] += 1
        self.tally.connects += 1
        lane.number = self.tally.connects
        self._watch(lane, READ)
        return lane

    # --- bytes out, bytes in ----------------------------------------------------------------------

    def _send(self, lane: Lane, batch: list[Flight]) -> None:
        now = time.monotonic()
        lane.flights.extend(batch)
        self.tally.cases += len(batch)
        for flight in batch:
            self.ring.add(now, lane.number, flight.planned)
        wires = [flight.planned.sent.wire for flight in batch]
        if all(flight.whole for flight in batch):
            wires.append(PROBE)
        else:
            lane.last = True
        lane.out = b"".join(wires)
        self.tally.sent += len(lane.out)
        self._busy.add(lane)
        self._expect(lane, now)
        self._flush(lane)

    def _expect(self, lane: Lane, now: float) -> None:
        """From now on the first case of the lane is what the peer is at."""
        lane.since, lane.done_before, lane.done_when_asked = now, self._done, -1
        self._doubted.discard(lane)
        lane.deadline = now + lane.patience_s(self.timeout_s)
        lane.rounds = 0 if lane.may_wait else ROUNDS

    def _flush(self, lane: Lane) -> None:
        try:
            lane.out = lane.out[lane.socket.send(lane.out) :]
            if not lane.out and lane.last:
                lane.socket.shutdown(socket.SHUT_WR)
        except (BlockingIOError, InterruptedError):
            pass
        except OSError as gone:
            return self._ended(lane, RESET, gone)
        return self._watch(lane, READ | WRITE if lane.out else READ)

    def _watch(self, lane: Lane, events: int) -> None:
        if events != lane.events:
            if lane.events:
                self._selector.modify(lane.socket, events, lane)
            else:
                self._selector.register(lane.socket, events, lane)
            lane.events = events

    def _wait(self) -> None:
        """What has happened on the lanes, and what did not happen in time."""
        for key, events in self._selector.select(LOOK_S):
            lane: Lane = key.data
            if events & WRITE and lane.events:
                self._flush(lane)
            if events & READ and lane.events:
                self._read(lane)
        now = time.monotonic()
        if now >= self._look_at:
            self._look_at = now + LOOK_S
            for lane in [lane for lane in self._busy if now >= lane.deadline]:
                if lane.events:
                    self._late(lane, now)
            self._leave(now)

    def _read(self, lane: Lane) -> None:
        try:
            chunk = lane.socket.recv(CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as gone:
            self._ended(lane, RESET, gone)
            return
        if not chunk:
            self._ended(lane, CLOSED)
            return
        self.tally.received += len(chunk)
        garbled = False
        try:
            frames = lane.frames.feed(chunk)
        except FrameError as problem:
            frames, garbled = problem.frames, True
        for frame in frames:
            if frame[:4] == PROBE_ANSWER:
                self._answered(lane)
                return
            self._take(lane, frame)
        if garbled:
            self._ended(lane, GARBLED)

    def _take(self, lane: Lane, frame: bytes) -> None:
        """An answer belongs to the case that it names, else to the first one without an answer."""
        flights = lane.flights
        if not flights:
            return
        correlation, passed = frame[:4], 0
        if correlation != flights[0].correlation:
            named = (at for at, one in enumerate(flights) if one.correlation == correlation)
            free = (at for at, one in enumerate(flights) if not one.answers)
            passed = next(named, next(free, len(flights) - 1))
        for _ in range(passed):
            self._end(flights.popleft(), KEPT)
        if passed:
            self._expect(lane, time.monotonic())
        flights[0].answers.append(frame)
        self._bytes += len(frame)

    # --- ends -------------------------------------------------------------------------------------

    def _end(self, flight: Flight, end: str) -> None:
        self._done += 1
        flight.outcome = Outcome(tuple(flight.answers), end)

    def _answered(self, lane: Lane) -> None:
        """The probe was answered: everybody before it has had all there is."""
        if lane.rounds:  # not of one that may be held
            self._slowest = max(time.monotonic() - lane.since, self._slowest * FORGETS)
        while lane.flights:
            self._end(lane.flights.popleft(), KEPT)
        self._busy.discard(lane)
        self._doubted.discard(lane)
        if lane.proven is not None:
            proven = lane.proven
            self._drop(lane)
            proven(True)
        elif self.fresh or (lane.left and self._open[SHARED] >= self.connections):
            self._drop(lane)
        else:
            if lane.left:
                self._left, lane.left = self._left - 1, False
                self._open[SHARED] += 1
            self._idle[lane.lanes].append(lane)

    def _ended(self, lane: Lane, end: str, problem: OSError | None = None) -> None:
        """The peer, or our deadline, has ended this lane."""
        flights = lane.flights
        while len(flights) > 1 and flights[0].answers:
            self._end(flights.popleft(), KEPT)  # it was answered, so the next one was read
        if flights:
            self._end(flights.popleft(), end)
        for flight in reversed(flights):
            self._bytes -= sum(map(len, flight.answers))
            flight.answers.clear()
            self._again.appendleft(flight)
        proven = lane.proven
        self._drop(lane)
        if isinstance(problem, ConnectionRefusedError):
            raise problem
        if proven is not None:
            proven(end != SILENT)

    def _drop(self, lane: Lane) -> None:
        lane.flights.clear()
        self._busy.discard(lane)
        self._doubted.discard(lane)
        if lane in self._idle[lane.lanes]:
            self._idle[lane.lanes].remove(lane)
        if lane.left:
            self._left -= 1
        elif lane.proven is None:
            self._open[lane.lanes] -= 1
        self._selector.unregister(lane.socket)
        lane.events = 0
        lane.socket.close()

    # --- time -------------------------------------------------------------------------------------

    def _leave(self, now: float) -> None:
        """Lanes on which a case takes long no longer count, so that others are opened."""
        for lane in self._busy:
            if self._left >= MOST_LEFT:
                return
            others = self._done - lane.done_before
            if lane.lanes != SHARED or lane.left or others < AS_MANY * self.connections:
                continue
            if now - lane.since > PATIENCE_S:
                lane.left = True
                self._left += 1
                self._open[SHARED] -= 1

    def _late(self, lane: Lane, now: float) -> None:
        """A deadline has passed: this is silence if the peer answers who asks anew, three times,
        and ends no other case meanwhile. One that serves connections by turns answers a newcomer at
        once, and those with long requests later (ours, at a load of 12).
        """
        waited, done_then = now - lane.since, lane.done_when_asked
        if done_then not in (-1, self._done) and waited < ASK_TIMEOUT_S:
            lane.rounds, lane.done_when_asked = ROUNDS, self._done
        if lane.proven is not None or not lane.rounds:
            self._ended(lane, SILENT)
            return
        patience = min(TIMES_SLOWER * self._slowest, ASK_TIMEOUT_S)
        if done_then == -1 and waited < patience:
            lane.deadline = lane.since + patience
            return
        if done_then == -1:
            lane.done_when_asked = self._done
            self._doubted.add(lane)
        lane.rounds -= 1
        if self.settle is not None:
            self.settle()
            lane.deadline = now
            self._read(lane)
            return
        # However long the witness takes: it ends by itself.
        lane.deadline = now + 2 * ASK_TIMEOUT_S
        case = lane.flights[0]

        def proven(answered: bool) -> None:
            if not answered:
                self._wait_for_anybody()
            if lane.flights and lane.flights[0] is case:
                lane.deadline = time.monotonic() + SETTLE_S

        witness = Lane(self.address, OWN, self._login)
        witness.proven = proven
        witness.out = PROBE
        witness.deadline = now + ASK_TIMEOUT_S
        self._busy.add(witness)
        self._flush(witness)

    def _wait_for_anybody(self) -> None:
        """A target that answers nobody is waited for, and no case is to blame until it answers.
        Raises Hangs when it does not.
        """
        require_answers(self._named)
        now = time.monotonic()
        for lane in self._busy:
            if lane.proven is None:
                self._expect(lane, now)
