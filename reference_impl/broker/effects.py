"""The broker's core returns effects, values that its surroundings carry out.

A handler answers with a dict (the response body), or with one of the three other things a Kafka
broker can do with a request: keep it for later (`Wait`), say nothing and read on (`NoReply`, the
answer to acks=0), or hang up (`Hangup`). The core turns those into effects for one connection:
`Reply`, `Unmute`, `Close`. A connection has one request in work; each of the three effects ends
that work (WIRE-10, WIRE-17). `Ask` is what a broker wants of a peer: a request of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar, final

from touchstone.reference_impl.cluster.endpoints import PLAINTEXT
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.wire.headers import RequestHeader
from touchstone.reference_impl.wire.schema import Struct

# Kafka's own words for INVALID_REQUEST (Errors.INVALID_REQUEST).
MALFORMED_REQUEST = (
    "This most likely occurs because of a request being malformed by the client library or the "
    "message was sent to an incompatible broker. See the broker logs for more details."
)


class Principal(NamedTuple):
    """Who a peer is (KafkaPrincipal); `str` gives Kafka's form, "User:alice"."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"


ANONYMOUS = Principal("User", "ANONYMOUS")  # KafkaPrincipal.ANONYMOUS: nobody asked who it is


class Connection:
    """A peer as handlers see it; `io.channel` derives a class that adds the socket."""

    __slots__ = (
        "authenticator",
        "by_token",
        "controller",
        "id",
        "listener",
        "peer_host",
        "principal",
        "software",
        "__weakref__",
    )
    of_broker = False  # whether a broker of this process asks, who may do everything

    def __init__(
        self,
        id: int,
        peer_host: str = "127.0.0.1",
        *,
        controller: bool = False,
        listener: str = PLAINTEXT,
    ) -> None:
        self.id = id
        self.peer_host = peer_host
        self.listener = listener  # the name of the listener that it came by
        self.principal = ANONYMOUS  # until it authenticates
        self.by_token = False  # with a delegation token, which may do less
        self.authenticator: Authenticator | None = None  # None: its requests are served
        self.controller = controller  # arrived through the controller listener
        self.software: tuple[str, str] | None = None  # name and version, once ApiVersions said so

    @property
    def peer_port(self) -> int | None:
        """Where the peer sends from; None where there is no such thing."""
        return None

    def authenticated(self, principal: Principal) -> None:
        """From now on it is this principal's."""
        self.principal = principal


class Authenticator(Protocol):
    """What stands before a connection's requests until its peer has said who it is."""

    def receive(self, frame: bytes, now: int) -> Iterable[Effect] | None:
        """The effects of a frame; None where it is an ordinary request, to be served."""


class OwnConnection(Connection):
    """A broker that asks itself, without a wire."""

    __slots__ = ()
    of_broker = True

    def __init__(self) -> None:
        super().__init__(0)


class Access(Protocol):
    """What a peer may do, where an authorizer is configured."""

    def may(self, operation: int, kind: int, name: str) -> bool:
        """Codes are those of `cluster.acls`."""

    def cluster(self, operation: int) -> bool: ...

    def topic(self, operation: int, name: str) -> bool: ...


@final
class Reply(NamedTuple):
    """Send these parts as one frame (`io` puts the size in front), then read on."""

    connection: Connection
    parts: tuple[bytes, ...]


@final
class Unmute(NamedTuple):
    """Send nothing; read the next request."""

    connection: Connection


@final
class Close(NamedTuple):
    connection: Connection
    reason: str = ""


@final
class Ask(NamedTuple):
    """Carry this frame to a peer and give its answer to `Broker.answered`, or None for none.

    The frames of one (sender, peer, channel) arrive in order, one at a time.
    """

    sender: int  # broker ids
    peer: int
    channel: str
    parts: tuple[bytes, ...]
    correlation_id: int


ThreadTime = Callable[[], int]  # ns of whoever serves, from any beginning
Effect = Reply | Unmute | Close | Ask


class NoReply:
    """A handler's answer when there is none (acks=0)."""


class Hangup(NamedTuple):
    """A handler's answer when Kafka closes the connection instead of answering."""

    reason: str = ""


A = TypeVar("A")
NEVER = 1 << 62  # a deadline that does not come
WaitKey = Hashable
Attempt = Callable[[int], Any]


@dataclass(slots=True)
class Wait:
    """A request that cannot be answered yet.

    `attempt(now)` gives the answer once it can be given, else None; it is asked whenever something
    under one of the `watch` keys changed. At `deadline` (ms) `expire(now)` gives the answer.
    Either may give anything a handler may give, except another Wait.
    """

    deadline: int
    watch: Iterable[WaitKey]
    attempt: Attempt
    expire: Attempt
    ticket: Ticket[Any] | None = None  # its answer, which only this waits for, is a change too
    order: int = field(default=0, compare=False)  # the purgatory's: first come, first asked


def waiting(ticket: Ticket[A], form: Callable[[A], Struct]) -> Struct | Wait:
    """The ticket's answer in the form of its request, now or when it comes."""
    if ticket.answer is not None:
        return form(ticket.answer)

    def attempt(now: int) -> Struct | None:
        return None if ticket.answer is None else form(ticket.answer)

    return Wait(NEVER, (), attempt, attempt, ticket)


@dataclass(slots=True)  # not frozen: made for every request, and that costs the most
class Request:
    """A request as a handler sees it: decoded, and with the connection it came by."""

    header: RequestHeader
    body: Struct
    connection: Connection
    size: int = 0  # bytes of its frame
    access: Access | None = None  # what its peer may do; None where nobody asks
    thread_ns: int = 0  # how long it was worked on, where a quota bounds that
