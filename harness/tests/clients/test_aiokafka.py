"""aiokafka: groups, offsets and transactions of a client whose every request is a coroutine."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import ProducerFenced

from touchstone.harness.tests.clients.programs import PATIENCE_S

pytestmark = [pytest.mark.slow, pytest.mark.timeout(4 * PATIENCE_S)]
PARTITIONS = 4


@pytest.fixture
def topic(bootstrap, name, replicas):
    async def make() -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
        await admin.start()
        await admin.create_topics([NewTopic(name, PARTITIONS, replicas)])
        await admin.close()

    asyncio.run(make())
    return name


@contextlib.asynccontextmanager
async def running(client):
    await client.start()
    try:
        yield client
    finally:
        await client.stop()


def member(bootstrap: str, topic: str, **settings) -> AIOKafkaConsumer:
    return AIOKafkaConsumer(
        topic, bootstrap_servers=bootstrap, group_id=settings.pop("group", topic),
        auto_offset_reset="earliest", enable_auto_commit=False, session_timeout_ms=45_000,
        heartbeat_interval_ms=300, metadata_max_age_ms=5000, **settings,
    )  # fmt: skip


async def produce(bootstrap: str, topic: str, count: int) -> list[bytes]:
    values = [b"%d" % number for number in range(count)]
    async with running(AIOKafkaProducer(bootstrap_servers=bootstrap)) as producer:
        for at, value in enumerate(values):
            await producer.send_and_wait(topic, value, partition=at % PARTITIONS)
    return values


async def read(consumers: list, done) -> list[bytes]:
    seen: list[bytes] = []
    async with asyncio.timeout(PATIENCE_S):
        while not done(seen):
            for each in consumers:
                found = await each.getmany(timeout_ms=50)
                seen += [record.value for rows in found.values() for record in rows]
    return seen


def test_members_share_and_take_over(bootstrap, topic):
    async def scenario() -> None:
        sent = await produce(bootstrap, topic, 40)
        async with running(member(bootstrap, topic)) as first:
            assert sorted(await read([first], lambda seen: len(seen) == 40)) == sorted(sent)
            await first.commit()
            async with running(member(bootstrap, topic)) as second:
                both = [first, second]
                await read(both, lambda _: all(len(each.assignment()) == 2 for each in both))
                sent = await produce(bootstrap, topic, 20)
                assert sorted(await read(both, lambda seen: len(seen) >= 20)) == sorted(sent)
                await second.commit()
            await read([first], lambda _: len(first.assignment()) == PARTITIONS)

    asyncio.run(scenario())


def test_transactions_carry_offsets_and_fence(bootstrap, topic):
    def transactional() -> AIOKafkaProducer:
        return AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=topic)

    async def scenario() -> None:
        async with running(transactional()) as older:
            async with older.transaction():
                await older.send_and_wait(topic, b"whole", partition=0)
                where = {TopicPartition(topic, 0): 7}
                await older.send_offsets_to_transaction(where, f"{topic}-out")
            with contextlib.suppress(ZeroDivisionError):
                async with older.transaction():
                    await older.send_and_wait(topic, b"never", partition=0)
                    raise ZeroDivisionError
            async with running(transactional()) as newer:
                async with newer.transaction():
                    await newer.send_and_wait(topic, b"newer", partition=0)
                with pytest.raises(ProducerFenced):
                    async with older.transaction():
                        await older.send_and_wait(topic, b"fenced", partition=0)
        reader = member(bootstrap, topic, isolation_level="read_committed")
        async with running(reader):
            assert await read([reader], lambda seen: len(seen) >= 2) == [b"whole", b"newer"]
        async with running(member(bootstrap, topic, group=f"{topic}-out")) as other:
            assert await other.committed(TopicPartition(topic, 0)) == 7

    asyncio.run(scenario())
