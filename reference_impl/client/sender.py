"""Requests out, answers in: what Java's Sender thread does, step by step and without a thread.

`due_requests` takes from the accumulator what is ready and makes one Produce per node of it
(PROD-44), as long as the node has fewer than `max_in_flight` of ours under way. `take_in` settles,
splits, puts back or fails the batches of every answer (PROD-46). Outcomes come through the inbox,
in whatever order the brokers give them.

With one request in flight a partition is muted until its answer, so that nothing overtakes a retry
(PROD-39). With more, sequences keep the order (`sequences`); without idempotence nothing does, as
in Kafka.

A request that certainly was not sent (no connection) is no attempt: its batches wait at the head of
their queues until the node may be tried again, as they wait for a node that is not ready in Java.

Source: Sender at 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.errors import is_retriable
from touchstone.reference_impl.wire.records import NONE, ZSTD
from touchstone.reference_impl.wire.schema import Struct

from .accumulator import Accumulator
from .flow import (
    LATEST_VERSION,
    Ask,
    Backoff,
    ClientError,
    Failed,
    Inbox,
    KafkaError,
    Outcome,
    Unreachable,
    named,
)
from .metadata import STALE, View
from .metadata_updates import MetadataUpdates
from .producer_batch import ProducerBatch

_V_NAMES, _V_ZSTD, _V_RECORD_BATCH = 12, 7, 3  # from 13 on topics have ids


class Expired(ClientError):
    """`delivery_timeout_ms` passed (PROD-41)."""


@dataclass(frozen=True, slots=True)
class Sending:
    """The settings of a sender; times are in ms, sizes in bytes."""

    acks: int = -1
    compression: int = NONE
    retries: int = (1 << 31) - 1
    request_timeout_ms: int = 30_000
    max_request_size: int = 1 << 20
    max_in_flight: int = 5
    reconnect: Backoff = Backoff(50, 1000)


class Sender:
    def __init__(
        self,
        view: View,
        settings: Sending,
        accumulator: Accumulator,
        metadata: MetadataUpdates,
        *,
        draw: Callable[[], float],
        given_up: Callable[[ProducerBatch, ClientError], None] = lambda batch, error: None,
    ):
        self.view = view
        self.settings = settings
        self.accumulator = accumulator
        self.sequences = accumulator.sequences
        self.metadata = metadata
        self.inbox: Inbox = Inbox()
        self.done: list[ProducerBatch] = []  # whose records' callbacks have not been called yet
        self.transactional_id: str | None = None
        self.highest_version = LATEST_VERSION
        self.patience_ms: Callable[[int], int] = lambda most: most
        self._draw = draw
        self._given_up = given_up
        self._carried: dict[int, tuple[Ask, list[ProducerBatch]]] = {}  # by the ask's identity
        self._under_way: dict[int, int] = {}  # node -> requests
        self._down: dict[int, tuple[int, int]] = {}  # node -> failed connects, tried again when

    @property
    def busy(self) -> bool:
        """Whether a Produce is under way."""
        return bool(self._carried)

    # --- out -----------------------------------------------------------------------------------

    def due_requests(self) -> list[Ask]:
        """The requests that are due, and the metadata that their batches wait for."""
        now = self.view.now
        ready = self.accumulator.ready(self.view, now)
        self.metadata.want(ready.unknown_leaders)
        found = []
        for node in ready.nodes:
            can_send = self._can_send(node, now)
            reached = can_send and node not in self._down
            self.accumulator.note_latency(node, now, can_drain=reached)
            if not can_send:
                continue
            batches = self.accumulator.drain(self.view, node, self.settings.max_request_size, now)
            if batches:
                found.append(self._request(node, batches))
        return found

    def _can_send(self, node: int, now: int) -> bool:
        if self._under_way.get(node, 0) >= self.settings.max_in_flight:
            return False
        return node not in self._down or self._down[node][1] <= now

    def wake_at(self) -> int | None:
        """When something is due without any answer: a batch, a node that is down, an expiry."""
        now = self.view.now
        ready = self.accumulator.ready(self.view, now)
        waits = [ready.next_check, self.accumulator.next_expiry(), self.metadata.wake_at()]
        down = (self._down[node][1] for node in ready.nodes if node in self._down)
        waits += [instant for instant in down if instant > now]
        timeout = self.accumulator.delivery_timeout_ms
        waits += [each.created + timeout for each in self.flying()]
        return min((each for each in waits if each is not None), default=None)

    def flying(self) -> Iterable[ProducerBatch]:
        return (
            batch for _, batches in self._carried.values() for batch in batches if not batch.done
        )

    def _request(self, node: int, batches: list[ProducerBatch]) -> Ask:
        settings = self.settings
        topics: dict[str, list[Struct]] = {}
        ids = True
        for batch in batches:
            topic, partition = batch.place
            ids = ids and any(self.view.id_of(topic))
            row = {"index": partition, "records": batch.encode(settings.compression)}
            topics.setdefault(topic, []).append(row)
            batch.in_flight = True
            if settings.max_in_flight == 1:
                self.accumulator.muted.add(batch.place)
        body = {
            "transactional_id": self.transactional_id,
            "acks": settings.acks,
            "timeout_ms": settings.request_timeout_ms,
            "topic_data": [
                {"name": name, "topic_id": self.view.id_of(name), "partition_data": rows}
                for name, rows in topics.items()
            ],
        }
        lowest = _V_ZSTD if settings.compression == ZSTD else _V_RECORD_BATCH
        ask = Ask(
            node,
            "Produce",
            body,
            timeout_ms=self.patience_ms(settings.request_timeout_ms),
            versions=(lowest, self.highest_version if ids else min(_V_NAMES, self.highest_version)),
            answer=settings.acks != 0,
        )
        self._carried[id(ask)] = (ask, batches)
        self._under_way[node] = self._under_way.get(node, 0) + 1
        return ask

    # --- in ------------------------------------------------------------------------------------

    def take_in(self) -> None:
        """Settle what has come since the last time."""
        while self.inbox:
            outcome = self.inbox.popleft()
            if outcome.ask.api == "Metadata":
                self.metadata.took(outcome)
                continue
            _, batches = self._carried.pop(id(outcome.ask))
            node = outcome.ask.node
            assert isinstance(node, int)
            self._under_way[node] -= 1
            for batch in batches:
                batch.in_flight = False
            self._settle(batches, outcome)
            if self.settings.max_in_flight == 1:
                self.accumulator.muted.difference_update(batch.place for batch in batches)

    def _settle(self, batches: list[ProducerBatch], outcome: Outcome) -> None:
        if isinstance(outcome, Failed):
            self._settle_failed(batches, outcome)
            return
        self._down.pop(int(outcome.ask.node), None)
        if self.settings.acks == 0:
            for batch in batches:
                self._complete(batch, -1)
            return
        rows = {
            (row.get("name") or self.view.name_of(row["topic_id"]), part["index"]): part
            for row in outcome.body["responses"]
            for part in row["partition_responses"]
        }
        for endpoint in outcome.body.get("node_endpoints", ()):
            self.view.meet(endpoint["node_id"], endpoint["host"], endpoint["port"])
        for batch in batches:
            part = rows.get(batch.place)
            if part is None:
                self._again(batch, ClientError(f"no answer for {named(batch.place)}"), stale=True)
            else:
                self._settle_one(batch, part)

    def _settle_failed(self, batches: list[ProducerBatch], outcome: Failed) -> None:
        error = Unreachable(outcome)
        if outcome.kind == "refused":
            node, now = int(outcome.ask.node), self.view.now
            failures, _ = self._down.get(node, (0, 0))
            delay = self.settings.reconnect.delay(failures, self._draw())
            self._down[node] = (failures + 1, now + max(1, delay))
        for batch in batches:
            if outcome.kind == "unsupported":
                self._give_up(batch, error)
            elif outcome.kind == "refused" and not batch.done:
                self.metadata.request((batch.place[0],))
                self.accumulator.put_back(batch, self.view.now, counts=False)
            else:
                self._again(batch, error, stale=True)

    def _settle_one(self, batch: ProducerBatch, part: Struct) -> None:
        code = part["error_code"]
        if code == E.NONE:
            self._complete(batch, part["base_offset"], part.get("log_append_time_ms", -1))
            return
        error = KafkaError(code, part.get("error_message"), named(batch.place))
        if code == E.MESSAGE_TOO_LARGE and len(batch.deliveries) > 1 and not batch.done:
            if self.sequences is not None:
                self.sequences.remove(batch)
            self.accumulator.split(batch)
            self.accumulator.release(batch)
        elif self._may_retry(batch, code, part.get("log_start_offset", -1)):
            self._put_back(batch)
        elif code == E.DUPLICATE_SEQUENCE_NUMBER:
            # So old that the broker has forgotten its offset; it is delivered all the same.
            self._complete(batch, -1)
        else:
            self._give_up(batch, error, part.get("record_errors") or ())
        if code in STALE:
            self._doubt(batch, part.get("current_leader"))

    def _may_retry(self, batch: ProducerBatch, code: int, log_start_offset: int) -> bool:
        timeout = self.accumulator.delivery_timeout_ms
        if batch.done or self.view.now - batch.created >= timeout:
            return False
        if batch.attempts >= self.settings.retries:
            return False
        if self.sequences is None:
            return is_retriable(code)
        return self.sequences.may_retry(batch, code, log_start_offset)

    def _again(self, batch: ProducerBatch, error: ClientError, *, stale: bool) -> None:
        """No answer for it, so nobody knows whether it was stored."""
        if stale:
            self.metadata.request((batch.place[0],))
        if self._may_retry(batch, E.NETWORK_EXCEPTION, -1):
            self._put_back(batch)
        else:
            self._give_up(batch, error)

    def _put_back(self, batch: ProducerBatch) -> None:
        self._count("record-retry", batch)
        self.accumulator.put_back(batch, self.view.now)

    def _doubt(self, batch: ProducerBatch, told: Struct | None) -> None:
        """The leader is another one: believe who says which (KIP-951), and ask all the same."""
        if told is not None and told["leader_id"] >= 0 and told["leader_epoch"] >= 0:
            self.view.learn_leader(*batch.place, told["leader_id"], told["leader_epoch"])
        self.metadata.request((batch.place[0],))

    def _complete(self, batch: ProducerBatch, offset: int, log_append_time: int = -1) -> None:
        if self.sequences is not None:
            self.sequences.completed(batch, offset)
        self._end(batch, lambda: batch.settle(offset, log_append_time))

    def _give_up(
        self, batch: ProducerBatch, error: ClientError, rows: Iterable[Struct] = ()
    ) -> None:
        of_record = _by_record(error, list(rows))
        # Out of retries nobody knows whether an earlier try was stored; before, the broker said no.
        certain = isinstance(error, KafkaError) and batch.attempts < self.settings.retries
        self.fail(batch, error, of_record, certain=certain)

    def fail(
        self,
        batch: ProducerBatch,
        error: ClientError,
        of_record: Callable[[int], Exception] | None = None,
        *,
        certain: bool = False,
    ) -> None:
        """A batch that waits or is under way will not be delivered."""
        if not batch.done:
            self._count("record-error", batch)
            if self.sequences is not None:
                self.sequences.failed(batch, getattr(error, "code", 0), certain=certain)
            self._given_up(batch, error)
        self._end(batch, lambda: batch.fail(error, of_record))

    def _end(self, batch: ProducerBatch, settle: Callable[[], None]) -> None:
        """Once done, later answers change nothing; what is in flight keeps its memory (PROD-49)."""
        if not batch.done:
            settle()
            self.done.append(batch)
        if not batch.in_flight:
            self.accumulator.release(batch)

    def _count(self, sensor: str, batch: ProducerBatch) -> None:
        records, now = len(batch.deliveries), self.view.now
        self.view.metrics.by_topic(sensor, records, now, batch.place[0])

    # --- time ----------------------------------------------------------------------------------

    def expire(self) -> None:
        """Fail what is too old, in the queue and in flight (PROD-41)."""
        now, timeout = self.view.now, self.accumulator.delivery_timeout_ms
        late = self.accumulator.expired(now)
        late += [batch for batch in self.flying() if now - batch.created >= timeout]
        for batch in late:
            error = Expired(
                f"Expiring {len(batch.deliveries)} record(s) for {named(batch.place)}:"
                f"{now - batch.created} ms has passed since batch creation. The request has not"
                " been sent, or no server response has been received yet."
            )
            sent = batch.in_flight or batch.attempts > 0
            self.fail(batch, error)
            if self.sequences is not None and sent:
                self.sequences.expired(batch)


def _by_record(error: ClientError, rows: list[Struct]) -> Callable[[int], Exception] | None:
    """Each record's own error where the broker names records (KIP-467)."""
    if not rows or not isinstance(error, KafkaError):
        return None
    named_rows = {row["batch_index"]: row["batch_index_error_message"] for row in rows}
    code = error.code if len(rows) == 1 else E.INVALID_RECORD
    rest = ClientError(
        "Failed to append record because it was part of a batch which had one more more invalid"
        " records"
    )

    def of_record(index: int) -> Exception:
        if index not in named_rows:
            return rest
        return KafkaError(code, named_rows[index] or str(error))

    return of_record
