"""The client for asyncio, as its users see it; `io.client` is its blocking twin.

Everything that decides is in `reference_impl/client`. A `Client` belongs to one event loop; its
faces may be awaited by several tasks.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, Self, TypeVar, overload

from touchstone.reference_impl.client.configs.definitions import NEWEST
from touchstone.reference_impl.client.cores import Cores
from touchstone.reference_impl.client.flow import (
    Ask,
    Flow,
    Inbox,
    NetworkPoll,
    Outcome,
    Pause,
    TopicPartition,
)
from touchstone.reference_impl.client.group_consumer import GroupConsumer
from touchstone.reference_impl.client.metrics.client_metrics import MetricName
from touchstone.reference_impl.client.producer import Producer
from touchstone.reference_impl.client.running import resume
from touchstone.reference_impl.client.transactions import TransactionalProducer
from touchstone.reference_impl.io.aio.faces import (
    AioAdmin,
    AioConsumer,
    AioGroupConsumer,
    AioProducer,
    AioShareConsumer,
    AioTransactionalProducer,
)
from touchstone.reference_impl.io.aio.network import AioNetwork
from touchstone.reference_impl.io.client_links import now_ms
from touchstone.reference_impl.io.client_security import ClientSecurity

T = TypeVar("T")


class Client:
    """`await` its faces, or `run` a flow. `config` as of `io.client.Client`.

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
        connect_timeout_s: float = 10.0,
    ):
        self.random = random.Random(seed)
        self._cores = cores = Cores(
            bootstrap,
            client_id=client_id,
            config=config,
            randrange=self.random.randrange,
            randbytes=self.random.randbytes,
            release=release,
            now=now_ms(),
        )
        self.view = cores.view
        security = ClientSecurity(self.random.random, cores.security)
        self._network = AioNetwork(self.view, cores.client_id, connect_timeout_s, security)
        self._members: list[AioGroupConsumer | AioShareConsumer] = []
        self._producers: list[Producer] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Deliver what producers still hold, as closing Java's does, unless this is cancelled."""
        try:
            if kind is None or issubclass(kind, Exception):
                for core in self._producers:
                    if core.pending:
                        await self.run(core.close())
        finally:
            await self.close()

    async def close(self) -> None:
        """End the heartbeats of consumers that are not closed, and all connections."""
        for each in self._members:
            each.end_heartbeats()
        await self._network.close()

    def metrics(self) -> Mapping[MetricName, float]:
        """Java's metrics of what this client's faces have done, by group, name and tags."""
        return self.view.metrics.read(now_ms())

    @property
    def admin(self) -> AioAdmin:
        return AioAdmin(self, self._cores.admin())

    def producer(
        self,
        config: Mapping[str, Any] | None = None,
        *,
        release: str | None = None,
        **options: Any,
    ) -> AioProducer:
        """A producer; `config` has Java's names. One with a `transactional.id` is refused here."""
        self.view.now = now_ms()
        core = self._cores.producer(config, release, options)
        if isinstance(core, TransactionalProducer):
            raise ValueError("transactional.id: `await client.transactional_producer(id)`")
        self._producers.append(core)
        return AioProducer(self, core)

    async def transactional_producer(
        self, transactional_id: str, **options: Any
    ) -> AioTransactionalProducer:
        """A producer that has taken its id: `begin` comes next."""
        self.view.now = now_ms()
        core = self._cores.transactional_producer(transactional_id, options)
        await self.run(core.init())
        self._producers.append(core)
        return AioTransactionalProducer(self, core)

    @overload
    def consumer(
        self, places: Iterable[TopicPartition] = (), *, group: None = None, **options: Any
    ) -> AioConsumer: ...

    @overload
    def consumer(
        self,
        places: Iterable[TopicPartition] = (),
        *,
        group: str,
        topics: Iterable[str] = (),
        protocol: Literal["classic", "consumer"] = "classic",
        **options: Any,
    ) -> AioGroupConsumer: ...

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
    ) -> AioConsumer:
        """A consumer of these partitions, or of its share of `topics` as a member of `group`.

        `config` has Java's names, as of `io.client.Client.consumer`.
        """
        self.view.now = now_ms()
        core = self._cores.consumer(places, group, topics, protocol, config, release, options)
        if not isinstance(core, GroupConsumer):
            return AioConsumer(self, core)
        member = AioGroupConsumer(self, core)
        self._members.append(member)
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
    ) -> AioShareConsumer:
        """A member of a share group (KIP-932, brokers from 4.2 on); `config` as of `consumer`."""
        self.view.now = now_ms()
        core = self._cores.share_consumer(group, topics, config, release, options)
        made = AioShareConsumer(self, core)
        self._members.append(made)
        made.heartbeat_in_background()
        return made

    async def run(self, flow: Flow[T]) -> T:
        """Do what the flow yields until it returns."""
        given: list[Outcome] | None = None
        inbox: Inbox | None = None
        try:
            while True:
                self.view.now = now_ms()
                try:
                    wanted = resume(flow, given, inbox)
                except StopIteration as end:
                    result: T = end.value
                    return result
                given, inbox = [], None
                if isinstance(wanted, Pause):
                    await asyncio.sleep(max(0, wanted.until - now_ms()) / 1000)
                elif isinstance(wanted, NetworkPoll):
                    inbox = wanted.inbox
                    await self._poll(wanted)
                else:
                    given = await self._ask(wanted)
        finally:
            flow.close()

    async def _poll(self, wanted: NetworkPoll) -> None:
        for ask in wanted.asks:
            self._network.start(ask, wanted.inbox.append)
        await self._network.wait(lambda: bool(wanted.inbox), wanted.until)

    async def _ask(self, asks: Sequence[Ask]) -> list[Outcome]:
        outcomes: dict[int, Outcome] = {}
        for place, ask in enumerate(asks):
            self._network.start(ask, partial(outcomes.__setitem__, place))
        await self._network.wait(lambda: len(outcomes) == len(asks))
        return [outcomes[place] for place in range(len(asks))]
