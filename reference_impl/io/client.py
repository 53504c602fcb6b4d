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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass(slots=True)
class _Round:
    """What is asked at once: each ask with its place, by ticket, and what came of it, by place."""

    asks: dict[int, tuple[int, Ask]] = field(default_factory=dict)
    outcomes: dict[int, Outcome] = field(default_factory=dict)


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

    def drop(self, node: int) -> None:
        """End the connection to a node, if there is one; the next ask makes a new one."""
        if node in self._links:
            self._drop(self._links[node])

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
        """Do what the flow yields until it returns."""
        given: list[Outcome] | None = None
        while True:
            self.view.now = self.now()
            try:
                wanted = next(flow) if given is None else flow.send(given)
            except StopIteration as end:
                return end.value
            if isinstance(wanted, Pause):
                time.sleep(max(0, wanted.until - self.now()) / 1000)
                given = []
            else:
                given = self._ask(wanted)

    def _ask(self, asks: Sequence[Ask]) -> list[Outcome]:
        round = _Round()
        for place, ask in enumerate(asks):
            self._serial += 1
            round.asks[self._serial] = (place, ask)
            self._start(self._serial, ask, round)
        while len(round.outcomes) < len(asks):
            self._wait(round)
        for link in self._links.values():
            self._watch(link)
        return [round.outcomes[place] for place in range(len(asks))]

    def _start(self, ticket: int, ask: Ask, round: _Round) -> None:
        place, _ = round.asks[ticket]
        node = self.view.resolve(ask.node)
        if node is None:
            round.outcomes[place] = Failed(ask, "refused", f"node {ask.node} is not known")
            return
        try:
            link = self._links.get(node) or self._connect(node)
        except OSError as fault:
            self.view.unreachable(node)
            round.outcomes[place] = Failed(ask, "refused", str(fault))
            return
        try:
            replies = link.connection.ask(ticket, ask, now=self.now())
        except Unsupported as fault:
            round.outcomes[place] = Failed(ask, "unsupported", str(fault))
            return
        self._replied(replies, round)
        self._write(link, round)

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

    def _wait(self, round: _Round) -> None:
        deadlines = [link.connection.deadline() for link in self._links.values()]
        soonest = min((each for each in deadlines if each is not None), default=self.now())
        for key, events in self._selector.select(max(0, soonest - self.now()) / 1000):
            link: _Link = key.data
            if events & selectors.EVENT_READ:
                self._read(link, round)
            if self._links.get(link.node) is link:
                self._write(link, round)
        for link in list(self._links.values()):
            if link.connection.expired(self.now()):
                self._lose(link, "timeout", "no answer in time", round)

    def _write(self, link: _Link, round: _Round) -> None:
        try:
            link.flush()
        except OSError as fault:
            self._lose(link, "closed", str(fault), round)
            return
        self._watch(link)

    def _watch(self, link: _Link) -> None:
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if link.unsent else 0)
        self._selector.modify(link.socket, events, link)

    def _read(self, link: _Link, round: _Round) -> None:
        try:
            chunk = link.socket.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError as fault:
            self._lose(link, "closed", str(fault), round)
            return
        if not chunk:
            self._lose(link, "closed", "the broker closed the connection", round)
            return
        try:
            replies, impossible = link.connection.receive(chunk)
        except ProtocolFault as fault:
            self._lose(link, "malformed", str(fault), round)
            return
        self._replied(replies, round)
        for ticket, why in impossible:
            if ticket in round.asks:
                place, ask = round.asks[ticket]
                round.outcomes[place] = Failed(ask, "unsupported", str(why))

    def _replied(self, replies: list[Reply], round: _Round) -> None:
        for reply in replies:
            if reply.ticket in round.asks:
                place, ask = round.asks[reply.ticket]
                round.outcomes[place] = Answer(ask, reply.version, reply.body or {})

    def _lose(self, link: _Link, kind: FailureKind, why: str, round: _Round) -> None:
        self._drop(link)
        shy = kind == "closed" and not link.connection.negotiated and link.node not in self._plain
        if shy:
            self._plain.add(link.node)
        else:
            self.view.unreachable(link.node)
        for ticket, _ in link.connection.abandon():
            if ticket not in round.asks:
                continue
            place, ask = round.asks[ticket]
            if shy:
                self._start(ticket, ask, round)
            else:
                round.outcomes[place] = Failed(ask, kind, why)
