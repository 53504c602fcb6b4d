"""Many cases at once, each with the outcome that it would have had alone.

One selector waits on all connections. While the peer works on some cases, others are generated,
sent and judged, so that neither side waits for the other. A connection of this kind is a lane. What
a lane may carry depends on the shape of a case:

- A whole frame without a fault neither ends its connection nor is held: several go out in one
  write, with one probe (`runner`) behind the last. Kafka answers a connection's requests in order,
  so an answer that carries the correlation id of a later case says that the earlier ones had all
  that they will ever have. When such a lane ends, the first case without an answer ended it; those
  behind it were never read, and go out again.
- A whole frame with a fault may end its connection: one at a time on a lane.
- A request that a peer may hold, and bytes that do not end where a frame ends, have a lane of their
  own, so that no other case waits behind them.
- A case that keeps its lane for PATIENCE_S, while the peer is done with many others, is left there,
  and another lane is opened in its place. Of a peer that is slow altogether no more is asked.

A rejected road: asyncio, which spends more on a case than the case itself costs (two tasks, a
future and three callbacks each). Outcomes leave in the order in which cases came, whatever order
they ended in, so that a seed means the same with one connection and with a hundred. What waits to
leave is bounded in number and in bytes.
"""

from __future__ import annotations

import errno
import os
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from touchstone.fuzz.oracles import SentFrame
from touchstone.fuzz.outcome import CLOSED, GARBLED, KEPT, RESET, SILENT, Outcome
from touchstone.fuzz.runner import (
    ANSWER_LIMIT,
    ASK_TIMEOUT_S,
    CHUNK,
    PROBE,
    PROBE_ANSWER,
    ROUNDS,
    SETTLE_S,
    Tally,
    require_answers,
)
from touchstone.fuzz.segments import frames_in, may_wait
from touchstone.reference_impl.wire.framing import FrameError, Frames

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
CONNECTIONS, DEPTH = 32, 8
"""Lanes for what does not wait, and the cases that one of them carries at a time. Sixteen and eight
took a prototype to 4,869 cases/s on Kafka 4.3.1 on two cores of its own; on a machine where each
lane waits for a processor, twice and four times as many lanes do more (177 to 204/s, 332 to 616/s).
"""
MOST_OWN = 64
"""Lanes for what may wait or does not end a frame."""
MOST_LEFT = 256
"""Lanes that were left to a case that takes long; beyond that, others wait behind such cases."""
HELD_TIMEOUT_S = 0.1
"""Seconds for a request that may be held: long enough for an answer, too short to be missed."""
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
IN_ORDER, ALONE, OWN = range(3)


Kind = tuple[int, tuple[str, ...]]
"""An API key, and the faults put into the request."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A case before it is sent: where it comes from, its bytes, the faults put in."""

    index: int
    sent: SentFrame
    faults: tuple[str, ...]

    @property
    def kind(self) -> Kind:
        return self.sent.key, self.faults


class Flight:
    """A case on its way: how it may travel, the answers so far, and its outcome in the end."""

    __slots__ = ("answers", "correlation", "held", "outcome", "planned", "shape", "whole")

    def __init__(self, planned: Planned) -> None:
        wire = planned.sent.wire
        self.planned = planned
        frames, self.whole = frames_in(wire)
        self.held = may_wait(wire)
        if self.held or not self.whole:
            self.shape = OWN
        else:
            self.shape = ALONE if planned.faults or len(frames) != 1 else IN_ORDER
        self.correlation = wire[8:12]
        self.answers: list[bytes] = []
        self.outcome: Outcome | None = None

    @property
    def size(self) -> int:
        return len(self.planned.sent.wire) + sum(map(len, self.answers))


