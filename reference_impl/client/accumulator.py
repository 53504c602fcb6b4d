"""Records that wait to be sent: one queue of batches per partition (PROD-25).

A batch takes records until it is full; an oversize record gets a batch of its own. `ready` says
which nodes have something to send (PROD-31 to PROD-35), `drain` takes at most one batch of each of
their partitions (PROD-36, PROD-37), beginning where the last drain of that node ended, so that no
partition starves behind others.

Source: RecordAccumulator at 4.3.1.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from .buffer_memory import BufferMemory
from .flow import Backoff, TopicPartition
from .metadata import Partition, View
from .producer_batch import Delivery, ProducerBatch, upper_bound
from .sequences import Sequences


class Ready(NamedTuple):
    """Nodes to send to, when to look again (None: no batch waits for time), leaderless topics."""

    nodes: list[int]
    next_check: int | None
    unknown_leaders: set[str]


class Appended(NamedTuple):
    taken: int  # bytes
    full: bool  # more than one batch waits, or the last one is full
    new_batch: bool


class Accumulator:
    def __init__(
        self,
        batch_size: int = 16_384,
        *,
        linger_ms: int = 0,
        delivery_timeout_ms: int = 120_000,
        memory: BufferMemory | None = None,
        backoff: Backoff | None = None,
        sequences: Sequences | None = None,
        draw: Callable[[], float] = lambda: 0.5,
    ):
        self.batch_size = max(1, batch_size)
        self.linger_ms = linger_ms
        self.delivery_timeout_ms = delivery_timeout_ms
        self.memory = memory or BufferMemory()
        self.backoff = backoff or Backoff()
        self.sequences = sequences
        self.queues: dict[TopicPartition, deque[ProducerBatch]] = {}
        self.muted: set[TopicPartition] = set()
        self.exhausted = False  # somebody waits for memory (PROD-33)
        self.flushing = 0  # how many flush, close or complete a transaction
        self.availability_timeout_ms = 0  # partitioner.availability.timeout.ms; 0: nobody is slow
        self._latency: dict[int, tuple[int, int]] = {}  # node -> last ready, last drained
        self._draw = draw
        self._drain_index: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self.queues)

    # --- records in ----------------------------------------------------------------------------

    def append(
        self, place: TopicPartition, delivery: Delivery, now: int, bound: int | None = None
    ) -> Appended | None:
        """Queue it; None where there is no memory for the batch that it needs (PROD-27).

        `bound` is its `upper_bound`, where somebody has it already.
        """
        queue = self.queues.get(place)
        if queue:
            last = queue[-1]
            if not last.closed:
                taken = last.try_append(delivery)
                if taken:
                    return Appended(taken, len(queue) > 1 or last.full, False)
                last.closed = True
        if bound is None:
            bound = upper_bound(delivery.key, delivery.value, delivery.headers)
        size = max(self.batch_size, bound)
        if not self.memory.allocate(size):
            return None
        batch = ProducerBatch(place, now, size, memory=size, tried_at=now)
        batch.try_append(delivery)
        if queue is None:
            queue = self.queues[place] = deque()
        queue.append(batch)
        return Appended(batch.size, len(queue) > 1 or batch.full, True)

    def last_is_full(self, place: TopicPartition) -> bool:
        queue = self.queues.get(place)
        return not queue or queue[-1].full

    def loads(self, view: View, topic: str, partitions: Iterable[int]) -> list[tuple[int, int]]:
        """How many batches wait for each of these partitions, but for slow nodes' (KIP-794)."""
        return [
            (index, len(self.queues.get((topic, index), ())))
            for index in partitions
            if not self._is_slow(view.leader(topic, index))
        ]

    def note_latency(self, node: int, now: int, *, can_drain: bool) -> None:
        """A node has something to send to it, and may or may not take it now."""
        if self.availability_timeout_ms:
            drained = now if can_drain else self._latency.get(node, (now, now))[1]
            self._latency[node] = (now, drained)

    def _is_slow(self, leader: Partition | None) -> bool:
        """What is ready for its node could not be sent for longer than the timeout."""
        ready, drained = self._latency.get(leader.leader if leader else -1, (0, 0))
        return ready - drained > self.availability_timeout_ms > 0

    # --- who may be sent to --------------------------------------------------------------------

    def heads(self) -> list[ProducerBatch]:
        """The oldest batch of every partition that has one waiting."""
        return [queue[0] for queue in self.queues.values()]

    def ready(self, view: View, now: int) -> Ready:
        nodes: dict[int, None] = {}
        unknown: set[str] = set()
        soonest: int | None = None
        hurried = self.exhausted or self.flushing > 0
        for place, queue in self.queues.items():
            head = queue[0]
            leader = view.leader(*place)
            if leader is None:
                unknown.add(place[0])
                continue
            head.meet_leader(leader.leader_epoch)
            if leader.leader in nodes or place in self.muted:
                continue
            backs_off = head.backs_off(now)
            wait = head.backoff_ms if backs_off else self.linger_ms
            waited = head.waited(now)
            full = len(queue) > 1 or head.full
            if not backs_off and (full or hurried or waited >= wait):
                nodes[leader.leader] = None
                continue
            left = max(0, wait - waited)
            soonest = now + left if soonest is None else min(soonest, now + left)
        return Ready(list(nodes), soonest, unknown)

    def drain(self, view: View, node: int, most: int, now: int) -> list[ProducerBatch]:
        """What the next request to this node carries: `most` bytes, or one batch of more."""
        places = view.led_by(node)
        if not places:
            return []
        taken: list[ProducerBatch] = []
        size = 0
        start = self._drain_index.get(node, 0) % len(places)
        for step in range(len(places)):
            index = (start + step) % len(places)
            place = places[index]
            self._drain_index[node] = index
            queue = self.queues.get(place)
            if not queue or place in self.muted:
                continue
            head = queue[0]
            head.meet_leader(view.epoch_of(place))
            if head.backs_off(now):
                continue
            if size + head.size > most and taken:
                break
            if self.sequences is not None and self.sequences.holds_back(head):
                break
            self._pop(queue)
            if self.sequences is not None:
                self.sequences.number(head)
            head.closed = True
            size += head.size
            taken.append(head)
        return taken

    def _pop(self, queue: deque[ProducerBatch]) -> None:
        batch = queue.popleft()
        if not queue:
            del self.queues[batch.place]

    # --- batches back, and out -----------------------------------------------------------------

    def put_back(self, batch: ProducerBatch, now: int, *, counts: bool = True) -> None:
        """In front of its queue, to be tried again; what was not sent (`counts`) was no attempt."""
        if counts:
            batch.attempts += 1
            batch.backoff_ms = self.backoff.delay(batch.attempts - 1, self._draw())
            batch.tried_at = max(batch.tried_at, now)
        self._insert(batch)

    def split(self, batch: ProducerBatch) -> int:
        """In place of a batch that a broker found too large: smaller ones (KIP-126); how many."""
        target = self.batch_size
        if batch.split or len(parts := batch.parts(target)) == 1:
            largest = max(
                upper_bound(each.key, each.value, each.headers) for each in batch.deliveries
            )
            target = max(largest, (batch.size + 1) // 2)
            parts = batch.parts(target)
        if len(parts) == 1:  # of tiny records, that Kafka would split without end
            parts = batch.parts(target, records=(len(batch.deliveries) + 1) // 2)
        for part in reversed(parts):
            if self.sequences is not None and part.sequence >= 0:
                self.sequences.add(part)
            self._insert(part)
        return len(parts)

    def _insert(self, batch: ProducerBatch) -> None:
        """At the head; behind those of smaller sequences, which must be sent before it."""
        queue = self.queues.setdefault(batch.place, deque())
        before: list[ProducerBatch] = []
        if batch.sequence >= 0:
            while queue and 0 <= queue[0].sequence < batch.sequence:
                before.append(queue.popleft())
        queue.appendleft(batch)
        queue.extendleft(reversed(before))

    def expired(self, now: int) -> list[ProducerBatch]:
        """Batches as old as `delivery.timeout.ms`, taken out (PROD-41)."""
        found: list[ProducerBatch] = []
        for queue in list(self.queues.values()):
            while queue and now - queue[0].created >= self.delivery_timeout_ms:
                found.append(queue[0])
                self._pop(queue)
        return found

    def next_expiry(self) -> int | None:
        created = [queue[0].created for queue in self.queues.values()]
        return min(created) + self.delivery_timeout_ms if created else None

    def take_all(self, *, numbered: bool = True) -> list[ProducerBatch]:
        """Every batch that waits, or (`numbered` false) those that were never sent; taken out."""
        found: list[ProducerBatch] = []
        for place in list(self.queues):
            kept: deque[ProducerBatch] = deque()
            for batch in self.queues.pop(place):
                (found if numbered or batch.sequence < 0 else kept).append(batch)
            if kept:
                self.queues[place] = kept
        return found

    def release(self, batch: ProducerBatch) -> None:
        """A batch is done: its memory is free again (PROD-49)."""
        self.memory.deallocate(batch.memory)
        batch.memory = 0
