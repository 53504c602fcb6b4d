"""The reference client."""

from __future__ import annotations

from touchstone.harness.bench.client_programs.measure import (
    LINGER_MS,
    PARTITIONS,
    VALUE,
    Program,
    main,
)
from touchstone.reference_impl.io.client import Client


def program(bootstrap: str) -> Program:
    client = Client(bootstrap)
    producer = client.producer({"linger.ms": LINGER_MS})

    def produce(topic: str, count: int) -> None:
        sent = [producer.send(topic, VALUE) for _ in range(count)]
        producer.flush()
        for each in sent:
            each.result()

    def consume(topic: str, count: int) -> None:
        places = [(topic, index) for index in range(PARTITIONS)]
        consumer = client.consumer(places, reset="earliest")
        seen = 0
        while seen < count:
            seen += len(consumer.poll())

    def single(topic: str) -> None:
        sent = producer.send(topic, VALUE)
        producer.flush()
        sent.result()

    return Program(produce, consume, single)


if __name__ == "__main__":
    main(program)
