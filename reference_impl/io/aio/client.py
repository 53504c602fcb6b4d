"""The client for asyncio, as its users see it; `io.client` is its blocking twin.

Everything that decides is in `reference_impl/client`. A `Client` belongs to one event loop; its
faces may be awaited by several tasks.
"""

from __future__ import annotations

import asyncio
import base64
import random
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Literal, Self, TypeVar, overload

from touchstone.reference_impl.client.admin import Admin
from touchstone.reference_impl.client.classic_consumer import ClassicConsumer
from touchstone.reference_impl.client.consumer import Consumer
from touchstone.reference_impl.client.flow import (
    Ask,
    Flow,
    NetworkPoll,
    Outcome,
    Pause,
    TopicPartition,
)
from touchstone.reference_impl.client.group_consumer import GroupConsumer
from touchstone.reference_impl.client.kip848_consumer import Kip848Consumer
from touchstone.reference_impl.client.metadata import View
from touchstone.reference_impl.client.producer import Producer
from touchstone.reference_impl.client.share_consumer import ShareConsumer
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
from touchstone.reference_impl.io.client_network import now_ms

T = TypeVar("T")


class Client:
    """`await` its faces, or `run` a flow.

    `seed` is of its choices, ids of members among them (KIP-1082); None has the system choose, so
    that no two clients choose alike.
    """

    def __init__(
        self,
        bootstrap: str | Sequence[str],
        *,
        client_id: str = "touchstone",
        seed: int | None = None,
        connect_timeout_s: float = 10.0,
    ):
        rows = bootstrap.split(",") if isinstance(bootstrap, str) else bootstrap
        hosts = [row.rpartition(":") for row in rows]
        self.view = View([(host, int(port)) for host, _, port in hosts], now_ms())
        self.random = random.Random(seed)
        self._network = AioNetwork(self.view, client_id, connect_timeout_s)
        self._members: list[AioGroupConsumer | AioShareConsumer] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the heartbeats of consumers that are not closed, and all connections."""
        for each in self._members:
            each.end_heartbeats()
        await self._network.close()

    @property
    def admin(self) -> AioAdmin:
        return AioAdmin(self, Admin(self.view))

    def producer(self, **options: Any) -> AioProducer:
        self.view.now = now_ms()
        core = Producer(self.view, randrange=self.random.randrange, **options)
        return AioProducer(self, core)

    async def transactional_producer(
        self, transactional_id: str, **options: Any
    ) -> AioTransactionalProducer:
        """A producer that has taken its id: `begin` comes next."""
        self.view.now = now_ms()
        core = TransactionalProducer(
            self.view, transactional_id, randrange=self.random.randrange, **options
        )
        await self.run(core.init())
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
        heartbeat_in_background: bool = True,
        **options: Any,
    ) -> AioConsumer:
        """A consumer of these partitions, or of its share of `topics` as a member of `group`."""
        self.view.now = now_ms()
        if group is None:
            alone = Consumer(self.view, **options)
            alone.assign(places)
            return AioConsumer(self, alone)
        core: GroupConsumer
        if protocol == "consumer":
            core = Kip848Consumer(self.view, group, member_id=self._member_id(), **options)
        elif protocol == "classic":
            core = ClassicConsumer(self.view, group, **options)
        else:
            raise ValueError(f"group protocol {protocol!r}: there are 'classic' and 'consumer'")
        if topics:
            core.subscribe(topics)
        else:
            core.assign(places)
        member = AioGroupConsumer(self, core)
        self._members.append(member)
        if heartbeat_in_background:
            member.heartbeat_in_background()
        return member

    def share_consumer(
        self, group: str, topics: Iterable[str] = (), **options: Any
    ) -> AioShareConsumer:
        """A member of a share group (KIP-932, brokers from 4.2 on)."""
        self.view.now = now_ms()
        core = ShareConsumer(self.view, group, member_id=self._member_id(), **options)
        if topics:
            core.subscribe(topics)
        made = AioShareConsumer(self, core)
        self._members.append(made)
        made.heartbeat_in_background()
        return made

    def _member_id(self) -> str:
        """As a client makes its own (KIP-1082)."""
        return base64.urlsafe_b64encode(self.random.randbytes(16)).decode().rstrip("=")

    async def run(self, flow: Flow[T]) -> T:
        """Do what the flow yields until it returns."""
        given: list[Outcome] | None = None
        try:
            while True:
                self.view.now = now_ms()
                try:
                    wanted = next(flow) if given is None else flow.send(given)
                except StopIteration as end:
                    result: T = end.value
                    return result
                given = []
                if isinstance(wanted, Pause):
                    await asyncio.sleep(max(0, wanted.until - now_ms()) / 1000)
                elif isinstance(wanted, NetworkPoll):
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
