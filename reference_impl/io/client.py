"""The client as its users see it: runs its flows over sockets, one thread, blocking.

Everything that decides is in `reference_impl/client`; sockets are `client_network.py`'s. A `Client`
belongs to one thread, and to the threads that keep its consumers' memberships: `lock` is held while
a flow runs, `guard` only while a core decides.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, Literal, TypeVar, overload

from touchstone.reference_impl.client.configs.definitions import NEWEST
from touchstone.reference_impl.client.cores import Cores
from touchstone.reference_impl.client.flow import (
    Ask,
    Failed,
    Flow,
    Inbox,
    NetworkPoll,
    Outcome,
    Pause,
    TopicPartition,
)
from touchstone.reference_impl.client.group_consumer import GroupConsumer
from touchstone.reference_impl.client.kip848_consumer import Kip848Consumer
from touchstone.reference_impl.client.metrics.client_metrics import MetricName
from touchstone.reference_impl.client.producer import Producer
from touchstone.reference_impl.client.running import refusal, resume
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
from touchstone.reference_impl.io.client_links import now_ms
from touchstone.reference_impl.io.client_network import ClientNetwork
from touchstone.reference_impl.io.client_security import ClientSecurity
from touchstone.reference_impl.io.heartbeats import Heartbeats, KeptAlive
from touchstone.reference_impl.wire.schema import Struct

T = TypeVar("T")
_CONNECT_TIMEOUT_S = 10.0


class Client:
    """`run` a flow, or have `admin`, `producer()` and `consumer()` do it.

    `config` has Java's names (`client.cores`): those of its connections, such as
    `security.protocol`, and any that its faces are to have. Raises ConfigException.
    `seed` is of its choices, ids of members among them (KIP-1082); None has the system choose, so
    that no two clients choose alike.
    """

    def __init__(
        self,
        bootstrap: str | Sequence[str],
        config: Mapping[str, Any] | None = None,
        *,
        client_id: str = "touchstone",
        release: str = NEWEST,
        seed: int | None = None,
        connect_timeout_s: float = _CONNECT_TIMEOUT_S,
    ):
        self.random = random.Random(seed)
        self._cores = cores = Cores(
            bootstrap,
            client_id=client_id,
            config=config,
            randrange=self.random.randrange,
            randbytes=self.random.randbytes,
            release=release,
            now=self.now(),
        )
        self.bootstrap, self.view = cores.bootstrap, cores.view
        self.client_id = cores.client_id
        self.lock = threading.RLock()
        self.guard: AbstractContextManager[object] = nullcontext()
        self._running = 0  # flows, each but the first by a callback of the one before
        security = ClientSecurity(self.random.random, cores.security)
        self._network = ClientNetwork(self.view, self.client_id, connect_timeout_s, security)
        self._interrupted = False
        self._heartbeats: list[Heartbeats] = []
        self._producers: list[Producer] = []

    @staticmethod
    def now() -> int:
        return now_ms()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Deliver what producers still hold, as closing Java's does, unless somebody interrupts."""
        try:
            if kind is None or issubclass(kind, Exception):
                for core in self._producers:
                    if core.pending:
                        self.run(core.close())
        finally:
            self.close()

    def close(self) -> None:
        self._network.give_up()
        for each in self._heartbeats:
            each.stop()
        self._network.close()

    def metrics(self) -> Mapping[MetricName, float]:
        """Java's metrics of what this client's faces have done, by group, name and tags."""
        return self.view.metrics.read(self.now())

    def drop(self, node: int) -> None:
        """End the connections to a node, if there are any; the next ask makes a new one."""
        with self.lock:
            self._network.drop(node)

    @property
    def admin(self) -> BlockingAdmin:
        return BlockingAdmin(self, self._cores.admin())

    def producer(
        self,
        config: Mapping[str, Any] | None = None,
        *,
        release: str | None = None,
        **options: Any,
    ) -> BlockingProducer:
        """A producer; `config` has Java's names, with the defaults of that release's client.

        `options` are `Producer`'s keyword arguments and win over `config`. Raises ConfigException.
        """
        self.view.now = self.now()
        return self._face_of(self._cores.producer(config, release, options))

    def transactional_producer(
        self, transactional_id: str, **options: Any
    ) -> BlockingTransactionalProducer:
        """A producer that has taken its id: `begin` comes next."""
        self.view.now = self.now()
        core = self._cores.transactional_producer(transactional_id, options)
        self.run(core.init())
        self._producers.append(core)
        return BlockingTransactionalProducer(self, core)

    def _face_of(self, core: Producer) -> BlockingProducer:
        self._producers.append(core)
        if not isinstance(core, TransactionalProducer):
            return BlockingProducer(self, core)
        self.run(core.init())
        return BlockingTransactionalProducer(self, core)

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
        release: str | None = None,
        heartbeat_in_background: bool = True,
        **options: Any,
    ) -> BlockingConsumer:
        """A consumer of these partitions, or of its share of `topics` as a member of `group`.

        `protocol` is how it is a member: "classic", or "consumer" (KIP-848, brokers from 4.0 on).
        `config` has Java's names, `group.id` and `group.protocol` among them, with the defaults of
        that release's client; keyword arguments win over it. Raises ConfigException.
        """
        self.view.now = self.now()
        core = self._cores.consumer(places, group, topics, protocol, config, release, options)
        if not isinstance(core, GroupConsumer):
            return BlockingConsumer(self, core)
        modern = isinstance(core, Kip848Consumer)
        member = (BlockingKip848Consumer if modern else BlockingGroupConsumer)(self, core)
        if heartbeat_in_background:
            member.heartbeat_in_background()
        return member

    def share_consumer(
        self,
        group: str | None = None,
        topics: Iterable[str] = (),
        *,
        config: Mapping[str, Any] | None = None,
        release: str | None = None,
        **options: Any,
    ) -> BlockingShareConsumer:
        """A member of a share group (KIP-932, brokers from 4.2 on); `config` as of `consumer`."""
        self.view.now = self.now()
        core = self._cores.share_consumer(group, topics, config, release, options)
        made = BlockingShareConsumer(self, core)
        made.heartbeat_in_background()
        return made

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
            if (refused := refusal([outcome])) is not None:
                raise refused
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
        inbox: Inbox | None = None
        while True:
            try:
                with self.guard:
                    self.view.now = self.now()
                    wanted = resume(flow, given, inbox)
            except StopIteration as end:
                result: T = end.value
                return result
            given, inbox = [], None
            if isinstance(wanted, Pause):
                self._network.wait(lambda: False, wanted.until)
            elif isinstance(wanted, NetworkPoll):
                inbox = wanted.inbox
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
