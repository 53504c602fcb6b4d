"""The asyncio face: the same flows, awaited; many tasks, cancelled calls, brokers that fail."""

from __future__ import annotations

import asyncio

import pytest

from touchstone.reference_impl.client.admin.configs import (
    AlterConfigOp,
    ConfigResource,
    ConfigType,
)
from touchstone.reference_impl.client.flow import KafkaError, Unreachable
from touchstone.reference_impl.io.aio import Client
from touchstone.reference_impl.io.server import serve

from .peers import ShyBroker

HASTE = {"group.initial.rebalance.delay.ms": "0"}


@pytest.fixture(scope="module")
def cluster():
    with serve(brokers=3, config=HASTE) as made:
        yield made


async def others_run() -> None:
    """Let every other task have its turn."""
    turn = asyncio.Event()
    asyncio.get_running_loop().call_soon(turn.set)
    await turn.wait()


async def round_trip(cluster, name):
    async with Client(cluster.bootstrap) as client:
        await client.admin.create_topic(name, partitions=3, replication=3)
        with pytest.raises(KafkaError, match="TOPIC_ALREADY_EXISTS"):
            await client.admin.create_topic(name)
        async with client.producer() as producer:
            for number in range(9):
                producer.send(name, b"%d" % number, partition=number % 3)
        got = []
        async with client.consumer(group=name, topics=[name], reset="earliest") as consumer:
            async for record in consumer:
                got.append(int(record.value))
                if len(got) == 9:
                    break
            await consumer.commit()
        held = (await client.admin.list_group_offsets({name: None})).all()[name].all()
        return got, {place: each.offset for place, each in held.items()}


@pytest.mark.slow
def test_what_is_produced_is_consumed_and_committed(cluster):
    got, held = asyncio.run(round_trip(cluster, "aio"))
    assert sorted(got) == list(range(9))
    assert held == {("aio", index): 3 for index in range(3)}


def test_tasks_share_a_client_and_a_cancelled_poll_loses_nothing(cluster):
    async def main():
        async with Client(cluster.bootstrap) as client:
            await asyncio.gather(*(client.admin.create_topic(f"aio-{i}") for i in range(5)))
            consumer = client.consumer([("aio-0", 0)], reset="earliest", max_wait_ms=60_000)
            polling = asyncio.create_task(consumer.poll(60_000))
            while not consumer.core.fetcher.under_way:
                await others_run()
            polling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await polling
            producer = client.producer()
            sent = producer.send("aio-0", b"v")
            await producer.flush()
            assert sent.result().offset == 0
            assert [row.value for row in await consumer.poll(60_000)] == [b"v"]
            await consumer.close()

    asyncio.run(main())


@pytest.mark.slow
def test_a_task_keeps_the_membership(cluster):
    async def main():
        async with Client(cluster.bootstrap) as client:
            await client.admin.create_topic("aio-kept")
            options = {"group": "aio-kept", "topics": ["aio-kept"], "max_wait_ms": 20}
            async with client.consumer(heartbeat_interval_ms=20, **options) as consumer:
                while not consumer.positions:
                    await consumer.poll()
                beaten = consumer.core.member.beat_at
                while consumer.core.member.beat_at == beaten:
                    await others_run()  # nobody polls
                assert consumer.core.member.generation == 1
                consumer.core.max_poll_interval_ms = 1
                while consumer.core.member.generation >= 0:
                    await others_run()

    asyncio.run(main())


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_copy_in_transactions(cluster, protocol):
    async def main():
        source, target = f"aio-{protocol}-a", f"aio-{protocol}-b"
        async with Client(cluster.bootstrap) as client:
            for name in (source, target):
                await client.admin.create_topic(name)
            async with client.producer() as producer:
                for number in range(5):
                    producer.send(source, b"%d" % number)
            async with client.consumer(
                group=source, topics=[source], protocol=protocol, auto_commit_ms=None,
                reset="earliest",
            ) as consumer:  # fmt: skip
                copier = await client.transactional_producer(source)
                done = 0
                while done < 5:
                    records = await consumer.poll()
                    copier.begin()
                    for record in records:
                        copier.send(target, record.value)
                    await copier.send_offsets(dict(consumer.positions), consumer.group_metadata)
                    await copier.commit()
                    done += len(records)
            reader = client.consumer([(target, 0)], reset="earliest", isolation=1)
            return [row.value for row in await reader.poll()]

    assert asyncio.run(main()) == [b"0", b"1", b"2", b"3", b"4"]


def test_nobody_there_and_a_broker_that_knows_no_newer_versions():
    async def nobody():
        async with Client("127.0.0.1:1") as client:
            client.view.patience_ms = 100
            admin = client.admin
            admin.core.timeout_ms = 200
            with pytest.raises(Unreachable, match="refused"):
                await admin.list_topics()

    asyncio.run(nobody())
    with ShyBroker(1) as shy:

        async def asks():
            async with Client(f"127.0.0.1:{shy.port}") as client:
                with pytest.raises(Unreachable):
                    await client.admin.list_topics()

        asyncio.run(asks())
    assert shy.versions[1:] == [0]


@pytest.mark.slow
def test_records_are_shared(cluster):
    async def main():
        async with Client(cluster.bootstrap) as client:
            await client.admin.create_topic("aio-shared")
            resource = ConfigResource(ConfigType.GROUP, "aio-shared")
            first = [AlterConfigOp("share.auto.offset.reset", "earliest")]
            (await client.admin.incremental_alter_configs({resource: first})).all()
            async with client.producer() as producer:
                producer.send("aio-shared", b"v")
            async with client.share_consumer(
                "aio-shared", ["aio-shared"], acknowledgement="explicit", max_wait_ms=20
            ) as consumer:
                records: list = []
                while not records:
                    records = await consumer.poll()
                consumer.acknowledge(records[0])
                return await consumer.commit_sync()

    assert asyncio.run(main()) == {("aio-shared", 0): None}
