"""Brokers of one process exchange frames of the real protocol, without sockets.

Each (sender, peer, channel) is a connection like any other to the peer that serves it: one request
at a time, answers in order. Frames wait in one queue that the event loop empties between two looks
at its sockets, so a chain of requests and answers is a loop here and no recursion there. A link
that is cut, or whose peer is gone, answers None, which is what a broken connection is to the
sender; a delayed one delivers later, a held peer when it is let go. The tools that make faults turn
these knobs, from any thread.
"""

from __future__ import annotations

import heapq
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.effects import Ask, Connection, Effect
from touchstone.reference_impl.cluster.membership import REGISTRY

_TURN = 10_000  # frames delivered before the sockets are looked at again


class PeerConnection(Connection):
    """A broker that asks, as its peer sees it."""

    __slots__ = ("asking", "channel", "peer", "sender", "waiting")
    of_broker = True

    def __init__(self, number: int, sender: int, peer: int, channel: str) -> None:
        super().__init__(number, "127.0.0.1", controller=channel == "controller")
        self.sender, self.peer, self.channel = sender, peer, channel
        self.asking: Ask | None = None  # in work at the peer
        self.waiting: deque[Ask] = deque()  # behind it


class _Frame(NamedTuple):
    """Something on its way: a request, or the answer (None: there will be none) to one."""

    target: int
    ask: Ask
    answer: bytes | None = None
    answers: bool = False


