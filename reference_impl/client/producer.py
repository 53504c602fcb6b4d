"""The producer: records into batches, batches to leaders, answers to deliveries.

`send` never waits: a record whose topic is known and that finds memory joins a batch at once,
another one waits in line for either, for `max_block_ms` at most (PROD-14, PROD-27). Flows do the
rest: `step` looks once at everything there is to do (PROD-29), `work` sends what is due and waits
for its answers, `flush` goes on until every record is done, `close` is a flush that fails what is
left at its end (PROD-50).

The order in `send` is Kafka's (PROD-13): interceptors, metadata, serialization, partition, headers
frozen, size, batch. What is wrong with a record itself is raised there and then; what a broker or
time says of it is in its delivery (PROD-28).

Who does what: `accumulator` has the queues, `sender` the requests, `sequences` the order of an
idempotent producer, `metadata_updates` what is asked about topics.
`transactions.TransactionalProducer` is this one with `_admit` and `_given_up` made its own.

Sources: KafkaProducer, Sender at 4.3.1.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from touchstone.reference_impl.wire.errors import ErrorCode, is_retriable
from touchstone.reference_impl.wire.records.batch import Header

from .accumulator import Accumulator
from .buffer_memory import BufferMemory
from .flow import (
    ANY,
    Ask,
    Backoff,
    ClientError,
    Flow,
    KafkaError,
    NetworkPoll,
)
from .intake import Intake
from .interceptors import Interceptors, ProducerRecord, acknowledge
from .metadata import Tries, View, persist
from .metadata_updates import MetadataUpdates
from .producer_batch import Delivery, ProducerBatch
from .producer_options import ProducerOptions
from .security.errors import AuthenticationException
from .sender import Expired, Sender
from .sequences import NOBODY, Sequences
from .serializers import SerializationError

__all__ = ["Closed", "Delivery", "Expired", "Producer", "SerializationError"]
T = TypeVar("T")
_WORTH_A_STEP = 4  # full batches
_AT_MOST_MS = 100  # no look is later than this while answers are out
_INT_MAX = (1 << 31) - 1


class Closed(ClientError):
    """The producer is closed, or was before this record was delivered (PROD-50)."""


@dataclass(slots=True)
class _Waiting:
    """A record in line for its topic's metadata or for memory."""

    record: ProducerRecord
    delivery: Delivery
    asked: int = 0  # answers about its topic when it began to wait


