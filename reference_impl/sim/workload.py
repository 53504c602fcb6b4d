"""Clients of a simulation write and read, and what they learn is the history that is judged.

Producers write values that occur once ("p0-17"), one at a time or a few together; consumers read on
from where they are. What a producer was told is one of three things: acknowledged, refused for
certain, or nobody knows. Only an acknowledgement binds the cluster.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from touchstone.reference_impl.client.consumer import Consumer
from touchstone.reference_impl.client.flow import ClientError, Flow
from touchstone.reference_impl.client.metadata import refresh
from touchstone.reference_impl.client.offsets import READ_UNCOMMITTED
from touchstone.reference_impl.client.producer import Producer
from touchstone.reference_impl.sim.actor import Actor
from touchstone.reference_impl.sim.client import SimClient
from touchstone.reference_impl.sim.world import World

# metadata.max.age.ms: a leader that is cut off says NOT_ENOUGH_REPLICAS, which is no reason for a
# client to look for another one; only age is.
METADATA_AGE_MS = 3_000


@dataclass(frozen=True, slots=True)
class Write:
    """An acknowledged record (`offset` as told, -1 where nobody told) or one of unknown fate."""

    producer: str
    value: bytes
    topic: str
    partition: int
    offset: int
    acknowledged: bool


@dataclass(frozen=True, slots=True)
class ReadRecord:
    consumer: str
    topic: str
    partition: int
    offset: int
    value: bytes


@dataclass(slots=True)
class History:
    writes: list[Write] = field(default_factory=list)
    reads: list[ReadRecord] = field(default_factory=list)


class Writer(Actor):
    """A producer that goes on until told to stop."""

    def __init__(
        self,
        client: SimClient,
        world: World,
        history: History,
        places: list[tuple[str, int]],
        *,
        acks: int = -1,
        idempotence: bool | None = None,
        gap_ms: int = 20,
    ) -> None:
        super().__init__(client, world, gap_ms=gap_ms)
        self._history = history
        self._places = places
        self._producer = Producer(
            client.view,
            randrange=world.random.randrange,
            acks=acks,
            idempotence=idempotence,
            delivery_timeout_ms=8_000,
            request_timeout_ms=2_000,
        )
        self._count = 0
        self._refreshed = client.view.now

    def _turn(self) -> Flow[None]:
        yield from self._freshen()
        sent = []
        for _ in range(self._world.random.randint(1, 3)):
            topic, partition = self._world.random.choice(self._places)
            value = f"{self.client.name}-{self._count}".encode()
            self._count += 1
            delivery = self._producer.send(topic, value, partition=partition)
            sent.append((topic, partition, value, delivery))
        yield from self._producer.flush()
        for topic, partition, value, delivery in sent:
            told = delivery.error is None
            offset = delivery.offset if told else -1
            write = Write(self.client.name, value, topic, partition, offset, told)
            self._history.writes.append(write)
            outcome = f"@{delivery.offset}" if told else f"{delivery.error}"
            self.tell(f"wrote {value.decode()} to {partition} {outcome}")

    def _freshen(self) -> Flow[None]:
        if self.client.view.now >= self._refreshed + METADATA_AGE_MS:
            self._refreshed = self.client.view.now
            with suppress(ClientError):
                yield from refresh(self.client.view, sorted({topic for topic, _ in self._places}))


class Reader(Actor):
    """A consumer of some partitions from their beginning, without a group."""

    def __init__(
        self,
        client: SimClient,
        world: World,
        history: History,
        places: list[tuple[str, int]],
        *,
        isolation: int = READ_UNCOMMITTED,
        gap_ms: int = 50,
    ) -> None:
        super().__init__(client, world, gap_ms=gap_ms)
        self._history = history
        self._consumer = Consumer(
            client.view,
            reset="earliest",
            isolation=isolation,
            max_wait_ms=100,
            request_timeout_ms=2_000,
        )
        self._consumer.assign(places)

    def _turn(self) -> Flow[None]:
        name = self.client.name
        try:
            records = yield from self._consumer.poll()
        except ClientError as error:
            self.tell(f"poll: {error}")
            records = []
        for record in records:
            value = record.value or b""  # nobody writes an empty one, so that it shows as wrong
            self._history.reads.append(
                ReadRecord(name, record.topic, record.partition, record.offset, value)
            )
        if records:
            first, last = records[0], records[-1]
            self.tell(f"read {len(records)}: {first.partition}@{first.offset} to {last.offset}")
