"""confluent-kafka: librdkafka, in C with threads of its own."""

from __future__ import annotations

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from touchstone.harness.bench.client_programs.measure import (
    LINGER_MS,
    PARTITIONS,
    VALUE,
    Program,
    main,
)


def program(bootstrap: str) -> Program:
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "enable.idempotence": True,
            "linger.ms": LINGER_MS,
            "queue.buffering.max.messages": 2_000_000,
        }
    )

    def produce(topic: str, count: int) -> None:
        for _ in range(count):
            producer.produce(topic, VALUE)
        assert producer.flush() == 0

    def single(topic: str) -> None:
        producer.produce(topic, VALUE)
        producer.flush()

    def consume(topic: str, count: int) -> None:
        consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": topic})
        begin = [TopicPartition(topic, index, OFFSET_BEGINNING) for index in range(PARTITIONS)]
        consumer.assign(begin)
        seen = 0
        while seen < count:
            seen += len(consumer.consume(1000, 1.0))
        consumer.close()

    return Program(produce, consume, single)


if __name__ == "__main__":
    main(program)
