"""Sockets and the wall clock for the client: runs its flows, one thread, blocking.

Everything that decides is in `reference_impl/client`; this file connects, reads, writes and waits.
A `Client` belongs to one thread.
"""

from __future__ import annotations

import base64
import random
import selectors
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar, overload

from touchstone.reference_impl.client.admin import Admin
from touchstone.reference_impl.client.classic_consumer import ClassicConsumer
from touchstone.reference_impl.client.configs.consumer_config import (
    consumer_config,
    consumer_options,
)
from touchstone.reference_impl.client.configs.definitions import NEWEST
from touchstone.reference_impl.client.configs.producer_config import (
    producer_config,
    producer_options,
)
from touchstone.reference_impl.client.connection import (
    Connection,
    ProtocolFault,
    Reply,
    Unsupported,
)
from touchstone.reference_impl.client.consumer import Consumer
from touchstone.reference_impl.client.flow import (
    Answer,
    Ask,
    Exchange,
    Failed,
    FailureKind,
    Flow,
    Outcome,
    Pause,
    TopicPartition,
)
from touchstone.reference_impl.client.kip848_consumer import Kip848Consumer
from touchstone.reference_impl.client.metadata import View
from touchstone.reference_impl.client.producer import Producer
from touchstone.reference_impl.client.transactions import TransactionalProducer
from touchstone.reference_impl.io.blocking import (
    BlockingAdmin,
    BlockingConsumer,
    BlockingGroupConsumer,
    BlockingKip848Consumer,
    BlockingProducer,
    BlockingTransactionalProducer,
)
from touchstone.reference_impl.wire.schema import Struct

T = TypeVar("T")
_CHUNK = 1 << 18
_CONNECT_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class _Sent:
    """A request, and who is told what comes of it."""

    ask: Ask
    told: Callable[[Outcome], None]


class _Link:
    """A socket and the connection that speaks over it."""

    def __init__(
        self, node: int, address: tuple[str, int], connection: Connection, patience_s: float
    ):
        self.node = node
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


