"""aiokafka: asyncio, its record code compiled."""

from __future__ import annotations

import asyncio
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.structs import TopicPartition

from touchstone.harness.bench.client_programs.measure import (
    LINGER_MS,
    PARTITIONS,
    VALUE,
    Program,
    main,
)


def program(bootstrap: str) -> Program:
    loop = asyncio.new_event_loop()

    async def begin() -> Any:
        made = AIOKafkaProducer(
            bootstrap_servers=bootstrap, acks="all", enable_idempotence=True, linger_ms=LINGER_MS
        )
        await made.start()
        return made

    producer = loop.run_until_complete(begin())

    async def produce(topic: str, count: int) -> None:
        sent = [await producer.send(topic, VALUE) for _ in range(count)]
        await asyncio.gather(*sent)

    async def consume(topic: str, count: int) -> None:
        consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest")
        await consumer.start()
        consumer.assign([TopicPartition(topic, index) for index in range(PARTITIONS)])
        seen = 0
        while seen < count:
            seen += sum(map(len, (await consumer.getmany(timeout_ms=1000)).values()))
        await consumer.stop()

    return Program(
        lambda topic, count: loop.run_until_complete(produce(topic, count)),
        lambda topic, count: loop.run_until_complete(consume(topic, count)),
        lambda topic: loop.run_until_complete(producer.send_and_wait(topic, VALUE)),
    )


if __name__ == "__main__":
    main(program)