class Producer:
    transactional_id: str | None = None

    def __init__(self, view: View, *, randrange: Callable[[int], int], **options: Any):
        """`options` are those of `ProducerOptions`; `randrange(n)` gives a number below n.

        Raises ClientError for what contradicts itself, or for a class of the application's own that
        cannot be made (PROD-07, PROD-08).
        """
        told = ProducerOptions(**options)
        self.view = view
        self.options = told
        self.max_block_ms = told.max_block_ms
        self.interceptors = _made(lambda: Interceptors(told.interceptors, told.configs))
        self.sequences = (
            Sequences(transactional=self.transactional_id is not None) if told.idempotent else None
        )
        self._randrange = randrange
        self._accumulator = Accumulator(
            told.batch_size,
            linger_ms=told.linger_ms,
            delivery_timeout_ms=told.delivery_timeout_ms,
            memory=BufferMemory(told.buffer_memory),
            backoff=Backoff(told.retry_backoff_ms, told.retry_backoff_max_ms),
            sequences=self.sequences,
            draw=self._draw,
        )
        self._metadata = MetadataUpdates(
            view,
            max_age_ms=told.metadata_max_age_ms,
            max_idle_ms=told.metadata_max_idle_ms,
            timeout_ms=told.request_timeout_ms,
        )
        self._sender = Sender(
            view,
            told.sending(),
            self._accumulator,
            self._metadata,
            draw=self._draw,
            given_up=self._given_up,
        )
        self._sender.patience_ms = self._patience
        self._intake = _made(
            lambda: Intake(view, self._accumulator, told.rules(), randrange),
            self.interceptors.close,
        )
        self._line: deque[_Waiting] = deque()  # first come, first served (PROD-27)
        self._ends_at: int | None = None  # closed: no answer is waited for any longer

    def _draw(self) -> float:
        return self._randrange(1 << 20) / (1 << 20)

    @property
    def producer_id(self) -> int:
        return self.sequences.producer[0] if self.sequences else -1

    @property
    def producer_epoch(self) -> int:
        return self.sequences.producer[1] if self.sequences else -1

    # --- what the application does -------------------------------------------------------------

    def send(
        self,
        topic: str,
        value: Any,
        *,
        key: Any = None,
        partition: int | None = None,
        headers: Sequence[Header] = (),
        timestamp: int | None = None,
        callback: Callable[[Delivery, Exception | None], Any] | None = None,
    ) -> Delivery:
        """Queue a record; `work` or `flush` sends it.

        `callback` is called once, with the delivery and its error or None, when the record is done
        (PROD-48). Raises Closed, SerializationError, or what a partitioner raises.
        """
        if self._ends_at is not None:
            raise Closed("the producer is closed")
        now = self.view.now
        record = ProducerRecord(topic, value, key, partition, list(headers), timestamp)
        if self.interceptors:
            record = self.interceptors.on_send(record)
        stamp = now if record.timestamp is None else record.timestamp
        delivery = Delivery(
            record.topic, record.partition, None, None, (), stamp, now, callback=callback
        )
        self._metadata.used[record.topic] = now
        try:
            if (
                self._line
                or not self._intake.knows(record)
                or not self._intake.take(record, delivery)
            ):
                delivery.key, delivery.value = record.key, record.value
                asked = self._metadata.answered.get(record.topic, 0)
                self._line.append(_Waiting(record, delivery, asked))
        except Exception as error:  # it is the caller's, and interceptors hear of it (PROD-12)
            partition = -1 if record.partition is None else record.partition
            self.interceptors.failed((record.topic, partition), error)
            raise
        if delivery.done:
            acknowledge(self.interceptors, delivery)
        return delivery

    @property
    def waits(self) -> bool:
        """Whether a record is in line for metadata or memory, as `send` would block in Java."""
        return bool(self._line)

    @property
    def wakes(self) -> bool:
        """Whether enough batches were filled since the last step to go while others are made.

        One request with several partitions' batches costs both sides less than one for each.
        """
        return self._intake.filled >= _WORTH_A_STEP

    def wakes_sender(self) -> bool:
        """Whether a batch is full or new since this was asked: Java wakes its sender (PROD-26)."""
        woke, self._intake.woke = self._intake.woke, False
        return woke

    def in_line(self, delivery: Delivery) -> bool:
        """Whether this record waits for metadata or memory."""
        return any(each.delivery is delivery for each in self._line)

    @property
    def pending(self) -> bool:
        """Whether a record is neither delivered nor failed."""
        return bool(self._line or self._accumulator or self._sender.busy)

    def step(self, until: int) -> Flow[None]:
        """Do what there is to do; then wait for an answer, at most until that instant."""
        self._intake.filled = 0
        self._settle()
        self._advance()
        yield from self._prepare()
        due = self._sender.due_requests()  # first: batches may wait for a leader (PROD-34)
        asks = self._metadata.ask() + due
        if asks or self._advance():
            until = min(until, self.view.now)
        elif (wanted := self._metadata.wake_at()) is not None:
            until = min(until, wanted)
        try:
            yield NetworkPoll(asks, self._sender.inbox, until)
        except AuthenticationException as refused:  # Java's `send` returns a failed future
            self._settle()
            self._drop_unsent(refused)
            return
        self._settle()
        self._advance()

    def until_taken(self) -> Flow[None]:
        """Until nobody is in line any more: what `send` waits for in Java."""
        while self._line:
            yield from self.step(self.next_wake())

    def flush(self) -> Flow[None]:
        """Until every queued record is delivered or has failed."""
        self.urge(True)
        try:
            while self.pending and not self._out_of_time():
                yield from self.step(self.next_wake())
        finally:
            self.urge(False)

    def work(self) -> Flow[int | None]:
        """Send what is due by now and take in its answers; when to look again, or None.

        A batch is due when it is full or `linger_ms` old (PROD-31, PROD-32). None is returned with
        nothing queued.
        """
        while True:
            waits = self._sender.busy or self._line
            yield from self.step(self.next_wake() if waits else self.view.now)
            wake = self._next_look()
            due = wake is not None and wake <= self.view.now
            if not (self._sender.busy or self._line or due):
                return wake

    def urge(self, on: bool) -> None:
        """Every batch is due while somebody flushes (PROD-31)."""
        self._accumulator.flushing += 1 if on else -1

    def close(self, timeout_ms: int = 1 << 31) -> Flow[None]:
        """Deliver what is queued for at most so long and fail the rest; 0 fails all of it."""
        self._ends_at = self.view.now + timeout_ms
        if timeout_ms:
            yield from self.flush()
        self._drop(Closed("the producer was closed before this record was delivered"))
        self.interceptors.close()

    # --- the line ------------------------------------------------------------------------------

    def _advance(self) -> bool:
        """Take from the line who need not wait any longer; whether anybody did."""
        moved = False
        while self._line:
            waiting = self._line[0]
            delivery = waiting.delivery
            try:
                late = self._late(waiting)
                if late is not None:
                    delivery.fail(late)
                elif not self._intake.knows(waiting.record):
                    break
                elif not self._intake.take(waiting.record, delivery):
                    self._accumulator.exhausted = True
                    break
            except Exception as error:  # nobody is there to raise it to any more
                delivery.fail(error)
            self._line.popleft()
            moved = True
            if delivery.done:
                self._tell([delivery])
        if not self._line:
            self._accumulator.exhausted = False
        wanted = {each.record.topic for each in self._line if not self._intake.knows(each.record)}
        self._metadata.want(wanted)
        return moved

    def _late(self, waiting: _Waiting) -> ClientError | None:
        """Why a record need not wait any longer, if it need not."""
        record, now = waiting.record, self.view.now
        topic = record.topic
        answered = self._metadata.answered.get(topic, 0)
        code = self._metadata.errors.get(topic, 0)
        if not self._intake.knows(record):
            known = self.view.topics.get(topic)
            missing = known is not None and bool(known.partitions)
            if missing and answered > waiting.asked:
                about = f"{topic}-{record.partition}"  # asked once, and still not there (PROD-15)
                return KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, about=about)
            if answered > waiting.asked and code and not is_retriable(code):
                return KafkaError(code, about=topic)
        if now - waiting.delivery.created < self.max_block_ms:
            return None
        if self._intake.knows(record):
            size = max(self._accumulator.batch_size, 1)
            return self._accumulator.memory.exhausted(size, self.max_block_ms, size)
        why = f"Topic {topic} not present in metadata after {self.max_block_ms} ms."
        code = code or ErrorCode.LEADER_NOT_AVAILABLE
        return KafkaError(code, why, topic)

    # --- steps ---------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Take in the answers that came, fail what is too late, and tell who is done."""
        self._sender.take_in()
        self._sender.expire()
        if self.sequences is not None:
            self._resolve(self.sequences)
        done, self._sender.done = self._sender.done, []
        for batch in done:
            self._tell(batch.deliveries)

    def _tell(self, done: list[Delivery]) -> None:
        """The callbacks of one batch, record by record (PROD-48)."""
        for delivery in done:
            if self.interceptors or delivery.callback is not None:
                acknowledge(self.interceptors, delivery)

    def _resolve(self, sequences: Sequences) -> None:
        sequences.resolve()
        sequences.bump_if_required()

    def _prepare(self) -> Flow[None]:
        """What must be asked before anything may be sent."""
        self._metadata.grow_old()
        if self._needs_id():
            try:
                yield from self._new_producer_id()
            except ClientError as error:
                for batch in self._accumulator.take_all():
                    self._sender.fail(batch, error)
                self._settle()
                return
        yield from self._admit()

    def _needs_id(self) -> bool:
        return (
            self.sequences is not None
            and self.sequences.producer == NOBODY
            and bool(self._accumulator)
        )

    def _out_of_time(self) -> bool:
        return self._ends_at is not None and self.view.now >= self._ends_at

    def _next_look(self) -> int | None:
        """The next instant at which something is due, None with nothing queued."""
        if not self.pending:
            return None
        waits = [self._sender.wake_at()]
        if self._line:
            waits.append(self._line[0].delivery.created + self.max_block_ms)
        return min((each for each in waits if each is not None), default=None)

    def next_wake(self) -> int:
        """Until when an answer is waited for: the next look, or the end of one that closes."""
        look = self._next_look()
        until = self.view.now + _AT_MOST_MS if look is None else look
        return until if self._ends_at is None else min(until, self._ends_at)

    def _patience(self, most_ms: int) -> int:
        """How long something is waited for, in ms: no longer than one that closes may take."""
        if self._ends_at is None:
            return most_ms
        return max(1, min(most_ms, self._ends_at - self.view.now))

    def _admit(self) -> Flow[None]:
        """What must be asked before the heads may be sent: nothing, outside of a transaction."""
        yield from ()

    def _given_up(self, batch: ProducerBatch, error: ClientError) -> None:
        """A batch failed for good: of no more consequence outside of a transaction."""

    def _new_producer_id(self) -> Flow[None]:
        assert self.sequences is not None
        ask = Ask(
            ANY,
            "InitProducerId",
            {"transactional_id": None, "transaction_timeout_ms": _INT_MAX},
            timeout_ms=self._patience(self.options.request_timeout_ms),
        )
        tries = Tries(self.view, self.view.now + self.options.delivery_timeout_ms)
        while True:
            body = yield from persist(
                self.view, ask, timeout_ms=self._patience(self.options.request_timeout_ms)
            )
            code = body["error_code"]
            if not code:
                break
            error = KafkaError(code, about="InitProducerId")
            if not error.retriable:
                raise error
            yield from tries.again(error)
        self.sequences.took_id((body["producer_id"], body["producer_epoch"]))

    def _drop(self, error: ClientError) -> None:
        """Nothing more is sent, and no answer counts any longer."""
        for batch in [*self._accumulator.take_all(), *self._sender.flying()]:
            self._sender.fail(batch, error)
        self._drop_unsent(error)

    def _drop_unsent(self, error: ClientError) -> None:
        """What was never sent will not be; what may have been stored is seen to its end."""
        for batch in self._accumulator.take_all(numbered=False):
            self._sender.fail(batch, error)
        line, self._line = self._line, deque()
        for waiting in line:
            waiting.delivery.fail(error)
        self._settle()
        self._tell([waiting.delivery for waiting in line])


def _made(make: Callable[[], T], undo: Callable[[], None] = lambda: None) -> T:
    """A part of a producer; what an application's own class raises there ends it (PROD-07)."""
    try:
        return make()
    except Exception as error:
        undo()
        raise ClientError("Failed to construct kafka producer") from error
