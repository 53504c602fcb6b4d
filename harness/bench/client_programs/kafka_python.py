"""kafka-python: pure Python, a sender thread."""

from __future__ import annotations

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from touchstone.harness.bench.client_programs.measure import (
    LINGER_MS,
    PARTITIONS,
    VALUE,
    Program,
    main,
)


def program(bootstrap: str) -> Program:
    producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all", linger_ms=LINGER_MS)

    def produce(topic: str, count: int) -> None:
        sent = [producer.send(topic, VALUE) for _ in range(count)]
        producer.flush()
        for each in sent:
            each.get(30)

    def consume(topic: str, count: int) -> None:
        consumer = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest")
        consumer.assign([TopicPartition(topic, index) for index in range(PARTITIONS)])
        seen = 0
        while seen < count:
            seen += sum(map(len, consumer.poll(timeout_ms=1000).values()))
        consumer.close()

    return Program(produce, consume, lambda topic: producer.send(topic, VALUE).get(30))


if __name__ == "__main__":
    main(program)
