"""The producer: records into batches, batches to leaders, answers to deliveries.

`send` only queues. The `work` flow does all else: learns topics, picks partitions, checks sizes
(PROD-13), and sends to every leader one request with the oldest batch of each of its partitions
that is due (PROD-31, PROD-36, PROD-44). To `flush` everything is due, round after round until every
delivery is done; `close` is a flush that fails what is left at its end (PROD-50). One request per
leader is under way at a time, so records stay in order without muting, and a retry can never
overtake (PROD-30, PROD-39).

With idempotence on, a batch's sequence is fixed when it is first sent; when a sequence is lost (the
broker has forgotten us, or a batch failed after it was sent) the producer takes a new id and starts
from 0, because nobody can know what the old one left behind (KIP-360 in its simplest form). Nothing
is drained until it has that id (PROD-42).
`transactions.TransactionalProducer` is this one with `_admit` and `_give_up` made its own.
"""

from collections.abc import Callable, Iterable, Sequence

from touchstone.reference_impl.wire.errors import ErrorCode, is_retriable
from touchstone.reference_impl.wire.records import NONE, ZSTD
from touchstone.reference_impl.wire.records.batch import Header
from touchstone.reference_impl.wire.schema import Struct

from .accumulator import Accumulator, Delivery, PendingBatch
from .flow import (
    ANY,
    LATEST_VERSION,
    Ask,
    ClientError,
    Failed,
    Flow,
    KafkaError,
    Outcome,
    Pause,
    TopicPartition,
    Unreachable,
    named,
)
from .metadata import STALE, Tries, View, know, persist, refresh, try_refresh
from .partitioner import Sticky, for_key

_V_NAMES, _V_ZSTD, _V_RECORD_BATCH = 12, 7, 3  # from 13 on topics have ids
_SEQUENCE_LOST = frozenset(
    {
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.UNKNOWN_PRODUCER_ID,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    }
)


class Expired(ClientError):
    """`delivery_timeout_ms` passed (PROD-41)."""


class Closed(ClientError):
    """The producer is closed, or was before this record was delivered (PROD-50)."""


