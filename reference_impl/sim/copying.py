"""Read, process, write: records are copied in transactions, and each must arrive exactly once.

A copier reads its share of the input, writes every record to two topics and commits its offsets,
all in one transaction; some it aborts. Whoever takes its place has its transactional id. A copy's
value says which transaction wrote it and which record it copies ("x0.1-7|orders-1@42"), so what a
reader of committed records sees can be judged: no value of a transaction that was aborted, every
value of one that was committed, of one whose end nobody knows all or nothing, and of each input
record below the group's offsets exactly one copy in each topic (KIP-98, KIP-129, KIP-447).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from touchstone.reference_impl.client.flow import ClientError, Flow, Pause, TopicPartition
from touchstone.reference_impl.client.offsets import READ_COMMITTED
from touchstone.reference_impl.client.reading import Consumed
from touchstone.reference_impl.client.transactions import State, TransactionalProducer
from touchstone.reference_impl.sim.actor import Actor
from touchstone.reference_impl.sim.client import SimClient
from touchstone.reference_impl.sim.groups import PATIENCE_MS, GroupHistory, ObservedConsumer
from touchstone.reference_impl.sim.workload import ReadRecord
from touchstone.reference_impl.sim.world import World

COPIES, AUDIT = "copies", "audit"
TRANSACTION_MS = 5_000
THOUGHT_MS = 300  # between what is in a transaction and its end, where zombies are made


@dataclass(slots=True)
class CopyHistory:
    """Transactions by name: the values of each and how it ended ("unknown" until it is known)."""

    values: dict[str, list[bytes]] = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)


class Copier(Actor):
    """Copies its share of a topic, or one partition of it, to `targets` (partitions by topic)."""

    def __init__(
        self,
        client: SimClient,
        world: World,
        history: CopyHistory,
        members: GroupHistory,
        source: str | TopicPartition,
        targets: Mapping[str, int],
        *,
        transactional_id: str,
        assignors: tuple[str, ...] = ("range",),
        instance_id: str | None = None,
        gap_ms: int = 300,
    ) -> None:
        super().__init__(client, world, gap_ms=gap_ms)
        self._history = history
        self._targets = targets
        self._id = transactional_id
        self._producer: TransactionalProducer | None = None
        self._consumer = ObservedConsumer(
            client,
            members,
            "copiers",
            assignors=assignors,
            instance_id=instance_id,
            isolation=READ_COMMITTED,
            max_poll_records=20,
        )
        if isinstance(source, str):
            self._consumer.observe([source])
        else:  # brokers before KIP-447 fence by transactional id alone: one per partition
            self._consumer.assign([source])
        self._members = members
        self._count = 0
        self._name = ""
        self._offsets: dict[TopicPartition, int] = {}
        self._generation, self._before = -1, members.known()
        self._aborts: bool | None = None  # whether it wants to abort; None: it never got so far

    def _turn(self) -> Flow[None]:
        try:
            producer = self._producer
            if producer is None:
                producer = yield from self._take_id()
            if producer.state is State.READY:
                records = yield from self._consumer.poll()
                if records:
                    yield from self._copy(producer, records)
            else:
                yield from self._end(producer)
        except ClientError as error:
            self.tell(f"{self._name}: {type(error).__name__} {error}")
            if self._producer is not None and self._producer.state is State.OVER:
                self._producer = None
                self._consumer.rewind()

    def _take_id(self) -> Flow[TransactionalProducer]:
        producer = TransactionalProducer(
            self.client.view,
            self._id,
            randrange=self._world.random.randrange,
            transaction_timeout_ms=TRANSACTION_MS,
            max_block_ms=4_000,
            delivery_timeout_ms=4_000,
            request_timeout_ms=PATIENCE_MS,
        )
        yield from producer.init()
        self.tell(f"has {self._id} in epoch {producer.producer_epoch}")
        self._producer = producer
        self._consumer.rewind()
        return producer

    def _copy(self, producer: TransactionalProducer, records: list[Consumed]) -> Flow[None]:
        consumer = self._consumer
        self._name = f"{self.client.name}-{self._count}"
        self._count += 1
        values = self._history.values[self._name] = []
        self._history.ends[self._name] = "unknown"
        producer.begin()
        self._offsets = {p: at for p, at in consumer.positions.items() if at is not None}
        self._generation, self._before = consumer.member.generation, self._members.known()
        for record in records:
            value = f"{self._name}|{record.topic}-{record.partition}@{record.offset}".encode()
            values.append(value)
            for topic, partitions in self._targets.items():
                producer.send(topic, value, partition=record.offset % partitions)
        if self._world.random.random() < 0.5:
            yield from producer.flush()
        member = consumer.group_metadata if consumer.subscribed else consumer.group
        yield from producer.send_offsets(self._offsets, member)
        self._aborts = self._world.random.random() < 0.2
        if self._world.random.random() < 0.5:
            yield from producer.flush()
            yield Pause(self.client.view.now + self._world.random.randint(1, THOUGHT_MS))
        yield from self._end(producer)

    def _end(self, producer: TransactionalProducer) -> Flow[None]:
        """Commit, or abort what failed, was to be aborted, or was cut short."""
        aborting = producer.state in (State.FAILED, State.ABORTING)
        if producer.state is State.OPEN and self._aborts is not False:
            aborting = True
        if aborting:
            yield from producer.abort()
        else:
            yield from producer.commit()
            self._members.accepted(self._name, self._generation, self._offsets, self._before)
        self._over("aborted" if aborting else "committed")
        if aborting:
            self._consumer.rewind()

    def _over(self, end: str) -> None:
        self._history.ends[self._name] = end
        self.tell(f"{self._name} is {end}: {len(self._history.values[self._name])} copies")
        self._aborts = None

    def _last(self) -> Flow[None]:
        try:
            yield from self._consumer.close()
        except ClientError as error:
            self.tell(f"close: {error}")


def judged(
    history: CopyHistory,
    committed: Mapping[TopicPartition, int],
    inputs: Mapping[TopicPartition, Iterable[int]],
    reads: Iterable[ReadRecord],
    topics: Iterable[str],
) -> str | None:
    """The fault of what a reader of committed records saw or missed; None if all is well.

    `inputs` are the offsets of all input records, `committed` the offsets of the copying group.
    """
    seen: dict[str, Counter[bytes]] = {topic: Counter() for topic in topics}
    for read in reads:
        seen[read.topic][read.value] += 1
    for name, values in history.values.items():
        end = history.ends[name]
        found = [(topic, value) for topic in seen for value in values if seen[topic][value]]
        whole = len(values) * len(seen)
        if end == "aborted" and found:
            return f"{name} was aborted, and {found[0][1].decode()} is in {found[0][0]}"
        if end == "committed" and len(found) != whole:
            return f"{name} was committed, and only {len(found)} of its {whole} copies are there"
        if found and len(found) != whole:
            return f"{name} is torn: {len(found)} of its {whole} copies are there"
    for topic, counts in seen.items():
        copies: Counter[str] = Counter()
        for value, count in counts.items():
            copies[value.partition(b"|")[2].decode()] += count
        for place, offsets in inputs.items():
            for offset in offsets:
                record = "{}-{}@{}".format(*place, offset)
                wanted = int(offset < committed.get(place, 0))
                if copies[record] != wanted:
                    return f"{record} was copied {copies[record]} times to {topic}, not {wanted}"
    return None
