"""Members that send in transactions: begin, a few sends to several partitions, commit or abort.

The client's transactional producer does the asking; here is what becomes of it in a history. A
commit that got no answer is unknown, and so is an abort: who takes the id again (KIP-360) fences
what may still be under way and ends it one way or the other, so after anything that failed the
producer is a new one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from touchstone.harness.driver.workload.member import Member
from touchstone.reference_impl.client.flow import ClientError
from touchstone.reference_impl.client.metadata import View
from touchstone.reference_impl.client.producer_batch import Delivery
from touchstone.reference_impl.client.transactions import TransactionalProducer as Producer
from touchstone.reference_impl.io.client import Client


def producer_of(
    view: View, name: str, patience_ms: int, *, randrange: Callable[[int], int] = lambda stop: 0
) -> Producer:
    """A producer that waits so many ms for an answer, and whose transactions are given up then; a
    coordinator that did not answer is asked once more.
    """
    return Producer(
        view, name, randrange=randrange, transaction_timeout_ms=patience_ms,
        max_block_ms=2 * patience_ms, delivery_timeout_ms=patience_ms,
        request_timeout_ms=patience_ms,
    )  # fmt: skip


class TransactionalProducer(Member):
    """One transactional id; every turn is a transaction."""

    sent = transactions = 0
    core: Producer | None = None

    def begin(self, client: Client) -> None:
        self.run_flow, self.view = client.run, client.view

    def turn(self) -> None:
        if self.core is None:
            core = producer_of(
                self.view, f"{self.plan.topics[0]}.{self.name}", self.plan.request_ms,
                randrange=self.random.randrange,
            )  # fmt: skip
            self.run_flow(core.init())
            self.core = core
        self.transactions += 1
        name = f"{self.name}:{self.transactions}"
        self.recorder.end(self.recorder.begin(self.name, "begin", transaction=name))
        self.core.begin()
        whole = self._send_all(self.core, name)
        self._finish(self.core, name, commit=whole and self.random.random() < 0.7)
        self.over.wait(self.plan.pause_s)

    def _send_all(self, core: Producer, name: str) -> bool:
        """Whether everything was stored."""
        queued: list[tuple[int, Delivery]] = []
        for topic, partition in self.random.sample(self.plan.places, min(2, len(self.plan.places))):
            for _ in range(self.random.randint(1, 3)):
                self.sent += 1
                value = f"{self.name}.{self.sent}"
                number = self.recorder.begin(
                    self.name, "send", topic=topic, partition=partition, value=value, acks=-1,
                    idempotent=True, transaction=name,
                )  # fmt: skip
                queued.append((number, core.send(topic, value.encode(), partition=partition)))
        with suppress(ClientError):  # it is in the deliveries
            self.run_flow(core.flush())
        whole = True
        for number, delivery in queued:
            if delivery.done and delivery.error is None:
                self.recorder.end(number, "ok", offset=delivery.offset)
            else:
                self.recorder.end(number, "unknown", error=str(delivery.error)[:120])
                whole = False
        return whole

    def _finish(self, core: Producer, name: str, *, commit: bool) -> None:
        number = self.recorder.begin(self.name, "commit" if commit else "abort", transaction=name)
        try:
            self.run_flow(core.commit() if commit else core.abort())
        except ClientError as error:
            self.recorder.end(number, "unknown", error=str(error)[:120])
            self.core = None
        else:
            self.recorder.end(number, "ok")
