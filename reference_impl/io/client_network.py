"""The client's sockets: connects, reads, writes and waits, and hands outcomes to who asked.

A pass over the sockets reads before it looks at deadlines, so an answer that lay in the socket
while nobody looked is not too late.
"""

from __future__ import annotations

import selectors
import socket
from collections.abc import Callable

from touchstone.reference_impl.client.connection import Connection
from touchstone.reference_impl.client.metadata import View
from touchstone.reference_impl.io.client_links import ClientLinks, Link, Where, now_ms
from touchstone.reference_impl.io.client_security import ClientSecurity
from touchstone.reference_impl.io.client_tls import ClientTls

_CHUNK = 1 << 18


class _Link(Link):
    """A socket and the connection that speaks over it."""

    def __init__(
        self, where: Where, connection: Connection, tls: ClientTls | None, sock: socket.socket
    ):
        super().__init__(where, connection, tls)
        self.socket = sock
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.unsent = b""
        self.watched = selectors.EVENT_READ

    def flush(self) -> bool:
        """Write what can be written; True while something is left."""
        self.unsent += self.outgoing()
        while self.unsent:
            try:
                sent = self.socket.send(self.unsent)
            except BlockingIOError:
                break
            self.unsent = self.unsent[sent:]
        return bool(self.unsent)


class ClientNetwork(ClientLinks[_Link]):
    """`start` an ask, `wait` for what one wants. `wake` may be called by any thread."""

    def __init__(
        self, view: View, client_id: str, connect_timeout_s: float, security: ClientSecurity
    ):
        super().__init__(view, client_id, connect_timeout_s, security)
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
            self._forget(link)
        self._selector.close()
        self._awake.close()
        self._waker.close()

    def wake(self) -> None:
        """Have whoever waits look again."""
        try:
            self._waker.send(b"w")
        except OSError:
            return  # closed, or woken so often that nobody can have missed it

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

    def _open(self, where: Where, address: tuple[str, int], connection: Connection) -> _Link:
        tls = self._security.tls(address[0])
        sock = socket.create_connection(address, timeout=self.connect_timeout_s)
        link = _Link(where, connection, tls, sock)
        self._selector.register(link.socket, selectors.EVENT_READ, link)
        return link

    def _shut(self, link: _Link) -> None:
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
        self._receive(link, chunk)
