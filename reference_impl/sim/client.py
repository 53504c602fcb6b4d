"""The reference client in the simulation: its flows, run by events instead of a blocking loop.

`io.client` does the same with sockets. A client runs one flow at a time; a flow that asks is
resumed when every ask has its outcome, one that pauses when its instant has come, one that
exchanges when its inbox has something or its instant has come. A client can die and can sleep, as a
process does that is killed or stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    Exchange,
    Failed,
    FailureKind,
    Flow,
    Inbox,
    Outcome,
    Pause,
)
from touchstone.reference_impl.client.metadata import View
from touchstone.reference_impl.sim.host import Host, Line
from touchstone.reference_impl.sim.network import Network
from touchstone.reference_impl.sim.world import World
from touchstone.reference_impl.wire.framing import Frames

PATIENCE_MS = 2_000


class _Link:
    """A connection of this client: the client's protocol end and the broker's line."""

    def __init__(self, node: int, host: Host, connection: Connection, line: Line) -> None:
        self.node = node
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
        self._links: dict[int, _Link] = {}
        self._flow: Flow[Any] | None = None
        self._done: Callable[[Any], None] = lambda result: None
        self._asks: Sequence[Ask] = ()
        self._outcomes: dict[int, Outcome] = {}
        self._numbers: dict[int, int] = {}  # ticket -> place among the asks of this round
        self._mailed: dict[int, tuple[Ask, Inbox]] = {}  # ticket -> what goes to an inbox
        self._exchange: Exchange | None = None  # that the flow waits in
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
        self._flow, self.idle, self._numbers, self._asleep = None, True, {}, None
        self._mailed, self._exchange = {}, None
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
        if isinstance(wanted, Exchange):
            self._begin_exchange(wanted)
            return
        self._asks, self._outcomes, self._numbers = wanted, {}, {}
        for place, ask in enumerate(wanted):
            self._serial += 1
            self._numbers[self._serial] = place
            self._start(self._serial, ask)
        self._settle()

    def _begin_exchange(self, wanted: Exchange) -> None:
        self._exchange = wanted
        for ask in wanted.asks:
            self._serial += 1
            self._mailed[self._serial] = (ask, wanted.inbox)
            self._start(self._serial, ask)
        due = max(wanted.until, self._world.now + (0 if wanted.asks else 1))
        self._world.at(due, lambda: self._end_exchange(wanted))
        self._mail_came()

    def _end_exchange(self, wanted: Exchange) -> None:
        if self._exchange is wanted:
            self._exchange = None
            self._resume([])

    def _mail_came(self) -> None:
        """The flow goes on if its inbox has something; never inside of another step."""
        wanted = self._exchange
        if wanted is not None and wanted.inbox:
            self._world.at(self._world.now, lambda: self._end_exchange(wanted))

    def _told(self, ticket: int, ask: Ask | None, made: Callable[[Ask], Outcome]) -> None:
        """An outcome, for the inbox or the round that its ask belongs to."""
        mailed = self._mailed.pop(ticket, None)
        if mailed is not None:
            mailed[1].append(made(mailed[0]))
            self._mail_came()
            return
        place = self._numbers.get(ticket)
        if place is not None:
            self._outcomes[place] = made(ask or self._asks[place])

    def _settle(self) -> None:
        """Go on once every ask of the round has its outcome; never inside of another step."""
        if len(self._outcomes) == len(self._asks) and self._numbers:
            self._numbers = {}
            outcomes = [self._outcomes[place] for place in range(len(self._asks))]
            self._world.at(self._world.now, lambda: self._resume(outcomes))
        elif not self._asks:
            self._world.at(self._world.now + 1, lambda: self._resume([]))

    def _start(self, ticket: int, ask: Ask) -> None:
        node = self.view.resolve(ask.node)
        if node is None:
            reason = f"node {ask.node} is not known"
            self._told(ticket, ask, partial(Failed, kind="refused", reason=reason))
            return
        link = self._links.get(node) or self._connect(node)
        try:
            replies = link.connection.ask(ticket, ask, now=self._world.now)
        except Unsupported as fault:
            self._told(ticket, ask, partial(Failed, kind="unsupported", reason=str(fault)))
            return
        self._replied(replies)
        self._write(link)

    # --- connections ---------------------------------------------------------------------------

    def _connect(self, node: int) -> _Link:
        host = self._hosts[self.view.addresses[node][1]]
        connection = Connection(self.name, now=self._world.now)
        line = Line(
            self._world.number(),
            self.name,
            lambda frame: self._arrives(link, frame),
            lambda: self._lose(link, "closed", "the broker closed the connection"),
        )
        link = self._links[node] = _Link(node, host, connection, line)
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
        if self._links.get(link.node) is not link:
            return
        if link.connection.expired(self._world.now):
            self._hang_up(link)
            self._lose(link, "timeout", "no answer in time")
        else:
            self._watch(link)

    def _hang_up(self, link: _Link) -> None:
        self._network.send(self.name, link.host.name, lambda: link.host.hung_up(link.line))

    def _arrives(self, link: _Link, frame: bytes) -> None:
        if self._links.get(link.node) is not link:
            return
        try:
            chunk = len(frame).to_bytes(4, "big") + frame
            replies, impossible = link.connection.receive(chunk)
        except ProtocolFault as fault:
            self._lose(link, "malformed", str(fault))
            return
        self._replied(replies)
        for ticket, why in impossible:
            self._told(ticket, None, partial(Failed, kind="unsupported", reason=str(why)))
        self._write(link)
        self._settle_if_asked()

    def _replied(self, replies: list[Reply]) -> None:
        for reply in replies:
            made = partial(Answer, version=reply.version, body=reply.body or {})
            self._told(reply.ticket, None, made)

    def _lose(self, link: _Link, kind: FailureKind, why: str) -> None:
        if self._links.get(link.node) is not link:
            return
        del self._links[link.node]
        self.view.unreachable(link.node)
        for ticket, _ in link.connection.abandon():
            self._told(ticket, None, partial(Failed, kind=kind, reason=why))
        self._settle_if_asked()

    def _settle_if_asked(self) -> None:
        if self._numbers:
            self._settle()
