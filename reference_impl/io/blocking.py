"""Cores whose flows run when called: `client.admin.create_topic("t")` just does it.

A core (`reference_impl/client`) is a set of flows that somebody else runs. Here each of its methods
is named once, and keeps its parameters and what it returns: a type checker knows of
`consumer.poll()` what it knows of the core's. What stands here is the client's public face; the
rest of a core is reached by name all the same, for tests that look inside.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from re import Pattern
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, Self, TypeVar

from touchstone.reference_impl.client.admin import Admin
from touchstone.reference_impl.client.consumer import Consumer
from touchstone.reference_impl.client.flow import ClientError, Flow, TopicPartition
from touchstone.reference_impl.client.group_consumer import GroupConsumer, Listener
from touchstone.reference_impl.client.group_offsets import Offset
from touchstone.reference_impl.client.metadata import View
from touchstone.reference_impl.client.producer import Delivery, Producer, SerializationError
from touchstone.reference_impl.client.reading import Consumed
from touchstone.reference_impl.client.share_consumer import ShareConsumer
from touchstone.reference_impl.client.transactions import TransactionalProducer
from touchstone.reference_impl.io.heartbeats import Heartbeats, KeptAlive
from touchstone.reference_impl.wire.schema import Struct

ITERATION_MS = 1_000  # a round of who iterates; nothing ends with it

P = ParamSpec("P")
T = TypeVar("T")


class ConcurrentAccess(ClientError):
    """Another thread is in a call of this consumer; only `wakeup` may be called then (CONS-05)."""


class ConsumerClosed(ClientError):
    """The consumer was closed (CONS-05)."""


class Runner(Protocol):
    """Who runs flows: `io.client.Client`."""

    view: View
    lock: threading.RLock

    @staticmethod
    def now() -> int: ...

    @property
    def busy(self) -> bool:
        """A flow runs."""
        ...

    def run(self, flow: Flow[T]) -> T: ...

    def interrupt(self) -> None: ...

    def keep_alive(self, core: KeptAlive) -> Heartbeats: ...


class Blocking:
    """A core, and the client that runs its flows."""

    def __init__(self, client: Runner, core: Any) -> None:
        self._client = client
        self.core = core

    if not TYPE_CHECKING:  # for a checker a core has the names below, and a misspelled one is told

        def __getattr__(self, name: str) -> Any:
            found = getattr(self.core, name)
            if not callable(found):
                return found
            return lambda *arguments, **options: _called(self, name, arguments, options)

    @contextmanager
    def _entered(self) -> Iterator[None]:
        with self._client.lock:
            yield


def _called(self: Blocking, name: str, arguments: Any, options: Any) -> Any:
    with self._entered():
        self._client.view.now = self._client.now()
        result = getattr(self.core, name)(*arguments, **options)  # a subclass may have its own
        return self._client.run(result) if isinstance(result, Generator) else result


def _run(flow: Callable[Concatenate[Any, P], Flow[T]]) -> Callable[Concatenate[Any, P], T]:
    """A flow of a core, run when called."""

    @wraps(flow)
    def call(self: Blocking, /, *arguments: P.args, **options: P.kwargs) -> T:
        found: T = _called(self, flow.__name__, arguments, options)
        return found

    return call


def _same(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    """A method of a core that asks nobody."""

    @wraps(method)
    def call(self: Blocking, /, *arguments: P.args, **options: P.kwargs) -> T:
        found: T = _called(self, method.__name__, arguments, options)
        return found

    return call


class BlockingAdmin(Blocking):
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


class BlockingProducer(Blocking):
    """Waits where Java's producer waits, and sends whole batches on while others are filled.

    Nothing happens between two calls: who lingers calls `work`, or has a `BackgroundProducer`.
    """

    flush = _run(Producer.flush)
    work = _run(Producer.work)
    close = _run(Producer.close)

    if TYPE_CHECKING:
        send = _same(Producer.send)
    else:

        @wraps(Producer.send)
        def send(self, *arguments: Any, **options: Any) -> Delivery:
            """Queue a record; waits for metadata and memory, `max_block_ms` at most (PROD-14)."""
            client, core = self._client, self.core
            with self._entered():
                client.view.now = client.now()
                delivery = core.send(*arguments, **options)
                if client.busy:  # a callback sends: whoever runs now goes on with it
                    return delivery
                if core.waits:
                    client.run(core.until_taken())
                    if isinstance(delivery.error, SerializationError):
                        raise delivery.error
                elif core.wakes:
                    client.run(core.step(0))
                return delivery


class BlockingTransactionalProducer(BlockingProducer):
    begin = _same(TransactionalProducer.begin)
    send_offsets = _run(TransactionalProducer.send_offsets)
    commit = _run(TransactionalProducer.commit)
    abort = _run(TransactionalProducer.abort)


class BlockingConsumer(Blocking):
    """A consumer of partitions that it was given; one thread at a time may call it (CONS-05)."""

    _owner: int | None = None
    _depth = 0
    _closed = False

    assign = _same(Consumer.assign)
    seek = _same(Consumer.seek)
    seek_to_beginning = _same(Consumer.seek_to_beginning)
    seek_to_end = _same(Consumer.seek_to_end)
    position = _run(Consumer.position)
    pause = _same(Consumer.pause)
    resume = _same(Consumer.resume)
    lag = _same(Consumer.lag)
    poll = _run(Consumer.poll)
    offsets_for_times = _run(Consumer.offsets_for_times)
    beginning_offsets = _run(Consumer.beginning_offsets)
    end_offsets = _run(Consumer.end_offsets)
    _close = _run(Consumer.close)

    @contextmanager
    def _entered(self) -> Iterator[None]:
        me = threading.get_ident()
        if self._closed:
            raise ConsumerClosed("this consumer has been closed (CONS-05)")
        if self._owner not in (None, me):
            raise ConcurrentAccess("another thread is in a call of this consumer (CONS-05)")
        self._owner = me
        self._depth += 1
        try:
            with self._client.lock:
                yield
        finally:
            self._depth -= 1
            if not self._depth:
                self._owner = None

    def wakeup(self) -> None:
        """Have the poll that waits, or the next, raise Wakeup; any thread may call this."""
        self.core.wakeup()
        self._client.interrupt()

    def close(self, timeout_ms: int = 30_000) -> None:
        """Let go of what brokers keep for this consumer, in this time; once is enough."""
        if not self._closed:
            try:
                self._close(timeout_ms)
            finally:
                self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Consumed]:
        """Each record as it comes, until `poll` raises something, `Wakeup` among others."""
        while True:
            yield from self.poll(ITERATION_MS)

    def assignment(self) -> frozenset[TopicPartition]:
        """The partitions that it reads: those it was given, or its share of its group's."""
        return frozenset(self.positions)

    @property
    def positions(self) -> dict[TopicPartition, int | None]:
        """The offset of the next record of each partition; None until it is known."""
        found: dict[TopicPartition, int | None] = self.core.positions
        return found


