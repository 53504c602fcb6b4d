"""Cores whose flows run when awaited: `await client.admin.create_topic("t")`.

The asyncio twin of `io.blocking`: each method of a core is named once and keeps its parameters and
what it returns. What asks nobody (`send`, `seek`, `pause` ...) is called without await. One call of
a face runs at a time; others wait for it. A call that is cancelled leaves its core usable: what was
asked for is taken or dropped by the next call.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextlib import suppress
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, Self, TypeVar

from touchstone.reference_impl.client.admin import Admin
from touchstone.reference_impl.client.consumer import Consumer
from touchstone.reference_impl.client.flow import Flow, TopicPartition
from touchstone.reference_impl.client.group_consumer import GroupConsumer
from touchstone.reference_impl.client.metadata import View
from touchstone.reference_impl.client.producer import Producer
from touchstone.reference_impl.client.reading import Consumed
from touchstone.reference_impl.client.security.errors import AuthenticationException
from touchstone.reference_impl.client.share_consumer import ShareConsumer
from touchstone.reference_impl.client.transactions import TransactionalProducer
from touchstone.reference_impl.io.client_links import now_ms
from touchstone.reference_impl.wire.schema import Struct

P = ParamSpec("P")
T = TypeVar("T")
_LEAST_S, _MOST_S = 0.02, 1.0


class Runner(Protocol):
    """Who runs flows: `io.aio.client.Client`."""

    view: View

    async def run(self, flow: Flow[T]) -> T: ...


class Face:
    """A core, and the client that runs its flows."""

    def __init__(self, client: Runner, core: Any) -> None:
        self._client = client
        self.core = core
        self._turn = asyncio.Lock()

    if not TYPE_CHECKING:  # as in io.blocking: tests look inside

        def __getattr__(self, name: str) -> Any:
            return getattr(self.core, name)

    async def _called(self, name: str, arguments: Any, options: Any) -> Any:
        async with self._turn:
            self._client.view.now = now_ms()
            result = getattr(self.core, name)(*arguments, **options)
            return await self._client.run(result) if isinstance(result, Generator) else result


def _run(
    flow: Callable[Concatenate[Any, P], Flow[T]],
) -> Callable[Concatenate[Any, P], Awaitable[T]]:
    """A flow of a core, run when awaited."""

    @wraps(flow)
    async def call(self: Face, /, *arguments: P.args, **options: P.kwargs) -> T:
        found: T = await self._called(flow.__name__, arguments, options)
        return found

    return call


def _same(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    """A method of a core that asks nobody."""

    @wraps(method)
    def call(self: Face, /, *arguments: P.args, **options: P.kwargs) -> T:
        self._client.view.now = now_ms()
        found: T = getattr(self.core, method.__name__)(*arguments, **options)
        return found

    return call


class _Closed(Face):
    """A face that is closed at the end of an `async with`."""

    close: Callable[..., Awaitable[None]]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class AioAdmin(Face):
    create_topics = _run(Admin.create_topics)
    create_topic = _run(Admin.create_topic)
    delete_topics = _run(Admin.delete_topics)
    delete_topics_by_id = _run(Admin.delete_topics_by_id)
    create_partitions = _run(Admin.create_partitions)
    list_topics = _run(Admin.list_topics)
    describe_topics = _run(Admin.describe_topics)
    describe_topic_partitions = _run(Admin.describe_topic_partitions)
    delete_records = _run(Admin.delete_records)
    list_offsets = _run(Admin.list_offsets)
    elect_leaders = _run(Admin.elect_leaders)
    alter_partition_reassignments = _run(Admin.alter_partition_reassignments)
    list_partition_reassignments = _run(Admin.list_partition_reassignments)
    describe_log_dirs = _run(Admin.describe_log_dirs)
    alter_replica_log_dirs = _run(Admin.alter_replica_log_dirs)
    describe_configs = _run(Admin.describe_configs)
    incremental_alter_configs = _run(Admin.incremental_alter_configs)
    alter_configs = _run(Admin.alter_configs)
    list_config_resources = _run(Admin.list_config_resources)
    describe_acls = _run(Admin.describe_acls)
    create_acls = _run(Admin.create_acls)
    delete_acls = _run(Admin.delete_acls)
    describe_client_quotas = _run(Admin.describe_client_quotas)
    alter_client_quotas = _run(Admin.alter_client_quotas)
    describe_user_scram_credentials = _run(Admin.describe_user_scram_credentials)
    alter_user_scram_credentials = _run(Admin.alter_user_scram_credentials)
    create_delegation_token = _run(Admin.create_delegation_token)
    renew_delegation_token = _run(Admin.renew_delegation_token)
    expire_delegation_token = _run(Admin.expire_delegation_token)
    describe_delegation_tokens = _run(Admin.describe_delegation_tokens)
    list_groups = _run(Admin.list_groups)
    describe_classic_groups = _run(Admin.describe_classic_groups)
    describe_consumer_groups = _run(Admin.describe_consumer_groups)
    describe_share_groups = _run(Admin.describe_share_groups)
    describe_streams_groups = _run(Admin.describe_streams_groups)
    delete_groups = _run(Admin.delete_groups)
    remove_members = _run(Admin.remove_members)
    list_group_offsets = _run(Admin.list_group_offsets)
    alter_group_offsets = _run(Admin.alter_group_offsets)
    delete_group_offsets = _run(Admin.delete_group_offsets)
    list_share_group_offsets = _run(Admin.list_share_group_offsets)
    alter_share_group_offsets = _run(Admin.alter_share_group_offsets)
    delete_share_group_offsets = _run(Admin.delete_share_group_offsets)
    describe_producers = _run(Admin.describe_producers)
    describe_transactions = _run(Admin.describe_transactions)
    list_transactions = _run(Admin.list_transactions)
    abort_transaction = _run(Admin.abort_transaction)
    fence_producers = _run(Admin.fence_producers)
    describe_cluster = _run(Admin.describe_cluster)
    api_versions = _run(Admin.api_versions)
    describe_features = _run(Admin.describe_features)
    update_features = _run(Admin.update_features)
    describe_metadata_quorum = _run(Admin.describe_metadata_quorum)
    add_raft_voter = _run(Admin.add_raft_voter)
    remove_raft_voter = _run(Admin.remove_raft_voter)
    unregister_broker = _run(Admin.unregister_broker)


class AioProducer(_Closed):
    """`send` queues and never waits; `work` sends what is due, `flush` all that is queued."""

    send = _same(Producer.send)
    flush = _run(Producer.flush)
    work = _run(Producer.work)
    close = _run(Producer.close)


class AioTransactionalProducer(AioProducer):
    begin = _same(TransactionalProducer.begin)
    send_offsets = _run(TransactionalProducer.send_offsets)
    commit = _run(TransactionalProducer.commit)
    abort = _run(TransactionalProducer.abort)


class AioConsumer(_Closed):
    """A consumer of partitions that it was given; `async for` goes on for ever."""

    assign = _same(Consumer.assign)
    seek = _same(Consumer.seek)
    seek_to_beginning = _same(Consumer.seek_to_beginning)
    seek_to_end = _same(Consumer.seek_to_end)
    pause = _same(Consumer.pause)
    resume = _same(Consumer.resume)
    lag = _same(Consumer.lag)
    position = _run(Consumer.position)
    poll = _run(Consumer.poll)
    offsets_for_times = _run(Consumer.offsets_for_times)
    beginning_offsets = _run(Consumer.beginning_offsets)
    end_offsets = _run(Consumer.end_offsets)

    @property
    def positions(self) -> dict[TopicPartition, int | None]:
        """The offset of the next record of each partition; None until it is known."""
        found: dict[TopicPartition, int | None] = self.core.positions
        return found

    async def close(self, timeout_ms: int = 30_000) -> None:
        """Let go of what brokers keep for this consumer, in this time."""
        await self._called("close", (timeout_ms,), {})

    async def __aiter__(self) -> AsyncIterator[Consumed]:
        while True:
            for record in await self.poll():
                yield record


class _Member(Face):
    """A task keeps its membership between two polls (CONS-44)."""

    _alive: asyncio.Task[None] | None = None

    def heartbeat_in_background(self) -> None:
        """Keep the membership while the application works between polls."""
        if self._alive is None:
            self._alive = asyncio.create_task(self._keep_alive(), name="touchstone-heartbeat")

    def end_heartbeats(self) -> None:
        if self._alive is not None:
            self._alive.cancel()

    async def _keep_alive(self) -> None:
        while True:
            due = self.core.keep_alive_at
            wait = _MOST_S if due is None else (due - now_ms()) / 1000
            await asyncio.sleep(min(_MOST_S, max(_LEAST_S, wait)))
            if not self._turn.locked():  # a call beats by itself
                with suppress(AuthenticationException):  # the next call meets it as well
                    await self._called("keep_alive", (), {})


class AioGroupConsumer(AioConsumer, _Member):
    """A member of a group."""

    subscribe = _same(GroupConsumer.subscribe)
    unsubscribe = _run(GroupConsumer.unsubscribe)
    commit = _run(GroupConsumer.commit)
    commit_async = _same(GroupConsumer.commit_async)
    committed = _run(GroupConsumer.committed)

    @property
    def group_metadata(self) -> Struct:
        """Who commits: what `send_offsets` of a transactional producer wants to know."""
        found: Struct = self.core.group_metadata
        return found

    async def close(self, timeout_ms: int = 30_000) -> None:
        """Commit if that is automatic and leave the group, in this time."""
        self.end_heartbeats()
        await self._called("close", (timeout_ms,), {})


class AioShareConsumer(_Member, _Closed):
    """A member of a share group (KIP-932)."""

    subscribe = _same(ShareConsumer.subscribe)
    unsubscribe = _run(ShareConsumer.unsubscribe)
    poll = _run(ShareConsumer.poll)
    acknowledge = _same(ShareConsumer.acknowledge)
    commit_sync = _run(ShareConsumer.commit_sync)

    async def close(self, timeout_ms: int = 30_000) -> None:
        """Send what is acknowledged, release the rest and leave, in this time."""
        self.end_heartbeats()
        await self._called("close", (timeout_ms,), {})
