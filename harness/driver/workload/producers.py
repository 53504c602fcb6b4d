"""Members that send: bursts of values to partitions, each sent once, with one promise each.

A send that a broker refused before it appended anything has failed; everything else that is no
success (a timeout, a lost connection, an error after the append) may have happened. The table says
which errors are found before the append (ReplicaManager.appendToLocalLog and LogValidator at
4.3.1); whatever is not in it counts as unknown, which can hide a defect but accuse nobody.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from touchstone.harness.driver.workload.member import Member
from touchstone.harness.driver.workload.recorder import Recorder
from touchstone.reference_impl.client.flow import KafkaError
from touchstone.reference_impl.client.producer_batch import Delivery
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.harness.driver.workload.workload import Plan

CERTAINLY_NOT = frozenset(
    {
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.RECORD_LIST_TOO_LARGE,
        ErrorCode.INVALID_REQUIRED_ACKS,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.INVALID_RECORD,
    }
)


class Producer(Member):
    """Sends bursts, and waits for each burst to be settled. acks=0 is never `ok`: nobody says."""

    def __init__(
        self, name: str, plan: Plan, recorder: Recorder, over: threading.Event,
        *, acks: int = -1, idempotent: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(name, plan, recorder, over)
        self.acks, self.idempotent = acks, idempotent and acks == -1
        self.sent = 0

    def begin(self, client: Client) -> None:
        self.producer = client.producer(
            acks=self.acks,
            idempotence=self.idempotent,
            delivery_timeout_ms=self.plan.delivery_ms,
            request_timeout_ms=self.plan.request_ms,
            batch_size=512,  # a few records: a burst becomes several batches
        )

    def turn(self) -> None:
        queued: list[tuple[int, Delivery]] = []
        for _ in range(self.random.randint(1, self.plan.burst)):
            topic, partition = self.random.choice(self.plan.places)
            self.sent += 1
            value = f"{self.name}.{self.sent}"
            number = self.recorder.begin(
                self.name, "send", topic=topic, partition=partition, value=value, acks=self.acks,
                idempotent=self.idempotent, transaction=None,
            )  # fmt: skip
            data = value.encode()
            queued.append((number, self.producer.send(topic, data, partition=partition)))
        try:
            self.producer.flush()
        finally:
            for number, delivery in queued:
                self._settle(number, delivery)
        self.over.wait(self.plan.pause_s)

    def _settle(self, number: int, delivery: Delivery) -> None:
        error = delivery.error
        if delivery.done and error is None:
            outcome = "ok" if self.acks else "unknown"
            self.recorder.end(number, outcome, offset=delivery.offset)
        elif isinstance(error, KafkaError) and error.code in CERTAINLY_NOT:
            self.recorder.end(number, "fail", error=error.name)
        else:
            self.recorder.end(number, "unknown", error=str(error)[:120])