class Client:
    """`run` a flow, or have `admin`, `producer()` and `consumer()` do it."""

    def __init__(
        self,
        bootstrap: str | Sequence[str],
        *,
        client_id: str = "touchstone",
        seed: int = 0,
        connect_timeout_s: float = _CONNECT_TIMEOUT_S,
    ):
        rows = bootstrap.split(",") if isinstance(bootstrap, str) else bootstrap
        self.bootstrap = list(rows)
        hosts = [row.rpartition(":") for row in rows]
        self.view = View([(host, int(port)) for host, _, port in hosts], self.now())
        self.client_id = client_id
        self.connect_timeout_s = connect_timeout_s
        self.random = random.Random(seed)
        self._links: dict[int, _Link] = {}
        self._plain: set[int] = set()  # nodes that closed on our ApiVersions; they get version 0
        self._selector = selectors.DefaultSelector()
        self._serial = 0
        self._running = 0
        self.guard: AbstractContextManager[object] = nullcontext()  # held while a core decides
        self._wakeups: tuple[socket.socket, socket.socket] | None = None
        self._woken = False
        self._sent: dict[int, _Sent] = {}  # by ticket: the requests without an outcome

    @staticmethod
    def now() -> int:
        return time.time_ns() // 1_000_000

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for link in list(self._links.values()):
            self._drop(link)
        self._selector.close()
        for each in self._wakeups or ():
            each.close()

    def drop(self, node: int) -> None:
        """End the connection to a node, if there is one; the next ask makes a new one."""
        if node in self._links:
            link = self._links[node]
            self._drop(link)
            self._abandon(link, "closed", "the connection was dropped")

    @property
    def admin(self) -> BlockingAdmin:
        return BlockingAdmin(self, Admin(self.view))

    def producer(
        self, config: Mapping[str, Any] | None = None, *, release: str = NEWEST, **options: Any
    ) -> BlockingProducer:
        """A producer; `config` has Java's names, with the defaults of that release's client.

        `options` are `Producer`'s keyword arguments and win over `config`. Serializers are `bytes`
        where nobody names others. Raises ConfigException.
        """
        self.view.now = self.now()
        if config is not None:
            writes = {"key.serializer": bytes, "value.serializer": bytes}
            found = producer_config(self._mine | writes | dict(config), release)
            options = producer_options(found) | options
            if found["transactional.id"] is not None:
                options.setdefault("transaction_timeout_ms", found["transaction.timeout.ms"])
                return self.transactional_producer(found["transactional.id"], **options)
        producer = Producer(self.view, randrange=self.random.randrange, **options)
        return BlockingProducer(self, producer)

    @property
    def _mine(self) -> dict[str, Any]:
        """What Java's clients each want to be told, and every client of ours has from here."""
        return {"bootstrap.servers": self.bootstrap, "client.id": self.client_id}

    def transactional_producer(
        self, transactional_id: str, **options: Any
    ) -> BlockingTransactionalProducer:
        """A producer that has taken its id: `begin` comes next."""
        self.view.now = self.now()
        producer = TransactionalProducer(
            self.view, transactional_id, randrange=self.random.randrange, **options
        )
        self.run(producer.init())
        return BlockingTransactionalProducer(self, producer)

    @overload
    def consumer(
        self, places: Iterable[TopicPartition] = (), *, group: None = None, **options: Any
    ) -> BlockingConsumer: ...

    @overload
    def consumer(
        self,
        places: Iterable[TopicPartition] = (),
        *,
        group: str,
        topics: Iterable[str] = (),
        protocol: Literal["classic"] = "classic",
        **options: Any,
    ) -> BlockingGroupConsumer: ...

    @overload
    def consumer(
        self,
        places: Iterable[TopicPartition] = (),
        *,
        group: str,
        topics: Iterable[str] = (),
        protocol: Literal["consumer"],
        **options: Any,
    ) -> BlockingKip848Consumer: ...

    def consumer(
        self,
        places: Iterable[TopicPartition] = (),
        *,
        group: str | None = None,
        topics: Iterable[str] = (),
        protocol: str = "classic",
        config: Mapping[str, Any] | None = None,
        release: str = NEWEST,
        **options: Any,
    ) -> BlockingConsumer:
        """A consumer of these partitions, or of its share of `topics` as a member of `group`.

        `protocol` is how it is a member: "classic", or "consumer" (KIP-848, brokers from 4.0 on).
        `config` has Java's names, `group.id` and `group.protocol` among them, with the defaults of
        that release's client; keyword arguments win over it. Raises ConfigException.
        """
        self.view.now = self.now()
        if config is not None:
            reads = {"key.deserializer": bytes, "value.deserializer": bytes}
            named = {"group.id": group, "group.protocol": protocol} if group is not None else {}
            found = consumer_config(self._mine | reads | named | dict(config), release)
            options = consumer_options(found) | options
            group, protocol = found["group.id"], (found["group.protocol"] or "classic").lower()
        if group is None:
            if topics:
                raise ValueError("topics are shared out in a group: name one, or give partitions")
            alone = Consumer(self.view, **options)
            alone.assign(places)
            return BlockingConsumer(self, alone)
        member: BlockingGroupConsumer
        if protocol == "consumer":
            own = base64.urlsafe_b64encode(self.random.randbytes(16)).decode().rstrip("=")
            core = Kip848Consumer(self.view, group, member_id=own, **options)
            member = BlockingKip848Consumer(self, core)
        elif protocol == "classic":
            member = BlockingGroupConsumer(self, ClassicConsumer(self.view, group, **options))
        else:
            raise ValueError(f"group protocol {protocol!r}: there are 'classic' and 'consumer'")
        if topics:
            member.subscribe(topics)
        else:
            member.assign(places)
        return member

    def ask(self, api: str, body: Struct, node: int | str = "any", **options: Any) -> Struct:
        """Send one request and return its decoded answer."""
        (outcome,) = self._ask([Ask(node, api, body, **options)])
        if isinstance(outcome, Failed):
            raise ConnectionError(f"{api}: {outcome.kind}: {outcome.reason}")
        return outcome.body

    def run(self, flow: Flow[T]) -> T:
        """Run a flow to its end; a flow's own exceptions are the caller's."""
        self._running += 1
        try:
            return self._run(flow)
        finally:
            self._running -= 1

    @property
    def busy(self) -> bool:
        """A flow runs: who asks is a callback of it."""
        return self._running > 0

    def _run(self, flow: Flow[T]) -> T:
        given: list[Outcome] = []
        wanted = None
        while True:
            try:
                with self.guard:
                    self.view.now = self.now()
                    wanted = flow.send(given) if wanted is not None else next(flow)
            except StopIteration as end:
                result: T = end.value
                return result
            if isinstance(wanted, Pause):
                while wanted.until > self.now():
                    self._wait(wanted.until)  # somebody's answers may come meanwhile
                given = []
            elif isinstance(wanted, Exchange):
                self._exchange(wanted)
                given = []
            else:
                given = self._ask(wanted)

    def _ask(self, asks: Sequence[Ask]) -> list[Outcome]:
        """Send all of these and wait until each has its outcome."""
        outcomes: dict[int, Outcome] = {}
        for place, ask in enumerate(asks):
            self._start(_Sent(ask, partial(outcomes.__setitem__, place)))
        while len(outcomes) < len(asks):
            self._wait()
        self._watch_all()
        return [outcomes[place] for place in range(len(asks))]

    def _exchange(self, wanted: Exchange) -> None:
        """Send these, and wait until something is in the inbox or its instant has come."""
        for ask in wanted.asks:
            self._start(_Sent(ask, wanted.inbox.append))
        looked = False
        while not wanted.inbox and (not looked or wanted.until > self.now()):
            self._wait(wanted.until)
            looked = True
            if self._woken:
                break
        self._woken = False
        self._watch_all()

    def wakeup(self) -> None:
        """End the exchange that is waited in, or that comes next; from any thread."""
        if self._wakeups is not None:
            with suppress(BlockingIOError):  # so many wake it already
                self._wakeups[1].send(b"w")

    def may_be_woken(self) -> None:
        """Let `wakeup` do what it says."""
        self._wakeups = socket.socketpair()
        for each in self._wakeups:
            each.setblocking(False)
        self._selector.register(self._wakeups[0], selectors.EVENT_READ, None)

    def _watch_all(self) -> None:
        for link in self._links.values():
            self._watch(link)

    def _start(self, sent: _Sent) -> None:
        ask = sent.ask
        node = self.view.resolve(ask.node)
        if node is None:
            sent.told(Failed(ask, "refused", f"node {ask.node} is not known"))
            return
        try:
            link = self._links.get(node) or self._connect(node)
        except OSError as fault:
            self.view.unreachable(node)
            sent.told(Failed(ask, "refused", str(fault)))
            return
        self._serial += 1
        self._sent[self._serial] = sent
        try:
            replies = link.connection.ask(self._serial, ask, now=self.now())
        except Unsupported as fault:
            self._told(self._serial, partial(Failed, kind="unsupported", reason=str(fault)))
            return
        self._replied(replies)
        self._write(link)

    def _told(self, ticket: int, outcome: Callable[[Ask], Outcome]) -> None:
        sent = self._sent.pop(ticket, None)
        if sent is not None:
            sent.told(outcome(sent.ask))

    def _connect(self, node: int) -> _Link:
        first = 0 if node in self._plain else None
        connection = Connection(self.client_id, now=self.now(), first_version=first)
        link = _Link(node, self.view.addresses[node], connection, self.connect_timeout_s)
        self._links[node] = link
        self._selector.register(link.socket, selectors.EVENT_READ, link)
        return link

    def _drop(self, link: _Link) -> None:
        if self._links.get(link.node) is link:
            del self._links[link.node]
        self._selector.unregister(link.socket)
        link.socket.close()

    def _wait(self, until: int | None = None) -> None:
        """Read and write what can be, when it can be; at most until then, or a deadline."""
        now = self.now()
        deadlines = [link.connection.deadline() for link in self._links.values()]
        soonest = min((each for each in [*deadlines, until] if each is not None), default=now)
        for key, events in self._selector.select(max(0, soonest - now) / 1000):
            link: _Link | None = key.data
            if link is None:
                assert self._wakeups is not None
                self._woken = bool(self._wakeups[0].recv(_CHUNK))
                continue
            if events & selectors.EVENT_READ:
                self._read(link)
            if self._links.get(link.node) is link:
                self._write(link)
        now = self.now()
        for link in list(self._links.values()):
            if link.connection.expired(now):
                self._lose(link, "timeout", "no answer in time")

    def _write(self, link: _Link) -> None:
        try:
            link.flush()
        except OSError as fault:
            self._lose(link, "closed", str(fault))
            return
        self._watch(link)

    def _watch(self, link: _Link) -> None:
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if link.unsent else 0)
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
            replies, impossible = link.connection.receive(chunk)
        except ProtocolFault as fault:
            self._lose(link, "malformed", str(fault))
            return
        self._replied(replies)
        for ticket, why in impossible:
            self._told(ticket, partial(Failed, kind="unsupported", reason=str(why)))

    def _replied(self, replies: list[Reply]) -> None:
        for reply in replies:
            self._told(reply.ticket, partial(Answer, version=reply.version, body=reply.body or {}))

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
            sent = self._sent.pop(ticket, None)
            if sent is None:
                continue
            if again:
                self._start(sent)
            else:
                sent.told(Failed(sent.ask, kind, why))