class BlockingShareConsumer(Blocking):
    """A member of a share group (KIP-932)."""

    subscribe = _same(ShareConsumer.subscribe)
    unsubscribe = _run(ShareConsumer.unsubscribe)
    poll = _run(ShareConsumer.poll)
    acknowledge = _same(ShareConsumer.acknowledge)
    commit_sync = _run(ShareConsumer.commit_sync)
    _close = _run(ShareConsumer.close)
    _heartbeats: Heartbeats | None = None

    def heartbeat_in_background(self) -> None:
        """Keep the membership while the application works between polls."""
        self._heartbeats = self._client.keep_alive(self.core)

    def close(self, timeout_ms: int = 30_000) -> None:
        """Send what is acknowledged, release the rest and leave, in this time."""
        if self._heartbeats is not None:
            self._heartbeats.stop()
        self._close(timeout_ms)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class BlockingGroupConsumer(BlockingConsumer):
    """A member of a group, or a consumer that commits to one."""

    subscribe = _same(GroupConsumer.subscribe)
    unsubscribe = _run(GroupConsumer.unsubscribe)
    beat = _run(GroupConsumer.beat)
    commit = _run(GroupConsumer.commit)
    commit_async = _same(GroupConsumer.commit_async)
    committed = _run(GroupConsumer.committed)
    _close = _run(GroupConsumer.close)
    _heartbeats: Heartbeats | None = None

    def heartbeat_in_background(self) -> None:
        """Keep the membership while the application works between polls (CONS-44)."""
        self._heartbeats = self._client.keep_alive(self.core)

    def close(self, timeout_ms: int = 30_000) -> None:
        """Commit if that is automatic, leave the group, in this time; once is enough."""
        if self._heartbeats is not None:
            self._heartbeats.stop()
        super().close(timeout_ms)

    @property
    def group_metadata(self) -> Struct:
        """Who commits: what `send_offsets` of a transactional producer wants to know."""
        found: Struct = self.core.group_metadata
        return found

    @property
    def last_committed(self) -> dict[TopicPartition, Offset]:
        """What this consumer has committed so far."""
        found: dict[TopicPartition, Offset] = self.core.last_committed
        return found


class BlockingKip848Consumer(BlockingGroupConsumer):
    """A member of a group whose broker divides (KIP-848): a pattern may be the broker's, too."""

    def subscribe(
        self,
        topics: Iterable[str] = (),
        *,
        pattern: Pattern[str] | str | None = None,
        listener: Listener | None = None,
    ) -> None:
        """These topics, or all whose name the pattern finds here, or (a string) at the broker."""
        _called(self, "subscribe", (topics,), {"pattern": pattern, "listener": listener})
