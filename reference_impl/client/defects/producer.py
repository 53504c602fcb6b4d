"""Defects of a producer, as clients of the wild have had them.

Each is planted in one core: methods of its parts are replaced on that object alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from touchstone.reference_impl.client.flow import ClientError, Flow
from touchstone.reference_impl.client.intake import Intake
from touchstone.reference_impl.client.partitioner import murmur2
from touchstone.reference_impl.client.producer import Producer
from touchstone.reference_impl.client.producer_batch import Delivery, ProducerBatch
from touchstone.reference_impl.client.transactions import TransactionalProducer
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.records import NONE

from .planting import Defect, defect

TABLE: list[Defect] = []
_defect = partial(defect, TABLE)
_NEVER_MS = 1 << 40


def _nothing(*_: Any, **__: Any) -> None:
    """In place of something that ought to happen."""


# --- order and duplicates ----------------------------------------------------------------------


@_defect("reorders-on-retry", "A batch that is tried again goes behind those that wait.")
def reorders_on_retry(producer: Producer) -> None:
    queues = producer._accumulator.queues

    def insert(batch: ProducerBatch) -> None:
        queues.setdefault(batch.place, deque()).append(batch)

    producer._accumulator._insert = insert  # type: ignore[method-assign]


@_defect("duplicates-on-retry", "A batch is tried again under a new epoch, as if it were new.")
def duplicates_on_retry(producer: Producer) -> None:
    real = producer._accumulator.put_back

    def put_back(batch: ProducerBatch, now: int, *, counts: bool = True) -> None:
        if producer.sequences is not None:
            producer.sequences.request_bump(batch.place)
        real(batch, now, counts=counts)

    producer._accumulator.put_back = put_back  # type: ignore[method-assign]


@_defect("reuses-sequences", "Every batch of a partition has sequence 0.")
def reuses_sequences(producer: Producer) -> None:
    sequences = producer.sequences
    assert sequences is not None
    real = sequences.number

    def number(batch: ProducerBatch) -> None:
        sequences.of(batch.place).next = 0
        real(batch)

    sequences.number = number  # type: ignore[method-assign]


@_defect("too-many-in-flight", "max.in.flight.requests.per.connection limits nothing.")
def too_many_in_flight(producer: Producer) -> None:
    producer._sender.settings = replace(producer._sender.settings, max_in_flight=1_000)


# --- what the application is told --------------------------------------------------------------


@_defect("swallows-errors", "A record that failed is told as delivered.")
def swallows_errors(producer: Producer) -> None:
    real = producer._sender._end

    def end(batch: ProducerBatch, settle: Callable[[], None]) -> None:
        def settled() -> None:
            settle()
            for each in batch.deliveries:
                each.error = None

        real(batch, settled)

    producer._sender._end = end  # type: ignore[method-assign]


@_defect("callbacks-out-of-order", "The callbacks of a batch come last record first.")
def callbacks_out_of_order(producer: Producer) -> None:
    real = producer._tell

    def tell(done: list[Delivery]) -> None:
        real(done[::-1])

    producer._tell = tell  # type: ignore[method-assign]


@_defect("forgets-callbacks-of-failures", "Only callbacks of delivered records are called.")
def forgets_callbacks_of_failures(producer: Producer) -> None:
    real = producer._tell

    def tell(done: list[Delivery]) -> None:
        real([each for each in done if each.error is None])

    producer._tell = tell  # type: ignore[method-assign]


@_defect("offsets-of-the-batch", "Every record of a batch is told the batch's base offset.")
def offsets_of_the_batch(producer: Producer) -> None:
    real = producer._tell

    def tell(done: list[Delivery]) -> None:
        first: dict[int, int] = {}
        for each in done:
            each.offset = first.setdefault(each.partition or 0, each.offset)
        real(done)

    producer._tell = tell  # type: ignore[method-assign]


@_defect("flush-returns-early", "flush waits for one round of answers, not for all records.")
def flush_returns_early(producer: Producer) -> None:
    def flush() -> Flow[None]:
        yield from producer.step(producer.view.now)

    producer.flush = flush  # type: ignore[method-assign]


# --- time and retries --------------------------------------------------------------------------


@_defect("ignores-delivery-timeout", "A batch is tried for as long as there are retries.")
def ignores_delivery_timeout(producer: Producer) -> None:
    producer._accumulator.delivery_timeout_ms = _NEVER_MS


@_defect("never-retries", "The first error is the last, whatever retries says.")
def never_retries(producer: Producer) -> None:
    producer._sender.settings = replace(producer._sender.settings, retries=0)


@_defect("retries-what-is-final", "An error that no retry can mend is tried again.")
def retries_what_is_final(producer: Producer) -> None:
    real = producer._sender._may_retry

    def may_retry(batch: ProducerBatch, code: int, log_start_offset: int) -> bool:
        return real(batch, E.NETWORK_EXCEPTION, log_start_offset)

    producer._sender._may_retry = may_retry  # type: ignore[method-assign]


@_defect("no-backoff", "A batch is tried again at once, as often as the broker refuses it.")
def no_backoff(producer: Producer) -> None:
    real = producer._accumulator.put_back

    def put_back(batch: ProducerBatch, now: int, *, counts: bool = True) -> None:
        real(batch, now, counts=counts)
        batch.backoff_ms = 0

    producer._accumulator.put_back = put_back  # type: ignore[method-assign]


@_defect("stale-leader-never-refreshed", "A leader that moved is asked again and again.")
def stale_leader_never_refreshed(producer: Producer) -> None:
    producer._metadata.request = _nothing  # type: ignore[method-assign]
    producer.view.learn_leader = lambda *_: False  # type: ignore[method-assign]


@_defect("ignores-linger", "Records are sent at once, one by one, whatever linger.ms says.")
def ignores_linger(producer: Producer) -> None:
    producer._accumulator.linger_ms = 0


# --- partitions and records --------------------------------------------------------------------


@_defect("wrong-murmur2-sign", "A key's hash loses its sign by abs, not by its lowest 31 bits.")
def wrong_murmur2_sign(producer: Producer) -> None:
    producer._intake.for_key = lambda key, partitions: abs(murmur2(key)) % partitions


@_defect("keyless-to-one-partition", "Records without a key are hashed as an empty key.")
def keyless_to_one_partition(producer: Producer) -> None:
    intake = producer._intake
    real: Callable[..., int | None] = intake._partition

    def partition(record: Any, key: bytes | None, value: bytes | None, known: Any) -> int | None:
        return real(record, b"" if key is None else key, value, known)

    intake._partition = partition  # type: ignore[method-assign]


@_defect("drops-headers", "Headers are not sent.")
def drops_headers(producer: Producer) -> None:
    _before_take(producer._intake, lambda record: record.headers.clear())


@_defect("empty-for-null", "A tombstone is sent as an empty value.")
def empty_for_null(producer: Producer) -> None:
    def filled(record: Any) -> None:
        record.value = b"" if record.value is None else record.value

    _before_take(producer._intake, filled)


def _before_take(intake: Intake, change: Callable[[Any], None]) -> None:
    real = intake.take

    def take(record: Any, delivery: Delivery) -> bool:
        change(record)
        return real(record, delivery)

    intake.take = take  # type: ignore[method-assign]


@_defect("timestamps-in-seconds", "A record's timestamp is in seconds.")
def timestamps_in_seconds(producer: Producer) -> None:
    real = producer._intake.take

    def take(record: Any, delivery: Delivery) -> bool:
        delivery.timestamp //= 1000
        return real(record, delivery)

    producer._intake.take = take  # type: ignore[method-assign]


@_defect("never-compresses", "compression.type is ignored.")
def never_compresses(producer: Producer) -> None:
    producer._sender.settings = replace(producer._sender.settings, compression=NONE)


@_defect("never-splits", "A batch that the broker finds too large fails as a whole.")
def never_splits(producer: Producer) -> None:
    real = producer._sender._settle_one

    def settle_one(batch: ProducerBatch, part: Any) -> None:
        if part["error_code"] == E.MESSAGE_TOO_LARGE:
            producer._sender._give_up(batch, ClientError("MESSAGE_TOO_LARGE"))
        else:
            real(batch, part)

    producer._sender._settle_one = settle_one  # type: ignore[method-assign]


@_defect("fewer-acks", "Records are sent with acks=1 where all are asked for.")
def fewer_acks(producer: Producer) -> None:
    producer._sender.settings = replace(producer._sender.settings, acks=1)


# --- transactions ------------------------------------------------------------------------------


@_defect("partitions-not-added", "A transaction's partitions are not told to its coordinator.")
def partitions_not_added(producer: TransactionalProducer) -> None:
    def admit() -> Flow[None]:
        producer._started = True
        yield from ()

    producer._admit = admit  # type: ignore[method-assign]


@_defect("commits-after-a-failure", "A transaction is committed though a record of it failed.")
def commits_after_a_failure(producer: TransactionalProducer) -> None:
    producer._given_up = _nothing  # type: ignore[method-assign]
    producer._sender._given_up = _nothing


@_defect("fenced-goes-on", "A fenced producer takes its id back and goes on.")
def fenced_goes_on(producer: TransactionalProducer) -> None:
    producer._over = _nothing  # type: ignore[method-assign]
