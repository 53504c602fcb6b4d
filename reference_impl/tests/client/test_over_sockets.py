"""The client over real sockets: against the reference broker as every release, and odd peers."""

import re
import socket
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import touchstone.reference_impl.client
from touchstone.reference_impl.broker.personas.releases import RELEASES
from touchstone.reference_impl.client.flow import ANY, Answer, Ask, Inbox, KafkaError, NetworkPoll
from touchstone.reference_impl.client.producer_batch import NotDone
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire.records import NONE, ZSTD

from .peers import LosesAnswers, ShyBroker, SilentBroker


@pytest.fixture(scope="module", params=RELEASES)
def client(request):
    with serve(brokers=3, release=request.param) as cluster, Client(cluster.bootstrap) as client:
        client.release = request.param
        yield client


def drain(consumer, wanted: int) -> list:
    got: list = []
    for _ in range(50):
        if len(got) >= wanted:
            break
        got += consumer.poll()
    return got


def test_what_is_produced_is_consumed_once_and_in_order(client):
    codecs = range(NONE, ZSTD if client.release == "1.0" else ZSTD + 1)
    for codec in codecs:
        name = f"produced-{codec}"
        client.admin.create_topic(name, partitions=3, replication=3)
        producer = client.producer(compression=codec, batch_size=300)
        sent = [
            producer.send(name, b"v%03d" % i, key=b"k%d" % (i % 5), headers=[("h", b"x")])
            for i in range(60)
        ]
        producer.flush()
        consumer = client.consumer([(name, p) for p in range(3)], reset="earliest", max_wait_ms=50)
        got = drain(consumer, 60)
        assert sorted((r.partition, r.offset, r.key, r.value) for r in got) == sorted(
            (d.result().partition, d.offset, d.key, d.value) for d in sent
        )
        for key in {d.key for d in sent}:
            ours = [d.value for d in sent if d.key == key]
            assert [r.value for r in got if r.key == key] == ours


@pytest.mark.parametrize("acks", [0, 1, -1])
def test_acks(client, acks):
    name = f"acks-{acks + 1}"
    client.admin.create_topic(name)
    producer = client.producer(acks=acks)
    sent = producer.send(name, b"v")
    with pytest.raises(NotDone, match="flush the producer first"):
        sent.result()
    producer.flush()
    assert sent.result().offset == (0 if acks else -1)
    (row,) = drain(client.consumer([(name, 0)], reset="earliest", max_wait_ms=50), 1)
    assert (row.offset, row.value) == (0, b"v")


def test_topics_are_administered(client):
    admin, name = client.admin, "administered"
    admin.create_topic(name, configs={"retention.ms": "7777"})
    with pytest.raises(KafkaError, match="TOPIC_ALREADY_EXISTS"):
        admin.create_topic(name)
    assert name in admin.list_topics()
    settings = admin.describe_configs([(2, name)], ["retention.ms"]).all()[2, name]
    assert settings["retention.ms"].value == "7777"
    assert "log.retention.hours" in admin.describe_configs([(4, "1")]).all()[4, "1"]
    admin.create_partitions({name: 4}).all()
    producer = client.producer()
    sent = [producer.send(name, b"%d" % i, partition=3) for i in range(5)]
    producer.flush()
    assert [each.result().offset for each in sent] == list(range(5))
    assert admin.delete_records({(name, 3): 2}) == {(name, 3): 2}
    consumer = client.consumer([(name, 3)], reset="earliest", max_wait_ms=50)
    consumer.seek((name, 3), 0)
    assert [row.offset for row in drain(consumer, 3)] == [2, 3, 4]
    admin.delete_topics([name]).all()
    with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION"):
        admin.delete_topics([name]).all()


def test_a_request_larger_than_any_socket_buffer(client):
    client.admin.create_topic("large", partitions=8)
    producer = client.producer(batch_size=900_000, max_request_size=16 << 20)
    sent = [producer.send("large", bytes(100_000), partition=i % 8) for i in range(64)]
    producer.flush()
    assert {each.result().offset for each in sent} == set(range(8))


def test_many_requests_at_once_are_answered_in_order(client):
    def flow():
        names = [f"pipelined-{i}" for i in range(30)]
        asks = [
            Ask(0, "Metadata", {"topics": [{"name": name}], "allow_auto_topic_creation": False})
            for name in names
        ]
        outcomes = yield [replace(ask, versions=(4, 9)) for ask in asks]
        return names == [outcome.body["topics"][0]["name"] for outcome in outcomes]

    assert client.run(flow())


def test_a_lost_answer_is_not_a_second_record(client):
    name = "answered-once"
    client.admin.create_topic(name)
    leader = client.view.leader(name, 0).leader
    producer = client.producer()
    with LosesAnswers(client.view.addresses[leader]) as between:
        client.drop(leader)
        client.view.addresses[leader] = ("127.0.0.1", between.port)
        sent = producer.send(name, b"once")
        producer.flush()
    again = producer.send(name, b"twice")
    producer.flush()
    assert between.swallowed == 1
    assert (sent.result().offset, again.result().offset) == (0, 1)


def test_a_broker_that_closes_on_our_api_versions_gets_version_0():
    with ShyBroker(closes=1) as broker, Client(f"127.0.0.1:{broker.port}") as client:
        assert client.ask("ApiVersions", {})["error_code"] == 0
    assert broker.versions == [4, 0, 0]


def test_a_broker_that_closes_always_is_an_error():
    failing = pytest.raises(ConnectionError, match="closed")
    with ShyBroker(closes=2) as broker, Client(f"127.0.0.1:{broker.port}") as client, failing:
        client.ask("ApiVersions", {})


def test_a_broker_that_never_answers_is_left_in_time():
    failing = pytest.raises(ConnectionError, match="timeout")
    with SilentBroker() as broker, Client(f"127.0.0.1:{broker.port}") as client, failing:
        client.ask("ApiVersions", {}, timeout_ms=50)


def test_nobody_there_is_an_error():
    with closing(socket.socket()) as held:  # nobody else takes the port, and nobody listens
        held.bind(("127.0.0.1", 0))
        refused = pytest.raises(ConnectionError, match="refused")
        with Client(f"127.0.0.1:{held.getsockname()[1]}") as client, refused:
            client.ask("ApiVersions", {})


@pytest.mark.slow
def test_the_readme_runs():
    text = Path(touchstone.reference_impl.client.__file__).with_name("README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})


def test_topics_without_a_group_are_refused():
    with Client("127.0.0.1:1") as client, pytest.raises(ValueError, match="name one"):
        client.consumer(topics=["t"])


def test_answers_are_read_however_often_somebody_interrupts():
    with serve(brokers=1) as cluster, Client(cluster.bootstrap) as client:

        def flow():
            inbox = Inbox()
            yield NetworkPoll([Ask(ANY, "ApiVersions", {})], inbox, 0)
            for _ in range(200_000):
                if inbox:
                    break
                client.interrupt()
                yield NetworkPoll([], inbox, client.now() + 60_000)
            return list(inbox)

        (outcome,) = client.run(flow())
        assert isinstance(outcome, Answer)
