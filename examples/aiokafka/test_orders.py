"""aiokafka on three brokers, of which one is killed."""

import asyncio

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer


async def send(bootstrap, topic, value):
    async with AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all") as producer:
        await producer.send_and_wait(topic, value)


async def receive(bootstrap, topic, count):
    options = {"bootstrap_servers": bootstrap, "auto_offset_reset": "earliest"}
    async with AIOKafkaConsumer(topic, **options) as consumer:
        return [(await consumer.getone()).value for _ in range(count)]


@pytest.mark.kafka(brokers=3, racks=["a", "b", "c"], shared=False)
def test_acknowledged_orders_survive_a_broker(kafka_cluster, kafka_topic):
    asyncio.run(send(kafka_cluster.bootstrap, kafka_topic, b"order 1"))
    kafka_cluster.kill(0)
    asyncio.run(send(kafka_cluster.bootstrap, kafka_topic, b"order 2"))
    found = asyncio.run(receive(kafka_cluster.bootstrap, kafka_topic, 2))
    assert found == [b"order 1", b"order 2"]
