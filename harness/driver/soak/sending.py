"""A producer as an application has one: idempotent, a thread of its own, told by callbacks."""

from __future__ import annotations

from functools import partial

from touchstone.harness.checkers.soaks.log_ledger import Place
from touchstone.harness.driver.soak.role import Role
from touchstone.reference_impl.client.defects import producer
from touchstone.reference_impl.client.producer_batch import Delivery
from touchstone.reference_impl.io.background_producer import BackgroundProducer

CONFIG = {"acks": "all", "enable.idempotence": True, "linger.ms": 5, "batch.size": 2_000}
BURST = 20  # the most records between two pauses


def value_of(who: str, number: int, size: int) -> bytes:
    """A record says whose it is and its number."""
    return f"{who} {number} ".encode().ljust(size, b".")


def read_value(value: bytes) -> tuple[str, int]:
    who, number, _ = value.split(b" ", 2)
    return who.decode(), int(number)


class Sending(Role):
    def begin(self) -> None:
        config = {**CONFIG, **self.shared.login}
        self.producer = BackgroundProducer(self.plan.bootstrap, config, client_id=self.name)
        self.plant(self.producer.core, producer.TABLE)

    def turn(self) -> None:
        count = self.random.randint(1, BURST)
        for _ in range(count):
            self._send(self.random.choice(self.plan.places))
        self.until.wait(count * self.plan.producers / self.plan.rate)

    def end(self) -> None:
        self.producer.close()

    def _send(self, place: Place) -> None:
        with self.shared.lock:
            number = self.shared.log.send(self.name, place)
        value = value_of(self.name, number, self.plan.bytes)
        done = partial(self._done, place, number)
        self.producer.send(place[0], value, partition=place[1], callback=done)

    def _done(self, place: Place, number: int, delivery: Delivery, error: Exception | None) -> None:
        with self.shared.lock:
            if error is None:
                self.shared.log.acknowledge(self.name, place, number, delivery.offset)
            else:
                self.shared.log.fail(self.name, place, number)
                self.shared.note(error)
