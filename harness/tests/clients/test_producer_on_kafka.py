"""Our producer on real Kafka of three releases: what only a real broker can say of it.

The unit tests know the broker that they made up. Here order, offsets, duplicates and errors are
those of Kafka, with several requests in flight, each codec, and connections that are cut.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from touchstone.harness.model.target import Shape
from touchstone.harness.targets import parse
from touchstone.harness.tests.clients.programs import PATIENCE_S
from touchstone.reference_impl.client.flow import KafkaError
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.records import GZIP, LZ4, NONE, SNAPPY, ZSTD

pytestmark = [
    pytest.mark.slow, pytest.mark.live, pytest.mark.java, pytest.mark.maven,
    pytest.mark.timeout(8 * PATIENCE_S),
]  # fmt: skip
SETTINGS = {
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "transaction.state.log.num.partitions": 2,
    "offsets.topic.num.partitions": 2,
    "message.max.bytes": 20_000,
}
RELEASES = ("kafka@4.3", "kafka@2.8", "kafka@1.0")


@pytest.fixture(scope="module", params=RELEASES)
def client(request) -> Iterator[Client]:
    target = parse(request.param)
    if reason := target.available():
        pytest.skip(f"not run: {reason}")
    endpoint = target.start(Shape(1, config=SETTINGS))
    try:
        with Client(",".join(f"{host}:{port}" for host, port in endpoint.bootstrap)) as client:
            client.release = request.param
            yield client
    finally:
        target.stop()


def read(client: Client, topic: str, count: int, **options) -> list:
    consumer = client.consumer([(topic, 0)], reset="earliest", max_wait_ms=50, **options)
    got: list = []
    while len(got) < count:
        got += consumer.poll()
    return got


@pytest.mark.parametrize("idempotence", [True, False])
@pytest.mark.parametrize("in_flight", [1, 5])
def test_many_batches_arrive_once_and_in_order(client, idempotence, in_flight):
    topic = f"order-{idempotence}-{in_flight}".lower()
    client.admin.create_topic(topic)
    producer = client.producer(
        batch_size=300, idempotence=idempotence, max_in_flight=in_flight, linger_ms=5
    )
    seen: list[int] = []
    sent = [
        producer.send(topic, b"%05d" % i, callback=lambda made, error: seen.append(made.offset))
        for i in range(500)
    ]
    producer.flush()
    assert [each.result().offset for each in sent] == list(range(500)) == seen
    assert [each.value for each in read(client, topic, 500)] == [each.value for each in sent]


@pytest.mark.parametrize("codec", [NONE, GZIP, SNAPPY, LZ4, ZSTD])
def test_every_codec(client, codec):
    topic = f"codec-{codec}"
    client.admin.create_topic(topic)
    producer = client.producer(compression=codec)
    sent = [producer.send(topic, b"value " * 50, headers=[("n", b"%d" % i)]) for i in range(50)]
    producer.flush()
    if codec == ZSTD and client.release == "kafka@1.0":
        assert {type(each.error).__name__ for each in sent} == {"Unreachable"}
        return
    assert [each.result().offset for each in sent] == list(range(50))
    assert [each.headers[0][1] for each in read(client, topic, 50)] == [
        b"%d" % i for i in range(50)
    ]


def test_a_batch_that_the_broker_finds_too_large_is_split(client):
    client.admin.create_topic("split")
    producer = client.producer(batch_size=60_000, linger_ms=60_000)
    sent = [producer.send("split", b"%05d" % i * 400) for i in range(25)]
    producer.flush()
    assert [each.result().offset for each in sent] == list(range(25))
    alone = producer.send("split", bytes(30_000))
    later = producer.send("split", b"later")
    producer.flush()
    with pytest.raises(KafkaError) as refused:
        alone.result()
    assert refused.value.code == E.MESSAGE_TOO_LARGE
    assert later.result().offset == 25, "the epoch was bumped, and the partition goes on"
    again = producer.send("split", b"again")
    producer.flush()
    assert again.result().offset == 26


def test_a_cut_connection_costs_no_record_and_no_order(client):
    client.admin.create_topic("cut")
    producer = client.producer(batch_size=300)
    sent = []
    for i in range(400):
        sent.append(producer.send("cut", b"%05d" % i))
        if i % 100 == 50:
            client.drop(client.view.leader("cut", 0).leader)  # with five requests under way
    producer.flush()
    assert [each.result().offset for each in sent] == list(range(400))
    assert [each.value for each in read(client, "cut", 400)] == [each.value for each in sent]


def test_acks_0_and_1(client):
    for acks in (0, 1):
        topic = f"acks-{acks}"
        client.admin.create_topic(topic)
        producer = client.producer(acks=acks, batch_size=300)
        sent = [producer.send(topic, b"%05d" % i) for i in range(100)]
        producer.flush()
        assert [each.result().offset for each in sent] == (
            [-1] * 100 if not acks else list(range(100))
        )
        assert [each.value for each in read(client, topic, 100)] == [each.value for each in sent]


def test_a_transaction_of_many_batches_counts_and_an_aborted_one_does_not(client):
    client.admin.create_topic("bills")
    producer = client.transactional_producer("t-1", batch_size=300)
    for turn in range(4):
        producer.begin()
        for i in range(60):
            producer.send("bills", b"%d-%05d" % (turn, i))
        if turn % 2:
            producer.flush()
            producer.abort()
        else:
            producer.commit()
    got = [each.value for each in read(client, "bills", 120, isolation=1)]
    assert got == [b"%d-%05d" % (turn, i) for turn in (0, 2) for i in range(60)]
