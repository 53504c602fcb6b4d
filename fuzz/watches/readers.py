"""Several real clients read a partition from its first offset to its end: who disagrees stands out.

Each reader is a function of (bootstrap servers, topic, how many offsets) that gives (offset, value)
of each record. A client that is not installed is left out, and the report says so.
"""

from __future__ import annotations

import asyncio
import importlib
import warnings
from collections.abc import Callable
from typing import Any

from touchstone.fuzz.runner import stopwatch
from touchstone.harness.targets import reach
from touchstone.reference_impl.client.offsets import READ_COMMITTED
from touchstone.reference_impl.io.client import Client

Records = list[tuple[int, str]]
Reader = Callable[[str, str, int], Records]
PATIENCE_S = 30.0
READ_UNCOMMITTED = 0


def ours(bootstrap: str, topic: str, end: int) -> Records:
    return _by_ours(bootstrap, topic, 0, end, READ_UNCOMMITTED)


def read_committed(bootstrap: str, topic: str, partition: int, end: int) -> Records:
    """What our client shows to a reader of committed records."""
    return _by_ours(bootstrap, topic, partition, end, READ_COMMITTED)


def _by_ours(bootstrap: str, topic: str, partition: int, end: int, isolation: int) -> Records:
    place, elapsed, found = (topic, partition), stopwatch(), Records()
    with Client(bootstrap, reach.client_properties(bootstrap.split(","))) as client:
        consumer = client.consumer([place], isolation=isolation, reset="earliest", max_wait_ms=50)
        consumer.seek(place, 0)
        while (consumer.positions[place] or 0) < end and elapsed() < PATIENCE_S:
            found += [(one.offset, (one.value or b"").decode()) for one in consumer.poll()]
    return found


def confluent_kafka(bootstrap: str, topic: str, end: int) -> Records:
    library: Any = importlib.import_module("confluent_kafka")
    settings = {
        "bootstrap.servers": bootstrap, "group.id": f"{topic}-confluent",
        "enable.auto.commit": False, "enable.partition.eof": True, "log_level": 0,
    }  # fmt: skip
    consumer, elapsed, found = library.Consumer(settings), stopwatch(), Records()
    try:
        consumer.assign([library.TopicPartition(topic, 0, 0)])
        while elapsed() < PATIENCE_S:
            message = consumer.poll(1.0)
            if message is None:
                continue
            if message.error() is None:
                found.append((message.offset(), message.value().decode()))
            elif message.error().code() == library.KafkaError._PARTITION_EOF:
                break
            else:
                raise library.KafkaException(message.error())
    finally:
        consumer.close()
    return found


def kafka_python(bootstrap: str, topic: str, end: int) -> Records:
    with warnings.catch_warnings():  # it reads its schemas in a way that Python 3.11 deprecates
        warnings.simplefilter("ignore", DeprecationWarning)
        library: Any = importlib.import_module("kafka")
    consumer = library.KafkaConsumer(
        bootstrap_servers=bootstrap.split(","), enable_auto_commit=False, group_id=None
    )
    place, elapsed, found = library.TopicPartition(topic, 0), stopwatch(), Records()
    try:
        consumer.assign([place])
        consumer.seek(place, 0)
        while consumer.position(place) < end and elapsed() < PATIENCE_S:
            for row in consumer.poll(timeout_ms=1000).get(place, ()):
                found.append((row.offset, row.value.decode()))
    finally:
        consumer.close()
    return found


def aiokafka(bootstrap: str, topic: str, end: int) -> Records:
    library: Any = importlib.import_module("aiokafka")

    async def read() -> Records:
        place, elapsed, found = library.TopicPartition(topic, 0), stopwatch(), Records()
        consumer = library.AIOKafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False)
        await consumer.start()
        try:
            consumer.assign([place])
            consumer.seek(place, 0)
            while await consumer.position(place) < end and elapsed() < PATIENCE_S:
                got = await consumer.getmany(place, timeout_ms=1000)
                found.extend((row.offset, row.value.decode()) for row in got.get(place, ()))
        finally:
            await consumer.stop()
        return found

    return asyncio.run(read())


READERS: dict[str, Reader] = {
    "ours": ours,
    "confluent-kafka": confluent_kafka,
    "kafka-python": kafka_python,
    "aiokafka": aiokafka,
}
