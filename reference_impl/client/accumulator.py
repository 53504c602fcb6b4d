"""Records that wait to be sent: one queue of batches per partition (PROD-25).

A batch takes records until it is full; an oversize record gets a batch of its own. Once drained a
batch is closed, and it keeps its sequence number whenever it is sent again (PROD-38, PROD-40).
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from touchstone.reference_impl.wire.records import Record, encode_batch, varint
from touchstone.reference_impl.wire.records.batch import HEADER_SIZE, Header

from .flow import ClientError, TopicPartition


@dataclass(slots=True)
class Delivery:
    """What becomes of one record; `done` when nothing can change any more."""

    topic: str
    partition: int | None
    key: bytes | None
    value: bytes | None
    headers: Sequence[Header]
    timestamp: int
    created: int
    offset: int = -1
    error: ClientError | None = None
    done: bool = False

    def fail(self, error: ClientError) -> None:
        self.error, self.done = error, True

    def result(self) -> "Delivery":
        if self.error is not None:
            raise self.error
        return self

    def size(self) -> int:
        """Upper bound of its encoded size."""
        parts = [self.key or b"", self.value or b""]
        for name, value in self.headers:
            parts += (name.encode() if isinstance(name, str) else name, value or b"")
        return 21 + sum(len(part) + varint.size(len(part)) for part in parts) + 5


@dataclass(slots=True)
class PendingBatch:
    place: TopicPartition
    created: int
    deliveries: list[Delivery] = field(default_factory=list)
    size: int = HEADER_SIZE
    closed: bool = False
    attempts: int = 0
    not_before: int = 0
    producer: tuple[int, int] = (-1, -1)
    sequence: int = -1
    transactional: bool = False

    def encode(self, compression: int) -> bytes:
        base = self.deliveries[0].timestamp
        return encode_batch(
            [
                Record(i, each.timestamp - base, each.key, each.value, each.headers)
                for i, each in enumerate(self.deliveries)
            ],
            base_timestamp=base,
            compression=compression,
            producer_id=self.producer[0],
            producer_epoch=self.producer[1],
            base_sequence=self.sequence,
            transactional=self.transactional,
        )

    def settle(self, offset: int, log_append_time: int = -1) -> None:
        for i, each in enumerate(self.deliveries):
            each.offset = offset + i if offset >= 0 else -1
            if log_append_time >= 0:
                each.timestamp = log_append_time
            each.done = True

    def fail(self, error: ClientError) -> None:
        for each in self.deliveries:
            each.fail(error)


class Accumulator:
    def __init__(self, batch_size: int):
        self.batch_size = batch_size
        self.queues: dict[TopicPartition, deque[PendingBatch]] = {}

    def __bool__(self) -> bool:
        return any(self.queues.values())

    def append(self, place: TopicPartition, delivery: Delivery) -> bool:
        """Queue it; True if that took a new batch while another one was full."""
        queue = self.queues.setdefault(place, deque())
        size = delivery.size()
        last = queue[-1] if queue else None
        if last is not None and not last.closed and last.size + size <= self.batch_size:
            last.deliveries.append(delivery)
            last.size += size
            return False
        batch = PendingBatch(place, delivery.created, [delivery])
        batch.size += size
        queue.append(batch)
        return last is not None

    def heads(self) -> list[PendingBatch]:
        """The oldest batch of every partition, the only one that may be sent."""
        return [queue[0] for queue in self.queues.values() if queue]

    def due(self, now: int, linger_ms: int, *, urgent: bool) -> list[PendingBatch]:
        """The heads that may be sent now (PROD-31).

        A head that backs off is not, whatever else; one that is full, has waited long enough (to
        the millisecond: the boundary counts) or is flushed (`urgent`) is.
        """
        return [head for head in self.heads() if self._check_at(head, linger_ms, urgent) <= now]

    def next_check(self, now: int, linger_ms: int, *, urgent: bool) -> int | None:
        """When the first of the heads that are not due will be; None if one is (PROD-35)."""
        instants = [self._check_at(head, linger_ms, urgent) for head in self.heads()]
        soonest = min(instants, default=now)
        return soonest if soonest > now else None

    def _check_at(self, head: PendingBatch, linger_ms: int, urgent: bool) -> int:
        """Waits count from creation, or from the last try to the end of its backoff (PROD-32)."""
        full = head.closed or head.size >= self.batch_size or len(self.queues[head.place]) > 1
        return head.not_before if full or urgent else max(head.not_before, head.created + linger_ms)

    def pop(self, batch: PendingBatch) -> None:
        queue = self.queues[batch.place]
        queue.remove(batch)
        if not queue:
            del self.queues[batch.place]

    def split(self, batch: PendingBatch) -> None:
        """In place of a batch that a broker found too large: two of half its records (KIP-126)."""
        queue = self.queues[batch.place]
        at = queue.index(batch)
        middle = len(batch.deliveries) // 2
        halves = []
        for part in (batch.deliveries[:middle], batch.deliveries[middle:]):
            half = PendingBatch(batch.place, batch.created, part, closed=True)
            half.size += sum(each.size() for each in part)
            halves.append(half)
        del queue[at]
        queue.insert(at, halves[1])
        queue.insert(at, halves[0])
