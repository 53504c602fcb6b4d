"""The reference client, as its users see it: on our broker, and on Kafka beside.

Its own tests hold it against made-up brokers; here is what only a real one can say: that both
protocols of groups hand partitions over, and that a copy in transactions is exact.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from touchstone.harness.tests.clients.programs import PATIENCE_S
from touchstone.reference_impl.client.offsets import READ_COMMITTED
from touchstone.reference_impl.io.client import Client

pytestmark = [pytest.mark.slow, pytest.mark.timeout(4 * PATIENCE_S)]
PARTITIONS, RECORDS = 4, 40
READS = {"reset": "earliest", "max_wait_ms": 50}


@pytest.fixture
def client(bootstrap):
    with Client(bootstrap) as client:
        yield client


@pytest.fixture
def topic(client, name, replicas):
    client.admin.create_topic(name, partitions=PARTITIONS, replication=replicas)
    producer = client.producer()
    for number in range(RECORDS):
        producer.send(name, b"%d" % number, partition=number % PARTITIONS)
    producer.close()
    return name


def until(done: Callable[[], bool], step: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < end, "it does not come"
        step()


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_members_hand_over_and_read_each_record_once(bootstrap, client, topic, protocol):
    """Each in a thread of its own: whoever joins a classic group waits for the others."""
    options = {"group": topic, "topics": [topic], "protocol": protocol, **READS}
    if protocol == "classic":
        options["heartbeat_interval_ms"] = 200
    got: list[bytes] = []
    first = client.consumer(**options)
    until(lambda: len(got) == RECORDS, lambda: got.extend(r.value for r in first.poll()))
    shared = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        heir = pool.submit(_reads_half_and_leaves, bootstrap, options, shared)
        until(shared.is_set, lambda: got.extend(r.value for r in first.poll()))
        until(heir.done, lambda: got.extend(r.value for r in first.poll()))
        got += heir.result()
    until(lambda: len(first.positions) == PARTITIONS, first.poll)
    first.poll()
    assert set(first.positions.values()) == {RECORDS // PARTITIONS}
    assert sorted(map(int, got)) == list(range(RECORDS)), "nothing twice, nothing missing"
    first.close()


def _reads_half_and_leaves(bootstrap: str, options: dict, shared: threading.Event) -> list[bytes]:
    with Client(bootstrap, seed=1) as client:
        consumer = client.consumer(**options)
        got: list[bytes] = []
        until(
            lambda: len(consumer.positions) == PARTITIONS // 2,
            lambda: got.extend(record.value for record in consumer.poll()),
        )
        shared.set()
        consumer.commit()
        consumer.close()
        return got


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_copy_in_transactions_is_exact(client, topic, replicas, protocol):
    copies = f"{topic}-copies"
    client.admin.create_topic(copies, partitions=2, replication=replicas)
    source = client.consumer(
        group=topic, topics=[topic], protocol=protocol, auto_commit_ms=None,
        max_poll_records=7, **READS,
    )  # fmt: skip
    copier = client.transactional_producer(topic)
    turns = iter(range(1000))

    def copy() -> None:
        records = source.poll()
        copier.begin()
        for record in records:
            copier.send(copies, record.value)
        if next(turns) % 2:  # every other one is taken back, and read again
            copier.flush()
            copier.abort()
            source.rewind()
            return
        copier.send_offsets(dict(source.positions), source.group_metadata)
        copier.commit()

    def done() -> bool:
        held = source.committed((topic, index) for index in range(PARTITIONS))
        return sum(each.offset for each in held.values()) == RECORDS

    until(done, copy)
    reader = client.consumer(
        [(copies, index) for index in range(2)], isolation=READ_COMMITTED, **READS
    )
    got: list[bytes] = []
    until(lambda: len(got) >= RECORDS, lambda: got.extend(r.value for r in reader.poll()))
    assert sorted(map(int, got + [r.value for r in reader.poll()])) == list(range(RECORDS))
    source.close()
