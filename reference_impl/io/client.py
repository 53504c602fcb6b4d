"""The client as its users see it: runs its flows over sockets, one thread, blocking.

Everything that decides is in `reference_impl/client`; sockets are `client_network.py`'s. A `Client`
belongs to one thread, and to the threads that keep its consumers' memberships: `lock` is held while
a flow runs, `guard` only while a core decides.
"""

from __future__ import annotations

import base64
import random
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
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
from touchstone.reference_impl.client.consumer import Consumer
from touchstone.reference_impl.client.flow import (
    Ask,
    Failed,
    Flow,
    NetworkPoll,
    Outcome,
    Pause,
    TopicPartition,
)
from touchstone.reference_impl.client.kip848_consumer import Kip848Consumer
from touchstone.reference_impl.client.metadata import View
from touchstone.reference_impl.client.producer import Producer
from touchstone.reference_impl.client.share_consumer import ShareConsumer
from touchstone.reference_impl.client.transactions import TransactionalProducer
from touchstone.reference_impl.io.blocking import (
    BlockingAdmin,
    BlockingConsumer,
    BlockingGroupConsumer,
    BlockingKip848Consumer,
    BlockingProducer,
    BlockingShareConsumer,
    BlockingTransactionalProducer,
)
from touchstone.reference_impl.io.client_network import ClientNetwork, now_ms
from touchstone.reference_impl.io.heartbeats import Heartbeats, KeptAlive
from touchstone.reference_impl.wire.schema import Struct

T = TypeVar("T")
_CONNECT_TIMEOUT_S = 10.0


class Client:
    """`run` a flow, or have `admin`, `producer()` and `consumer()` do it.

    `seed` is of its choices, ids of members among them (KIP-1082); None has the system choose, so
    that no two clients choose alike.
    """

    def __init__(
        self,
        bootstrap: str | Sequence[str],
        *,
        client_id: str = "touchstone",
        seed: int | None = None,
        connect_timeout_s: float = _CONNECT_TIMEOUT_S,
    ):
        rows = bootstrap.split(",") if isinstance(bootstrap, str) else bootstrap
        self.bootstrap = list(rows)
        hosts = [row.rpartition(":") for row in rows]
        self.view = View([(host, int(port)) for host, _, port in hosts], self.now())
        self.client_id = client_id
        self.random = random.Random(seed)
        self.lock = threading.RLock()
        self.guard: AbstractContextManager[object] = nullcontext()
        self._running = 0  # flows, each but the first by a callback of the one before
        self._network = ClientNetwork(self.view, client_id, connect_timeout_s)
        self._interrupted = False
        self._heartbeats: list[Heartbeats] = []

    @staticmethod
    def now() -> int:
        return now_ms()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._network.give_up()
        for each in self._heartbeats:
            each.stop()
        self._network.close()

    def drop(self, node: int) -> None:
        """End the connections to a node, if there are any; the next ask makes a new one."""
        with self.lock:
            self._network.drop(node)

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
        alive = options.pop("heartbeat_in_background", True)
        if group is None:
            if topics:
                raise ValueError("topics are shared out in a group: name one, or give partitions")
            alone = Consumer(self.view, **options)
            alone.assign(places)
            return BlockingConsumer(self, alone)
        member: BlockingGroupConsumer
        if protocol == "consumer":
            core = Kip848Consumer(self.view, group, member_id=self._member_id(), **options)
            member = BlockingKip848Consumer(self, core)
        elif protocol == "classic":
            member = BlockingGroupConsumer(self, ClassicConsumer(self.view, group, **options))
        else:
            raise ValueError(f"group protocol {protocol!r}: there are 'classic' and 'consumer'")
        if topics:
            member.subscribe(topics)
        else:
            member.assign(places)
        if alive:
            member.heartbeat_in_background()
        return member

    def share_consumer(
        self, group: str, topics: Iterable[str] = (), **options: Any
    ) -> BlockingShareConsumer:
        """A member of a share group (KIP-932, brokers from 4.2 on)."""
        self.view.now = self.now()
        core = ShareConsumer(self.view, group, member_id=self._member_id(), **options)
        if topics:
            core.subscribe(topics)
        made = BlockingShareConsumer(self, core)
        made.heartbeat_in_background()
        return made

    def _member_id(self) -> str:
        """As a client makes its own (KIP-1082)."""
        return base64.urlsafe_b64encode(self.random.randbytes(16)).decode().rstrip("=")

    def keep_alive(self, core: KeptAlive) -> Heartbeats:
        """A thread that keeps this member in its group between its calls."""
        made = Heartbeats(self, core)
        self._heartbeats.append(made)
        made.start()
        return made

    def interrupt(self) -> None:
        """Have the poll of the network that waits, or the next, return at once; for any thread."""
        self._interrupted = True
        self._network.wake()

    def ask(self, api: str, body: Struct, node: int | str = "any", **options: Any) -> Struct:
        """Send one request and return its decoded answer."""
        with self.lock:
            (outcome,) = self._ask([Ask(node, api, body, **options)])
        if isinstance(outcome, Failed):
            raise ConnectionError(f"{api}: {outcome.kind}: {outcome.reason}")
        return outcome.body

    def run(self, flow: Flow[T]) -> T:
        """Do what the flow yields until it returns; its own exceptions are the caller's."""
        with self.lock:
            self._running += 1
            try:
                return self._run(flow)
            finally:
                self._running -= 1

    @property
    def busy(self) -> bool:
        """A flow runs: who holds `lock` and asks is a callback of it."""
        return self._running > 0

    def _run(self, flow: Flow[T]) -> T:
        given: list[Outcome] | None = None
        while True:
            try:
                with self.guard:
                    self.view.now = self.now()
                    wanted = next(flow) if given is None else flow.send(given)
            except StopIteration as end:
                result: T = end.value
                return result
            given = []
            if isinstance(wanted, Pause):
                self._network.wait(lambda: False, wanted.until)
            elif isinstance(wanted, NetworkPoll):
                self._poll(wanted)
            else:
                given = self._ask(wanted)

    def _poll(self, wanted: NetworkPoll) -> None:
        for ask in wanted.asks:
            self._network.start(ask, wanted.inbox.append)
        until = wanted.until
        if self._interrupted:  # looks once all the same, or one who interrupts keeps answers out
            self._interrupted, until = False, self.now()
        self._network.wait(lambda: bool(wanted.inbox) or self._interrupted, until)
        self._interrupted = False

    def _ask(self, asks: Sequence[Ask]) -> list[Outcome]:
        outcomes: dict[int, Outcome] = {}
        for place, ask in enumerate(asks):
            self._network.start(ask, partial(outcomes.__setitem__, place))
        self._network.wait(lambda: len(outcomes) == len(asks))
        return [outcomes[place] for place in range(len(asks))]
