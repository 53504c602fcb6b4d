"""The client's sockets: connects, reads, writes and waits, and hands outcomes to who asked.

A connection serves one node and one lane (`flow.Ask`). An ask that was started has exactly one
outcome, whoever waits when it comes. A pass over the sockets reads before it looks at deadlines,
so an answer that lay in the socket while nobody looked is not too late.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable

from touchstone.reference_impl.client.connection import (
    Connection,
    ProtocolFault,
    Reply,
    Unsupported,
)
from touchstone.reference_impl.client.flow import Answer, Ask, Failed, FailureKind, Outcome
from touchstone.reference_impl.client.metadata import View

_CHUNK = 1 << 18
Sink = Callable[[Outcome], None]
Where = tuple[int, int]  # node, lane


def now_ms() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


class _Link:
    """A socket and the connection that speaks over it."""

    def __init__(
        self, where: Where, address: tuple[str, int], connection: Connection, patience_s: float
    ):
        self.where = where
        self.node = where[0]
        self.connection = connection
        self.socket = socket.create_connection(address, timeout=patience_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.unsent = b""
        self.watched = selectors.EVENT_READ

    def flush(self) -> bool:
        """Write what can be written; True while something is left."""
        self.unsent += self.connection.outgoing()
        while self.unsent:
            try:
                sent = self.socket.send(self.unsent)
            except BlockingIOError:
                break
            self.unsent = self.unsent[sent:]
        return bool(self.unsent)


class ClientNetwork:
    """`start` an ask, `wait` for what one wants. `wake` may be called by any thread."""

    def __init__(self, view: View, client_id: str, connect_timeout_s: float):
        self.view = view
        self.client_id = client_id
        self.connect_timeout_s = connect_timeout_s
        self._links: dict[Where, _Link] = {}
        self._asked: dict[int, tuple[Ask, Sink]] = {}  # by ticket
        self._plain: set[int] = set()  # nodes that closed on our ApiVersions; they get version 0
        self._serial = 0
        self._given_up = False
        self._selector = selectors.DefaultSelector()
        self._awake, self._waker = socket.socketpair()
        self._awake.setblocking(False)
        self._waker.setblocking(False)
        self._selector.register(self._awake, selectors.EVENT_READ, None)

    def give_up(self) -> None:
        """Have whoever waits, in another thread, raise OSError: it will not be answered."""
        self._given_up = True
        self.wake()

    def close(self) -> None:
        for link in list(self._links.values()):
            self._drop(link)
        self._selector.close()
        self._awake.close()
        self._waker.close()

    def drop(self, node: int) -> None:
        """End the connections to a node."""
        for link in [each for each in self._links.values() if each.node == node]:
            self._drop(link)
            self._abandon(link, "closed", "the connection was dropped")

    def wake(self) -> None:
        """Have whoever waits look again."""
        try:
            self._waker.send(b"w")
        except OSError:
            return  # closed, or woken so often that nobody can have missed it

    def start(self, ask: Ask, sink: Sink) -> None:
        """Send it; `sink` is given its outcome, perhaps at once."""
        node = self.view.resolve(ask.node)
        if node is None:
            sink(Failed(ask, "refused", f"node {ask.node} is not known"))
            return
        try:
            link = self._links.get((node, ask.lane)) or self._connect((node, ask.lane))
        except OSError as fault:
            self.view.unreachable(node)
            sink(Failed(ask, "refused", str(fault)))
            return
        self._serial += 1
        self._asked[self._serial] = ask, sink
        try:
            replies = link.connection.ask(self._serial, ask, now=now_ms())
        except Unsupported as fault:
            self._end(self._serial, Failed(ask, "unsupported", str(fault)))
            return
        self._replied(replies)
        self._write(link)

    def wait(self, done: Callable[[], bool], until: int | None = None) -> None:
        """Read and write until `done` or an instant (ms); both are looked at after each pass.

        An instant that has come makes one pass. Without one there must be an ask under way.
        """
        if until is not None and not done():
            self._pass(until)
        while not done() and (until is None or now_ms() < until):
            if self._given_up:
                raise OSError("the client is closed")
            self._pass(until)

    def _pass(self, until: int | None) -> None:
        now = now_ms()
        instants = [link.connection.due() for link in self._links.values()]
        soonest = min((each for each in [*instants, until] if each is not None), default=now)
        heard: set[_Link] = set()
        for key, events in self._selector.select(max(0, soonest - now) / 1000):
            link: _Link | None = key.data
            if link is None:
                self._awake.recv(_CHUNK)
                continue
            if events & selectors.EVENT_READ:
                heard.add(link)
                self._read(link)
            if self._links.get(link.where) is link:
                self._write(link)
        now = now_ms()
        for link in list(self._links.values()):
            if link not in heard and link.connection.expired(now):
                self._lose(link, "timeout", "no answer in time")
            elif link.connection.resumes_at() is not None:
                self._take(*link.connection.resume(now))
                self._write(link)

    def _connect(self, where: Where) -> _Link:
        first = 0 if where[0] in self._plain else None
        connection = Connection(self.client_id, now=now_ms(), first_version=first)
        link = _Link(where, self.view.addresses[where[0]], connection, self.connect_timeout_s)
        self._links[where] = link
        self._selector.register(link.socket, selectors.EVENT_READ, link)
        return link

    def _drop(self, link: _Link) -> None:
        if self._links.get(link.where) is link:
            del self._links[link.where]
        self._selector.unregister(link.socket)
        link.socket.close()

    def _write(self, link: _Link) -> None:
        try:
            more = link.flush()
        except OSError as fault:
            self._lose(link, "closed", str(fault))
            return
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if more else 0)
        if events != link.watched:
            self._selector.modify(link.socket, events, link)
            link.watched = events

    def _read(self, link: _Link) -> None:
        try:
            chunk = link.socket.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError as fault:
            self._lose(link, "closed", str(fault))
            return
        if not chunk:
            self._lose(link, "closed", "the broker closed the connection")
            return
        try:
            taken = link.connection.receive(chunk, now=now_ms())
        except ProtocolFault as fault:
            self._lose(link, "malformed", str(fault))
            return
        self._take(*taken)

    def _take(self, replies: list[Reply], impossible: list[tuple[int, Unsupported]]) -> None:
        self._replied(replies)
        for ticket, why in impossible:
            ask, _ = self._asked[ticket]
            self._end(ticket, Failed(ask, "unsupported", str(why)))

    def _replied(self, replies: list[Reply]) -> None:
        for reply in replies:
            ask, _ = self._asked[reply.ticket]
            self._end(reply.ticket, Answer(ask, reply.version, reply.body or {}))

    def _end(self, ticket: int, outcome: Outcome) -> None:
        _, sink = self._asked.pop(ticket)
        sink(outcome)

    def _lose(self, link: _Link, kind: FailureKind, why: str) -> None:
        self._drop(link)
        shy = kind == "closed" and not link.connection.negotiated and link.node not in self._plain
        if shy:
            self._plain.add(link.node)
        else:
            self.view.unreachable(link.node)
        self._abandon(link, kind, why, again=shy)

    def _abandon(self, link: _Link, kind: FailureKind, why: str, *, again: bool = False) -> None:
        for ticket, _ in link.connection.abandon():
            ask, sink = self._asked.pop(ticket)
            if again:
                self.start(ask, sink)
            else:
                sink(Failed(ask, kind, why))