class Lane:
    """A connection and the cases that are on it, in the order in which they were sent."""

    __slots__ = (
        "deadline", "done_before", "events", "flights", "frames", "last", "left", "out", "own",
        "proven", "rounds", "since", "socket",
    )  # fmt: skip

    def __init__(self, address: tuple[str, int], own: bool) -> None:
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        problem = self.socket.connect_ex(address)
        if problem not in (0, errno.EINPROGRESS):
            raise OSError(problem, os.strerror(problem))
        self.frames = Frames(ANSWER_LIMIT)
        self.flights: deque[Flight] = deque()
        self.out = b""  # what the socket has not taken yet
        self.last = False  # our half is closed when that has left
        self.events = 0
        self.own = own
        self.left = False  # to a case that takes long; does not count among the connections
        self.since = 0.0
        self.done_before = 0  # cases that had ended by then
        self.deadline = 0.0
        self.rounds = 0  # of asking elsewhere, before this silence is believed
        self.proven: Callable[[bool], None] | None = None  # a witness: told whether it was answered


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
        self.connections = connections
        self.depth = 1 if fresh else depth
        self.fresh = fresh
        self.timeout_s = timeout_s
        self.settle = settle
        self.tally = Tally()
        self._selector = selectors.DefaultSelector()
        self._idle: dict[bool, list[Lane]] = {False: [], True: []}  # by `own`
        self._open: dict[bool, int] = {False: 0, True: 0}
        self._left = 0
        self._done = 0
        self._slowest = 0.0  # seconds that a case took of late
        self._busy: set[Lane] = set()
        self._again: deque[Flight] = deque()  # to be sent before anything new
        self._own: deque[Flight] = deque()
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
        """Give every lane that has nothing to do as much as it may carry."""
        while self._has_more() and (lane := self._lane(own=False)) is not None:
            batch = self._batch()
            if not batch:
                self._idle[False].append(lane)
                break
            self._send(lane, batch)
        while self._own and (lane := self._lane(own=True)) is not None:
            self._send(lane, [self._own.popleft()])

    def _batch(self) -> list[Flight]:
        batch: list[Flight] = []
        while len(batch) < self.depth and (flight := self._pull()) is not None:
            if flight.shape == OWN:
                self._own.append(flight)
            elif flight.shape == ALONE:
                if not batch:
                    return [flight]
                self._again.appendleft(flight)
                break
            else:
                batch.append(flight)
        return batch

    def _lane(self, *, own: bool) -> Lane | None:
        if self._idle[own]:
            return self._idle[own].pop()
        if self._open[own] >= (MOST_OWN if own else self.connections):
            return None
        return self._dial(own)

    def _dial(self, own: bool) -> Lane:
        lane = Lane(self.address, own)
        self._open[own] += 1
        self.tally.connects += 1
        self._watch(lane, READ)
        return lane

    # --- bytes out, bytes in ----------------------------------------------------------------------

    def _send(self, lane: Lane, batch: list[Flight]) -> None:
        now = time.monotonic()
        lane.flights.extend(batch)
        self.tally.cases += len(batch)
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
        held = bool(lane.flights) and lane.flights[0].held
        lane.since, lane.done_before = now, self._done
        lane.deadline = now + (HELD_TIMEOUT_S if held else self.timeout_s)
        lane.rounds = 0 if held else ROUNDS

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
        if lane.proven is not None:
            proven = lane.proven
            self._drop(lane)
            proven(True)
        elif self.fresh or (lane.left and self._open[lane.own] >= self.connections):
            self._drop(lane)
        else:
            if lane.left:
                self._left, lane.left = self._left - 1, False
                self._open[lane.own] += 1
            self._idle[lane.own].append(lane)

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
        if lane in self._idle[lane.own]:
            self._idle[lane.own].remove(lane)
        if lane.left:
            self._left -= 1
        elif lane.proven is None:
            self._open[lane.own] -= 1
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
            if lane.own or lane.left or others < AS_MANY * self.connections:
                continue
            if now - lane.since > PATIENCE_S:
                lane.left = True
                self._left += 1
                self._open[False] -= 1

    def _late(self, lane: Lane, now: float) -> None:
        """A deadline has passed: this is silence if the peer does its work elsewhere."""
        if lane.proven is not None or not lane.rounds:
            self._ended(lane, SILENT)
            return
        patience = min(TIMES_SLOWER * self._slowest, ASK_TIMEOUT_S)
        if lane.rounds == ROUNDS and now - lane.since < patience:
            lane.deadline = lane.since + patience
            return
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

        witness = Lane(self.address, own=True)
        witness.proven = proven
        witness.out = PROBE
        witness.deadline = now + ASK_TIMEOUT_S
        self._busy.add(witness)
        self._flush(witness)

    def _wait_for_anybody(self) -> None:
        """A target that answers nobody is waited for, and no case is to blame until it answers.
        Raises Hangs when it does not.
        """
        require_answers(self.address)
        now = time.monotonic()
        for lane in self._busy:
            if lane.proven is None:
                self._expect(lane, now)
