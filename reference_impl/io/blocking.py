"""Cores whose flows run when called: `client.admin.create_topic("t")` just does it.

A core (`reference_impl/client`) is a set of flows that somebody else runs. Here each of its methods
is named once, and keeps its parameters and what it returns: a type checker knows of
`consumer.poll()` what it knows of the core's. What stands here is the client's public face; the
rest of a core is reached by name all the same, for tests that look inside.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from functools import wraps
from re import Pattern
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from touchstone.reference_impl.client.admin import Admin
from touchstone.reference_impl.client.consumer import Consumer
from touchstone.reference_impl.client.flow import Flow, TopicPartition
from touchstone.reference_impl.client.group_consumer import GroupConsumer, Listener
from touchstone.reference_impl.client.group_offsets import Offset
from touchstone.reference_impl.client.metadata import View
from touchstone.reference_impl.client.producer import Delivery, Producer, SerializationError
from touchstone.reference_impl.client.transactions import TransactionalProducer
from touchstone.reference_impl.wire.schema import Struct

P = ParamSpec("P")
T = TypeVar("T")


class Runner(Protocol):
    """Who runs flows: `io.client.Client`."""

    view: View

    @staticmethod
    def now() -> int: ...

    @property
    def busy(self) -> bool:
        """A flow runs."""
        ...

    def run(self, flow: Flow[T]) -> T: ...


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


def _called(self: Blocking, name: str, arguments: Any, options: Any) -> Any:
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
    create_topic = _run(Admin.create_topic)
    delete_topics = _run(Admin.delete_topics)
    create_partitions = _run(Admin.create_partitions)
    describe_configs = _run(Admin.describe_configs)
    delete_records = _run(Admin.delete_records)
    list_topics = _run(Admin.list_topics)


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
    """A consumer of partitions that it was given."""

    assign = _same(Consumer.assign)
    seek = _same(Consumer.seek)
    pause = _same(Consumer.pause)
    resume = _same(Consumer.resume)
    lag = _same(Consumer.lag)
    poll = _run(Consumer.poll)
    offsets_for_times = _run(Consumer.offsets_for_times)
    beginning_offsets = _run(Consumer.beginning_offsets)
    end_offsets = _run(Consumer.end_offsets)
    close = _run(Consumer.close)

    @property
    def positions(self) -> dict[TopicPartition, int | None]:
        """The offset of the next record of each partition; None until it is known."""
        found: dict[TopicPartition, int | None] = self.core.positions
        return found


class BlockingGroupConsumer(BlockingConsumer):
    """A member of a group, or a consumer that commits to one."""

    subscribe = _same(GroupConsumer.subscribe)
    unsubscribe = _run(GroupConsumer.unsubscribe)
    beat = _run(GroupConsumer.beat)
    commit = _run(GroupConsumer.commit)
    commit_async = _same(GroupConsumer.commit_async)
    committed = _run(GroupConsumer.committed)
    close = _run(GroupConsumer.close)

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
