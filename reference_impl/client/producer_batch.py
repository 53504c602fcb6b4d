"""One batch on its way: the records of a partition that are sent, tried again and done together.

A record is encoded when it joins, so that a batch knows its size to the byte; what may still change
(the producer's id, epoch and sequence) stands in the header, which is written when it is sent. Once
drained a batch is closed, and it keeps its sequence number whenever it is sent again (PROD-38,
PROD-40), unless its producer's epoch is bumped.

Sources: ProducerBatch, MemoryRecordsBuilder, DefaultRecord at 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from touchstone.reference_impl.wire.records import NONE, compress, varint
from touchstone.reference_impl.wire.records.batch import (
    HEADER_SIZE,
    TRANSACTIONAL,
    BatchHeader,
    Header,
    Record,
    encode_record,
)

from .flow import ClientError, TopicPartition

MOST_OVERHEAD = 21  # DefaultRecord.MAX_RECORD_OVERHEAD: length, attributes, both deltas
_SMALL = varint.SMALL


def upper_bound(key: bytes | None, value: bytes | None, headers: Sequence[Header] = ()) -> int:
    """The most bytes that a batch of this one record takes, uncompressed (PROD-23)."""
    size = HEADER_SIZE + MOST_OVERHEAD + 2  # and two nulls or short lengths
    if key is not None:
        size += len(key) if len(key) < 64 else varint.size(len(key)) + len(key) - 1
    if value is not None:
        size += len(value) if len(value) < 64 else varint.size(len(value)) + len(value) - 1
    size += varint.size(len(headers)) if headers else 1
    for name, content in headers:
        raw = name.encode("utf-8", "surrogateescape") if isinstance(name, str) else name
        size += varint.size(len(raw)) + len(raw)
        size += 1 if content is None else varint.size(len(content)) + len(content)
    return size


class NotDone(ClientError):
    """The result of a record was asked for before its producer had delivered it, or given it up."""


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
    error: Exception | None = None
    done: bool = False
    callback: Callable[[Delivery, Exception | None], Any] | None = None

    def fail(self, error: Exception) -> None:
        self.error, self.done = error, True

    def result(self) -> Delivery:
        """This, when it is done; raises its error, or NotDone: it does not wait."""
        if self.error is not None:
            raise self.error
        if not self.done:
            raise NotDone(f"a record of {self.topic} is not done yet: flush the producer first")
        return self


@dataclass(slots=True, eq=False)
class ProducerBatch:
    """`limit` is in bytes: the batch size, or what its one oversize record takes (PROD-25)."""

    place: TopicPartition
    created: int
    limit: int
    deliveries: list[Delivery] = field(default_factory=list)
    size: int = HEADER_SIZE
    closed: bool = False
    split: bool = False  # a part of a batch that was too large; its memory was given back with that
    memory: int = 0  # bytes to be given back when it is done
    base_timestamp: int = 0
    max_timestamp: int = -1
    # --- its way
    attempts: int = 0
    tried_at: int = 0  # when it was created or last put back
    backoff_ms: int = 0
    done: bool = False
    in_flight: bool = False
    leader_epoch: int | None = None
    attempts_under_leader: int = -1  # attempts when the leader last changed
    # --- its sequence
    producer: tuple[int, int] = (-1, -1)
    sequence: int = -1
    renumbered: bool = False
    transactional: bool = False
    _records: list[bytes] = field(default_factory=list)
    _payload: tuple[int, bytes] | None = None

    def try_append(self, delivery: Delivery) -> int:
        """Take in the record and return the bytes that it takes; 0 where there is no room."""
        count = len(self.deliveries)
        if not count:
            self.base_timestamp = delivery.timestamp
        delta = delivery.timestamp - self.base_timestamp
        key, value = delivery.key, delivery.value
        try:  # a long varint, or that of a number below 0, is not in the table
            if delivery.headers or delta < 0:
                raise IndexError
            body = b"".join(
                (
                    *(b"\0", _SMALL[delta], _SMALL[count]),
                    *((b"\1",) if key is None else (_SMALL[len(key)], key)),
                    *((b"\1",) if value is None else (_SMALL[len(value)], value)),
                    b"\0",
                )
            )
            record = _SMALL[len(body)] + body
        except IndexError:
            record = encode_record(Record(count, delta, key, value, delivery.headers))
        taken = len(record)
        if count and self.size + taken > self.limit:
            return 0
        self.deliveries.append(delivery)
        self._records.append(record)
        self.size += taken
        if delivery.timestamp > self.max_timestamp:
            self.max_timestamp = delivery.timestamp
        return taken

    @property
    def full(self) -> bool:
        return self.closed or self.size >= self.limit

    @property
    def last_sequence(self) -> int:
        return (self.sequence + len(self.deliveries) - 1) & 0x7FFFFFFF

    def waited(self, now: int) -> int:
        """Milliseconds since it was created or last tried (PROD-32)."""
        return max(0, now - self.tried_at)

    def meet_leader(self, epoch: int) -> None:
        """A newer leader than the one of the last try: its backoff is over (KIP-951)."""
        if epoch >= 0 and (self.leader_epoch is None or self.leader_epoch < epoch):
            self.leader_epoch, self.attempts_under_leader = epoch, self.attempts

    def backs_off(self, now: int) -> bool:
        """Attempted, and its wait is not over; the boundary counts as over (PROD-32)."""
        new_leader = self.attempts > 0 and self.attempts == self.attempts_under_leader
        return self.attempts > 0 and not new_leader and self.waited(now) < self.backoff_ms

    def number(self, producer: tuple[int, int], sequence: int) -> None:
        self.producer, self.sequence = producer, sequence

    def encode(self, compression: int) -> bytes:
        self.closed = True
        if self._payload is None or self._payload[0] != compression:
            payload = b"".join(self._records)
            if compression != NONE:
                payload = compress(compression, payload)
            self._payload = (compression, payload)
        count = len(self.deliveries)
        header = BatchHeader(
            *(0, 0, -1, 2, 0),
            compression | (TRANSACTIONAL if self.transactional else 0),
            count - 1,
            self.base_timestamp,
            self.max_timestamp,
            *self.producer,
            self.sequence,
            count,
        )
        return header.encode(self._payload[1])

    def parts(self, limit: int, records: int | None = None) -> list[ProducerBatch]:
        """Batches of the same records in their order, none larger than `limit` but for one record.

        None has more than `records`. They carry on its way and its sequences (KIP-126).
        """
        parts: list[ProducerBatch] = []
        for delivery in self.deliveries:
            crowded = bool(parts) and len(parts[-1].deliveries) == records
            if not parts or crowded or not parts[-1].try_append(delivery):
                parts.append(self._part(limit))
                parts[-1].try_append(delivery)
        sequence = self.sequence
        for part in parts:
            part.closed = True
            if self.sequence >= 0:
                part.number(self.producer, sequence & 0x7FFFFFFF)
                sequence += len(part.deliveries)
        return parts

    def _part(self, limit: int) -> ProducerBatch:
        return ProducerBatch(
            self.place,
            self.created,
            limit,
            split=True,
            attempts=self.attempts,
            tried_at=self.tried_at,
            backoff_ms=self.backoff_ms,
            transactional=self.transactional,
        )

    def settle(self, offset: int, log_append_time: int = -1) -> None:
        self.done = True
        for i, each in enumerate(self.deliveries):
            each.offset = offset + i if offset >= 0 else -1
            if log_append_time >= 0:
                each.timestamp = log_append_time
            each.done = True

    def fail(self, error: Exception, of_record: Callable[[int], Exception] | None = None) -> None:
        self.done = True
        for i, each in enumerate(self.deliveries):
            each.fail(of_record(i) if of_record else error)
