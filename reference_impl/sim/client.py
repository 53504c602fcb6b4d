"""The reference client in the simulation: its flows, run by events instead of a blocking loop.

`io.client` does the same with sockets. A client runs one flow at a time; a flow that asks is
resumed when every ask has its outcome, one that pauses when its instant has come, one that polls
the network when its inbox has something or its instant has come. A client can die and can sleep, as
a process does that is killed or stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from touchstone.reference_impl.client.connection import (
    Connection,
    ProtocolFault,
    Reply,
    Unsupported,
)
from touchstone.reference_impl.client.flow import (
    Answer,
    Ask,
    Failed,
    FailureKind,
    Flow,
    NetworkPoll,
    Outcome,
    Pause,
)
from touchstone.reference_impl.client.metadata import View
from touchstone.reference_impl.sim.host import Host, Line
from touchstone.reference_impl.sim.network import Network
from touchstone.reference_impl.sim.world import World
from touchstone.reference_impl.wire.framing import Frames

PATIENCE_MS = 2_000
Sink = Callable[[Outcome], None]
Where = tuple[int, int]  # node, lane


class _Link:
    """A connection of this client: the client's protocol end and the broker's line."""

    def __init__(self, where: Where, host: Host, connection: Connection, line: Line) -> None:
        self.where = where
        self.node = where[0]
        self.host = host
        self.connection = connection
        self.line = line
        self.frames = Frames()
        self.watched: int | None = None


class SimClient:
    """Ports name hosts: broker i "listens" on port i of the host "sim"."""

    def __init__(self, name: str, world: World, network: Network, hosts: dict[int, Host]) -> None:
        self.name = name
        self.idle = True
        self._world = world
        self._network = network
        self._hosts = hosts
        self.view = View([("sim", port) for port in hosts], world.now)
        self.view.patience_ms = PATIENCE_MS
        self._links: dict[Where, _Link] = {}
        self._flow: Flow[Any] | None = None
        self._done: Callable[[Any], None] = lambda result: None
        self._asked: dict[int, tuple[Ask, Sink]] = {}  # by ticket
        self._ready: Callable[[], list[Outcome] | None] = lambda: None  # what to resume with
        self._serial = 0
        self._asleep: list[Callable[[], None]] | None = None  # what waits for it to wake

    def run(self, flow: Flow[Any], done: Callable[[Any], None] = lambda result: None) -> None:
        """Begin a flow; `done` gets what it returns. A flow's own exception is the caller's."""
        self.idle, self._flow, self._done = False, flow, done
        self._resume(None)

    def crash(self) -> None:
        """End at once: the flow ends where it stands and the connections are reset."""
        if self._flow is None:
            return
        self._flow, self.idle, self._asked, self._asleep = None, True, {}, None
        self._ready = lambda: None
        for link in list(self._links.values()):
            self._hang_up(link)
        self._links.clear()

    def sleep(self) -> None:
        """The process stands still; what its connections bring waits."""
        self._asleep = []

    def wake(self) -> None:
        waiting, self._asleep = self._asleep or [], None
        for call in waiting:
            call()

    # --- the flow ------------------------------------------------------------------------------

    def _resume(self, given: list[Outcome] | None) -> None:
        if self._asleep is not None:
            self._asleep.append(lambda: self._resume(given))
            return
        if self._flow is None:
            return
        self.view.now = self._world.now
        try:
            wanted = next(self._flow) if given is None else self._flow.send(given)
        except StopIteration as end:
            self.idle, self._flow = True, None
            self._done(end.value)
            return
        if isinstance(wanted, Pause):
            self._world.at(max(wanted.until, self._world.now + 1), lambda: self._resume([]))
            return
        if isinstance(wanted, NetworkPoll):
            self._poll(wanted)
            return
        outcomes: dict[int, Outcome] = {}
        count = len(wanted)
        self._ready = lambda: (
            [outcomes[place] for place in range(count)] if len(outcomes) == count else None
        )
        for place, ask in enumerate(wanted):
            self._start(ask, partial(outcomes.__setitem__, place))
        self._settle()

    def _poll(self, wanted: NetworkPoll) -> None:
        soonest = self._world.now + (0 if wanted.asks else 1)  # who only looks lets time pass
        until = max(wanted.until, soonest)
        self._ready = lambda: [] if wanted.inbox or self._world.now >= until else None
        for ask in wanted.asks:
            self._start(ask, wanted.inbox.append)
        self._world.at(until, self._settle)
        self._settle()

    def _settle(self) -> None:
        """Go on once what the flow waits for is there; never inside of another step."""
        given = self._ready()
        if given is not None and self._flow is not None:
            self._ready = lambda: None
            self._world.at(self._world.now, lambda: self._resume(given))

    def _start(self, ask: Ask, sink: Sink) -> None:
        node = self.view.resolve(ask.node)
        if node is None:
            sink(Failed(ask, "refused", f"node {ask.node} is not known"))
            return
        self._serial += 1
        ticket = self._serial
        self._asked[ticket] = ask, sink
        link = self._links.get((node, ask.lane)) or self._connect((node, ask.lane))
        try:
            replies = link.connection.ask(ticket, ask, now=self._world.now)
        except Unsupported as fault:
            self._end(ticket, Failed(ask, "unsupported", str(fault)))
            return
        self._replied(replies)
        self._write(link)

    # --- connections ---------------------------------------------------------------------------

    def _connect(self, where: Where) -> _Link:
        host = self._hosts[self.view.addresses[where[0]][1]]
        connection = Connection(self.name, now=self._world.now)
        line = Line(
            self._world.number(),
            self.name,
            lambda frame: self._arrives(link, frame),
            lambda: self._lose(link, "closed", "the broker closed the connection"),
        )
        link = self._links[where] = _Link(where, host, connection, line)
        return link

    def _write(self, link: _Link) -> None:
        for frame in link.frames.feed(link.connection.outgoing()):
            self._network.send(
                self.name,
                link.host.name,
                partial(link.host.arrives, link.line, frame),
            )
        self._watch(link)

    def _watch(self, link: _Link) -> None:
        """A broker that owes an answer for too long loses the connection."""
        due = link.connection.deadline()
        if due is None or (link.watched is not None and link.watched <= due):
            return
        link.watched = due
        self._world.at(due, lambda: self._late(link))

    def _late(self, link: _Link) -> None:
        link.watched = None
        if self._links.get(link.where) is not link:
            return
        if link.connection.expired(self._world.now):
            self._hang_up(link)
            self._lose(link, "timeout", "no answer in time")
        else:
            self._watch(link)

    def _hang_up(self, link: _Link) -> None:
        self._network.send(self.name, link.host.name, lambda: link.host.hung_up(link.line))

    def _arrives(self, link: _Link, frame: bytes) -> None:
        if self._links.get(link.where) is not link:
            return
        try:
            chunk = len(frame).to_bytes(4, "big") + frame
            replies, impossible = link.connection.receive(chunk, now=self._world.now)
        except ProtocolFault as fault:
            self._lose(link, "malformed", str(fault))
            return
        self._replied(replies)
        for ticket, why in impossible:
            ask, _ = self._asked[ticket]
            self._end(ticket, Failed(ask, "unsupported", str(why)))
        self._write(link)
        self._settle()

    def _replied(self, replies: list[Reply]) -> None:
        for reply in replies:
            ask, _ = self._asked[reply.ticket]
            self._end(reply.ticket, Answer(ask, reply.version, reply.body or {}))

    def _end(self, ticket: int, outcome: Outcome) -> None:
        _, sink = self._asked.pop(ticket)
        sink(outcome)

    def _lose(self, link: _Link, kind: FailureKind, why: str) -> None:
        if self._links.get(link.where) is not link:
            return
        del self._links[link.where]
        self.view.unreachable(link.node)
        for ticket, _ in link.connection.abandon():
            ask, sink = self._asked.pop(ticket)
            sink(Failed(ask, kind, why))
        self._settle()
