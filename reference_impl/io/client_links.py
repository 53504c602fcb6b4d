"""What both clients' networks have in common: the link of each ask, and who is told its outcome.

A link serves one node and one lane (`flow.Ask`). An ask that was started has exactly one outcome,
whoever waits when it comes. Sockets are the networks' own: `client_network.py`, `aio/network.py`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from touchstone.reference_impl.client.connection import (
    Connection,
    ProtocolFault,
    Reply,
    Unsupported,
)
from touchstone.reference_impl.client.flow import Answer, Ask, Failed, FailureKind, Outcome
from touchstone.reference_impl.client.metadata import View
from touchstone.reference_impl.client.security.errors import AuthenticationException
from touchstone.reference_impl.io.client_security import ClientSecurity
from touchstone.reference_impl.io.client_tls import ClientTls

CLOSED = "the broker closed the connection"
_DURING_AUTHENTICATION = (
    "Connection terminated during authentication. This may happen due to any of the following"
    " reasons: (1) Firewall blocking Kafka TLS traffic (eg it may only allow HTTPS traffic),"
    " (2) Transient network issue."
)
Sink = Callable[[Outcome], None]
Where = tuple[int, int]  # node, lane


def now_ms() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


class Link:
    """A connection, and the TLS that it is wrapped in."""

    def __init__(self, where: Where, connection: Connection, tls: ClientTls | None):
        self.where = where
        self.node = where[0]
        self.connection = connection
        self._tls = tls

    def decrypted(self, chunk: bytes) -> bytes:
        """What bytes of the socket say. Raises SslAuthenticationException, ProtocolFault."""
        return chunk if self._tls is None else self._tls.decrypted(chunk)

    def outgoing(self) -> bytes:
        """Bytes for the socket, each given once."""
        said = self.connection.outgoing()
        return said if self._tls is None else self._tls.wrapped(said)


L = TypeVar("L", bound=Link)


class ClientLinks(ABC, Generic[L]):
    def __init__(
        self, view: View, client_id: str, connect_timeout_s: float, security: ClientSecurity
    ):
        self.view = view
        self.client_id = client_id
        self.connect_timeout_s = connect_timeout_s
        self._security = security
        self._links: dict[Where, L] = {}
        self._asked: dict[int, tuple[Ask, Sink, int]] = {}  # by ticket, and since when (ms)
        self._plain: set[int] = set()  # nodes that closed on our ApiVersions; they get version 0
        self._serial = 0

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
        now = now_ms()
        self._asked[self._serial] = ask, sink, now
        self.view.metrics.asked(ask, now)
        try:
            replies = link.connection.ask(self._serial, ask, now=now)
        except Unsupported as fault:
            self._end(self._serial, Failed(ask, "unsupported", str(fault)))
            return
        self._replied(replies)
        self._write(link)

    def drop(self, node: int) -> None:
        """End the connections to a node."""
        for link in [each for each in self._links.values() if each.node == node]:
            self._forget(link)
            self._fail(link.connection.abandon(), "closed", "the connection was dropped")

    # --- what sockets are needed for -----------------------------------------------------------

    @abstractmethod
    def _open(self, where: Where, address: tuple[str, int], connection: Connection) -> L:
        """A link to this address. OSError."""

    @abstractmethod
    def _write(self, link: L) -> None:
        """Send what is outgoing, as far as that goes now."""

    @abstractmethod
    def _shut(self, link: L) -> None:
        """Close its socket."""

    # --- outcomes ------------------------------------------------------------------------------

    def _connect(self, where: Where) -> L:
        connection = Connection(
            self.client_id,
            now=now_ms(),
            first_version=0 if where[0] in self._plain else None,
            authenticator=self._security.authenticator(),
        )
        link = self._open(where, self.view.addresses[where[0]], connection)
        self._links[where] = link
        return link

    def _receive(self, link: L, chunk: bytes) -> None:
        """Take in what the socket gave; no bytes: the broker closed it."""
        if not chunk:
            self._lose(link, "closed", CLOSED)
            return
        try:
            taken = link.connection.receive(link.decrypted(chunk), now=now_ms())
        except ProtocolFault as fault:
            self._lose(link, "malformed", str(fault))
            return
        except AuthenticationException as refused:
            unanswered = link.connection.abandon()
            self._write(link)  # an alert may say why; that it does not go is of no consequence
            self._lose(link, "unauthenticated", str(refused))
            self._fail(unanswered, "unauthenticated", str(refused), refused)
            return
        self._take(*taken)

    def _take(self, replies: list[Reply], impossible: list[tuple[int, Unsupported]]) -> None:
        self._replied(replies)
        for ticket, why in impossible:
            ask = self._asked[ticket][0]
            self._end(ticket, Failed(ask, "unsupported", str(why)))

    def _replied(self, replies: list[Reply]) -> None:
        for reply in replies:
            ask = self._asked[reply.ticket][0]
            self._end(reply.ticket, Answer(ask, reply.version, reply.body or {}))

    def _end(self, ticket: int, outcome: Outcome) -> None:
        _, sink, began = self._asked.pop(ticket)
        self.view.metrics.ended(outcome, began, now_ms())
        sink(outcome)

    def _forget(self, link: L) -> None:
        if self._links.get(link.where) is link:
            del self._links[link.where]
        self._shut(link)

    def _lose(self, link: L, kind: FailureKind, why: str) -> None:
        if self._links.get(link.where) is not link:
            return
        self._forget(link)
        connection = link.connection
        shy = kind == "closed" and not connection.negotiated and link.node not in self._plain
        if shy:
            self._plain.add(link.node)
        else:
            self.view.unreachable(link.node)
        if kind == "closed" and connection.negotiated and not connection.ready:
            why = _DURING_AUTHENTICATION
        unanswered = connection.abandon()
        if not shy:
            self._fail(unanswered, kind, why)
            return
        for ticket, _ in unanswered:
            ask, sink, _ = self._asked.pop(ticket)
            self.start(ask, sink)

    def _fail(
        self,
        tickets: Iterable[tuple[int, bool]],
        kind: FailureKind,
        why: str,
        error: Exception | None = None,
    ) -> None:
        for ticket, _ in tickets:
            ask = self._asked[ticket][0]
            self._end(ticket, Failed(ask, kind, why, error))