class Links:
    """The links between `brokers`; `perform` carries out effects, here and for sockets."""

    def __init__(
        self,
        perform: Callable[[list[Effect]], None],
        clock: Callable[[], int],
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        """`wake()` ends the loop's sleep: another thread changed something."""
        self._perform = perform
        self._clock = clock
        self._brokers: dict[int, Broker] = {}
        self._connections: dict[tuple[int, int, str], PeerConnection] = {}
        self._queue: deque[_Frame] = deque()
        self._later: list[tuple[int, int, _Frame]] = []
        self._numbers = 0
        self._cut: set[tuple[int, int]] = set()
        self._delay: dict[tuple[int, int], int] = {}
        self._broken: deque[tuple[int, int]] = deque()  # cut since frames were delivered last
        self._held: dict[int, deque[_Frame]] = {}
        self.refused: Counter[tuple[int, int]] = Counter()  # frames that met a cut link
        self.delayed: Counter[tuple[int, int]] = Counter()  # frames that a link held back
        self._lock = threading.RLock()  # knobs are turned from other threads
        self._wake = wake

    # --- who is there ------------------------------------------------------------------------

    def add(self, broker: Broker) -> None:
        self._brokers[broker.id] = broker

    def remove(self, broker: int) -> None:
        """Forget a broker: requests to it get None, requests of it are dropped."""
        with self._lock:
            self._brokers.pop(broker, None)
            self._queue += self._held.pop(broker, ())  # requests among them find nobody
            self._break(c for c in self._connections.values() if broker in (c.sender, c.peer))

    # --- knobs -------------------------------------------------------------------------------

    def cut(self, sender: int, peer: int) -> None:
        """Let nothing from `sender` reach `peer` any more; requests on the way fail."""
        with self._lock:
            self._cut.add((sender, peer))
            self._broken.append((sender, peer))
        self._wake()

    def reaches_registry(self, broker: int) -> bool:
        """Whether a broker and the registry reach each other."""
        return not (self.cuts(broker, REGISTRY) or self.cuts(REGISTRY, broker))

    def cuts(self, sender: int, peer: int) -> bool:
        return (sender, peer) in self._cut

    def heal(self, sender: int, peer: int) -> None:
        with self._lock:
            self._cut.discard((sender, peer))
            self._delay.pop((sender, peer), None)

    def delay(self, sender: int, peer: int, ms: int) -> None:
        """Frames from `sender` to `peer`, requests and answers, arrive that much later."""
        with self._lock:
            self._delay[sender, peer] = ms

    def hold(self, broker: int) -> None:
        """Keep what is for this broker, as in the buffers of a process that was stopped."""
        with self._lock:
            self._held.setdefault(broker, deque())

    def release(self, broker: int) -> None:
        with self._lock:
            self._queue += self._held.pop(broker, ())
        self._wake()

    # --- frames ------------------------------------------------------------------------------

    def send(self, ask: Ask) -> None:
        """A broker asks another one."""
        with self._lock:
            self._post(_Frame(ask.peer, ask), ask.sender)

    def answer(self, connection: PeerConnection, parts: tuple[bytes, ...] | None) -> None:
        """The peer answered what came by this connection, or hung up (None)."""
        with self._lock:
            ask, connection.asking = connection.asking, None
            if ask is None:
                return
            frame = None if parts is None else b"".join(parts)
            if (ask.peer, ask.sender) in self._cut:  # the request came through, its answer does not
                self.refused[ask.peer, ask.sender] += 1
                frame = None
            self._post(_Frame(ask.sender, ask, frame, True), ask.peer)
            if connection.waiting:
                self._queue.append(_Frame(ask.peer, connection.waiting.popleft()))

    def deadline(self) -> int | None:
        if self._queue or self._broken:
            return 0
        return self._later[0][0] if self._later else None

    def deliver(self, now: int) -> None:
        """Everything that has arrived by now, and what comes of it."""
        while self._broken:
            pair = self._broken.popleft()
            self._break(c for c in self._connections.values() if (c.sender, c.peer) == pair)
        while self._later and self._later[0][0] <= now:
            self._queue.append(heapq.heappop(self._later)[2])
        for _ in range(_TURN):
            if not self._queue:
                return
            frame = self._queue.popleft()
            if self._held and self._keep(frame):
                continue
            if frame.answers:
                broker = self._brokers.get(frame.target)
                if broker is not None:
                    number = frame.ask.correlation_id
                    self._perform(broker.answered(number, frame.answer, now))
            else:
                self._arrive(frame.ask, now)

    def _keep(self, frame: _Frame) -> bool:
        """Whether its target is held, and now has it waiting."""
        with self._lock:
            held = self._held.get(frame.target)
            if held is not None:
                held.append(frame)
            return held is not None

    def _post(self, frame: _Frame, source: int) -> None:
        ms = self._delay.get((source, frame.target), 0) if self._delay else 0
        if ms:
            self.delayed[source, frame.target] += 1
            self._numbers += 1
            heapq.heappush(self._later, (self._clock() + ms, self._numbers, frame))
        else:
            self._queue.append(frame)

    def _arrive(self, ask: Ask, now: int) -> None:
        peer = self._brokers.get(ask.peer)
        if (ask.sender, ask.peer) in self._cut:
            self.refused[ask.sender, ask.peer] += 1
            peer = None
        if peer is None:
            self._queue.append(_Frame(ask.sender, ask, None, True))
            return
        place = ask.sender, ask.peer, ask.channel
        connection = self._connections.get(place)
        if connection is None:
            self._numbers += 1
            connection = self._connections[place] = PeerConnection(self._numbers, *place)
        if connection.asking is not None:
            connection.waiting.append(ask)
            return
        connection.asking = ask
        frame = ask.parts[0] if len(ask.parts) == 1 else b"".join(ask.parts)
        self._perform(peer.receive(connection, frame, now))

    def _break(self, connections: Iterable[PeerConnection]) -> None:
        for connection in list(connections):
            del self._connections[connection.sender, connection.peer, connection.channel]
            peer = self._brokers.get(connection.peer)
            if peer is not None:
                peer.closed(connection)
            asks = [connection.asking, *connection.waiting]
            connection.asking = None
            connection.waiting.clear()
            self._queue += [_Frame(ask.sender, ask, None, True) for ask in asks if ask is not None]