class Producer:
    transactional_id: str | None = None

    def __init__(
        self,
        view: View,
        *,
        randrange: Callable[[int], int],
        acks: int = -1,
        idempotence: bool | None = None,
        compression: int = NONE,
        batch_size: int = 16_384,
        retries: int = (1 << 31) - 1,
        delivery_timeout_ms: int = 120_000,
        request_timeout_ms: int = 30_000,
        max_request_size: int = 1 << 20,
        linger_ms: int = 0,
        max_block_ms: int = 60_000,
        metadata_max_age_ms: int = 300_000,
        metadata_max_idle_ms: int = 300_000,
    ):
        if idempotence is None:
            idempotence = acks == -1 and retries > 0
        if idempotence and (acks != -1 or not retries):
            raise ClientError("idempotence needs acks=all and retries (PROD-08)")
        self.view = view
        self.acks = acks
        self.idempotence = idempotence
        self.compression = compression
        self.retries = retries
        self.delivery_timeout_ms = delivery_timeout_ms
        self.request_timeout_ms = request_timeout_ms
        self.max_request_size = max_request_size
        self.linger_ms = linger_ms
        self.max_block_ms = max_block_ms
        self.metadata_max_age_ms = metadata_max_age_ms
        self.metadata_max_idle_ms = metadata_max_idle_ms
        self.producer_id, self.producer_epoch = -1, -1
        self._sequences: dict[TopicPartition, int] = {}
        self._sticky = Sticky(randrange)
        self._unplaced: list[Delivery] = []
        self._lost: set[str] = set()  # topics whose leaders must be learned anew
        self._accumulator = Accumulator(batch_size)
        self._used: dict[str, int] = {}  # topic -> when a record was last sent to it
        self._learned_at = view.now
        self._ends_at: int | None = None  # closed: no answer is waited for any longer

    def send(
        self,
        topic: str,
        value: bytes | None,
        *,
        key: bytes | None = None,
        partition: int | None = None,
        headers: Sequence[Header] = (),
        timestamp: int | None = None,
    ) -> Delivery:
        """Queue a record; `work` or `flush` sends it."""
        if self._ends_at is not None:
            raise Closed("the producer is closed")
        now = self.view.now
        stamp = now if timestamp is None else timestamp
        delivery = Delivery(topic, partition, key, value, tuple(headers), stamp, now)
        self._unplaced.append(delivery)
        self._used[topic] = now
        return delivery

    def flush(self) -> Flow[None]:
        """Until every queued record is delivered or has failed."""
        yield from self._place_all()
        yield from self._drain()

    def work(self) -> Flow[int | None]:
        """One round: send what is due by now; when to look again, None with nothing queued.

        A batch is due when it is full or `linger_ms` old (PROD-31, PROD-32).
        """
        yield from self._place_all()
        if self._accumulator:
            yield from self._round(urgent=False)
        if not self._accumulator:
            return None
        now = self.view.now
        return self._accumulator.next_check(now, self.linger_ms, urgent=False) or now

    def close(self, timeout_ms: int = 1 << 31) -> Flow[None]:
        """Deliver what is queued for at most so long and fail the rest; 0 fails all of it."""
        self._ends_at = self.view.now + timeout_ms
        if timeout_ms:
            yield from self._place_all()
            yield from self._drain()
        self._drop(Closed("the producer was closed before this record was delivered"))

    def _drain(self) -> Flow[None]:
        """Round after round until nothing is queued, or a producer that closes is out of time."""
        while self._accumulator and (self._ends_at is None or self.view.now < self._ends_at):
            yield from self._round(urgent=True)
            now = self.view.now
            if wake := self._accumulator.next_check(now, self.linger_ms, urgent=True):
                yield Pause(now + self._patience(wake - now))

    def _round(self, *, urgent: bool) -> Flow[None]:
        """Send what is due, take in the answers, learn what they say was out of date."""
        yield from self._relearn()
        self._expire()
        if self.idempotence and self.producer_id < 0 and self._accumulator:
            try:
                yield from self._new_producer_id()
            except ClientError as error:
                for batch in self._accumulator.heads():
                    self._give_up(batch, error)
                return
        yield from self._admit()
        due = self._accumulator.due(self.view.now, self.linger_ms, urgent=urgent)
        asks, carried = self._requests(due)
        outcomes = (yield asks) if asks else []
        for batches, outcome in zip(carried, outcomes, strict=True):
            self._settle(batches, outcome)
        if self._lost:
            lost, self._lost = self._lost, set()
            # Whatever this could not learn shows when the batches are tried again.
            yield from self._learn(lost)

    def _relearn(self) -> Flow[None]:
        """Metadata grows old, and topics that nothing is sent to are forgotten (PROD-18)."""
        now = self.view.now
        if now - self._learned_at < self.metadata_max_age_ms:
            return
        self._learned_at = now
        idle = self.metadata_max_idle_ms
        self._used = {topic: at for topic, at in self._used.items() if now - at < idle}
        if self._used:
            yield from self._learn(self._used)

    def _learn(self, topics: Iterable[str]) -> Flow[None]:
        patience = self._patience(self.request_timeout_ms)
        yield from try_refresh(self.view, sorted(topics), timeout_ms=patience)

    def _patience(self, most_ms: int) -> int:
        """How long something is waited for, in ms: no longer than one that closes may take."""
        if self._ends_at is None:
            return most_ms
        return max(1, min(most_ms, self._ends_at - self.view.now))

    def _admit(self) -> Flow[None]:
        """What must be asked before the heads may be sent: nothing, outside of a transaction."""
        yield from ()

    def _place_all(self) -> Flow[None]:
        names = {delivery.topic for delivery in self._unplaced}
        for name in sorted(names):
            try:
                patience = self._patience(self.max_block_ms)
                yield from know(self.view, [name], create=True, timeout_ms=patience)  # PROD-14
                known = self.view.topics[name].partitions
                asked = {d.partition for d in self._unplaced if d.topic == name} - {None}
                if not asked <= known.keys():  # one refresh, then it is an error (PROD-15)
                    yield from refresh(self.view, [name])
            except ClientError as error:
                for delivery in self._unplaced:
                    if delivery.topic == name:
                        delivery.fail(error)
        waiting, self._unplaced = self._unplaced, []
        for delivery in waiting:
            if not delivery.done:
                self._place(delivery)

    def _place(self, delivery: Delivery) -> None:
        partitions = self.view.topics[delivery.topic].partitions
        if delivery.partition is None and delivery.key is not None:
            delivery.partition = for_key(delivery.key, len(partitions))
        if delivery.partition is not None:
            if delivery.partition not in partitions:
                about = f"{delivery.topic}-{delivery.partition}"
                delivery.fail(KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, about=about))
            elif not self._too_large(delivery):
                self._accumulator.append((delivery.topic, delivery.partition), delivery)
            return
        available = [i for i, part in partitions.items() if part.leader >= 0] or list(partitions)
        delivery.partition = self._sticky.current(delivery.topic, available)
        if self._too_large(delivery):
            return
        if self._accumulator.append((delivery.topic, delivery.partition), delivery):
            self._sticky.move_on(delivery.topic, available)

    def _too_large(self, delivery: Delivery) -> bool:
        if delivery.size() <= self.max_request_size:
            return False
        code = ErrorCode.MESSAGE_TOO_LARGE
        delivery.fail(KafkaError(code, "max_request_size", delivery.topic))
        return True

    def _new_producer_id(self) -> Flow[None]:
        ask = Ask(
            ANY,
            "InitProducerId",
            {"transactional_id": None, "transaction_timeout_ms": -1},
            timeout_ms=self._patience(self.request_timeout_ms),
        )
        tries = Tries(self.view, self.view.now + self.delivery_timeout_ms)
        while True:
            body = yield from persist(
                self.view, ask, timeout_ms=self._patience(self.request_timeout_ms)
            )
            code = body["error_code"]
            if not code:
                break
            error = KafkaError(code, about="InitProducerId")
            if not error.retriable:
                raise error
            yield from tries.again(error)
        self.producer_id, self.producer_epoch = body["producer_id"], body["producer_epoch"]
        self._sequences.clear()
        for batch in self._accumulator.heads():
            batch.sequence = -1

    def _expire(self) -> None:
        for batch in self._accumulator.heads():
            age = self.view.now - batch.created
            if age >= self.delivery_timeout_ms:
                topic, partition = batch.place
                count = len(batch.deliveries)
                self._give_up(
                    batch,
                    Expired(
                        f"Expiring {count} record(s) for {topic}-{partition}:{age} ms has passed"
                        " since batch creation"
                    ),
                )

    def _requests(self, due: list[PendingBatch]) -> tuple[list[Ask], list[list[PendingBatch]]]:
        by_leader: dict[int, list[PendingBatch]] = {}
        used: dict[int, int] = {}
        for batch in due:
            leader = self.view.leader(*batch.place)
            if leader is None:
                batch.not_before = self.view.now + self.view.backoff.delay(0)
                self._lost.add(batch.place[0])
                continue
            size = used.get(leader.leader, 0) + batch.size
            if size > self.max_request_size and leader.leader in by_leader:
                continue  # the next round takes it; alone it would go however large (PROD-37)
            used[leader.leader] = size
            by_leader.setdefault(leader.leader, []).append(batch)
        asks = [self._request(leader, batches) for leader, batches in by_leader.items()]
        return asks, list(by_leader.values())

    def _request(self, leader: int, batches: list[PendingBatch]) -> Ask:
        topics: dict[str, list[Struct]] = {}
        ids = True
        for batch in batches:
            batch.closed = True
            if self.idempotence and batch.sequence < 0:
                batch.producer = (self.producer_id, self.producer_epoch)
                batch.transactional = self.transactional_id is not None
                batch.sequence = self._sequences.get(batch.place, 0)
                after = (batch.sequence + len(batch.deliveries)) & 0x7FFFFFFF
                self._sequences[batch.place] = after
            topic, partition = batch.place
            ids = ids and any(self.view.id_of(topic))
            row = {"index": partition, "records": batch.encode(self.compression)}
            topics.setdefault(topic, []).append(row)
        body = {
            "transactional_id": self.transactional_id,
            "acks": self.acks,
            "timeout_ms": self.request_timeout_ms,
            "topic_data": [
                {"name": name, "topic_id": self.view.id_of(name), "partition_data": rows}
                for name, rows in topics.items()
            ],
        }
        lowest = _V_ZSTD if self.compression == ZSTD else _V_RECORD_BATCH
        highest = self._highest_version() if ids else min(_V_NAMES, self._highest_version())
        return Ask(
            leader,
            "Produce",
            body,
            timeout_ms=self._patience(self.request_timeout_ms),
            versions=(lowest, highest),
            answer=self.acks != 0,
        )

    def _highest_version(self) -> int:
        return LATEST_VERSION

    def _settle(self, batches: list[PendingBatch], outcome: Outcome) -> None:
        if isinstance(outcome, Failed):
            for batch in batches:
                if outcome.kind == "unsupported":
                    self._give_up(batch, Unreachable(outcome))
                else:
                    self._again(batch, Unreachable(outcome), stale=True)
            return
        if self.acks == 0:
            for batch in batches:
                self._accumulator.pop(batch)
                batch.settle(-1)
            return
        rows = {
            (row.get("name") or self.view.name_of(row["topic_id"]), part["index"]): part
            for row in outcome.body["responses"]
            for part in row["partition_responses"]
        }
        for batch in batches:
            part = rows.get(batch.place)
            if part is None:
                self._again(batch, ClientError(f"no answer for {batch.place}"), stale=True)
            else:
                self._settle_one(batch, part)

    def _settle_one(self, batch: PendingBatch, part: Struct) -> None:
        code = part["error_code"]
        if code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
            self._accumulator.pop(batch)
            # A duplicate so old that the broker has forgotten its offset is delivered all the same.
            offset = part["base_offset"] if not code else -1
            batch.settle(offset, part.get("log_append_time_ms", -1))
            return
        error = KafkaError(code, part.get("error_message"), named(batch.place))
        if code == ErrorCode.MESSAGE_TOO_LARGE and len(batch.deliveries) > 1:
            self._accumulator.split(batch)
            if batch.sequence >= 0:  # nothing was stored, so its halves begin where it did
                self._sequences[batch.place] = batch.sequence
        elif code in _SEQUENCE_LOST and self._starts_over and batch.attempts < self.retries:
            self._forget_producer()
            self._again(batch, error, stale=False)
        elif is_retriable(code) or code in STALE:
            self._again(batch, error, stale=code in STALE)
        else:
            self._give_up(batch, error)

    @property
    def _starts_over(self) -> bool:
        """Whether a new producer id mends a lost sequence."""
        return self.idempotence and self.transactional_id is None

    def _again(self, batch: PendingBatch, error: ClientError, *, stale: bool) -> None:
        if batch.attempts >= self.retries:
            self._give_up(batch, error)
            return
        batch.not_before = self.view.now + self.view.backoff.delay(batch.attempts)
        batch.attempts += 1
        if stale:
            self._lost.add(batch.place[0])

    def _give_up(self, batch: PendingBatch, error: ClientError) -> None:
        self._accumulator.pop(batch)
        batch.fail(error)
        if batch.sequence >= 0:
            self._forget_producer()

    def _forget_producer(self) -> None:
        if self._starts_over:
            self.producer_id = -1

    def _drop(self, error: ClientError) -> None:
        """What waits to be sent will not be."""
        queues, unplaced = self._accumulator.queues, self._unplaced
        self._accumulator.queues, self._unplaced = {}, []
        for queue in queues.values():
            for batch in queue:
                batch.fail(error)
        for delivery in unplaced:
            delivery.fail(error)
