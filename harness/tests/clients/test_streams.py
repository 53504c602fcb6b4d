"""A Kafka Streams word count with exactly_once_v2 while brokers are killed: every word counts once.

Streams leans on all of it at once: a group with its own assignor, internal topics (compacted, a
replica on each broker), a transaction per commit with the group's offsets in it, fencing, restoring
from its changelog. The program is Kafka's own WordCountDemo. A broker of ours is killed as the
nemesis kills it (its core and connections are gone at once, its logs stay); then the process of all
three is killed with SIGKILL and started again on its data.
"""

from __future__ import annotations

import random
import struct
import time
from collections import Counter
from contextlib import ExitStack, contextmanager

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from touchstone.harness.model.target import Shape, Unavailable
from touchstone.harness.targets import parse
from touchstone.harness.targets.maven import kafka_home
from touchstone.harness.tests.clients.conftest import HASTE, KAFKA
from touchstone.harness.tests.clients.mortal import Brokers
from touchstone.harness.tests.clients.programs import PATIENCE_S, VERSION, Program
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve

pytestmark = [
    pytest.mark.slow, pytest.mark.java, pytest.mark.maven, pytest.mark.timeout(4 * PATIENCE_S),
]  # fmt: skip
INPUT, OUTPUT = "streams-plaintext-input", "streams-wordcount-output"
PARTITIONS = 2
LINES = 60  # of each phase
WORDS = [f"word{number}" for number in range(40)]
DEMO = "org.apache.kafka.streams.examples.wordcount.WordCountDemo"
STREAMS = "kafka-streams-examples"
THREE = {**HASTE, "offsets.topic.replication.factor": 3,
         "transaction.state.log.replication.factor": 3}  # fmt: skip


@contextmanager
def ours(tmp_path):
    """Addresses, and who kills and starts a broker."""
    with serve(brokers=3, config={name: str(value) for name, value in THREE.items()}) as cluster:
        yield ",".join(cluster.bootstrap), cluster.kill, cluster.start_broker


@contextmanager
def kafka(tmp_path):
    target = parse(KAFKA)
    endpoint = target.start(Shape(3, config=THREE))
    addresses = ",".join(f"{host}:{port}" for host, port in endpoint.bootstrap)
    yield addresses, lambda n: endpoint.nodes[n].kill(), lambda n: endpoint.nodes[n].start()
    target.stop()


@pytest.fixture(autouse=True)
def jars():
    try:
        kafka_home(VERSION, STREAMS)
    except Unavailable as missing:
        pytest.skip(f"not run: {missing.reason}")


class Words:
    """What is sent to the word count, and what it makes of it."""

    def __init__(self, bootstrap: str, seed: int = 1, replicas: int = 3) -> None:
        self.bootstrap, self.random = bootstrap, random.Random(seed)
        self.sent: Counter[str] = Counter()
        with Client(bootstrap.split(",")) as client:
            for topic in (INPUT, OUTPUT):
                client.admin.create_topic(topic, PARTITIONS, replicas)

    def send(self, lines: int, rate: int = 100) -> None:
        """So many lines at so many a second; all are acknowledged by every replica."""
        producer = Producer({"bootstrap.servers": self.bootstrap, "enable.idempotence": True})
        for number in range(lines):
            words = self.random.choices(WORDS, k=3)
            self.sent.update(words)
            producer.produce(INPUT, " ".join(words), partition=number % PARTITIONS)
            producer.poll(1 / rate)
        assert producer.flush(PATIENCE_S) == 0

    def counted(self) -> dict[str, list[int]]:
        """Each word's counts in the order they were committed, when they add up; else as far as
        they came when patience ended."""
        settings = {
            "bootstrap.servers": self.bootstrap, "group.id": "nobody", "enable.auto.commit": False,
            "isolation.level": "read_committed", "auto.offset.reset": "earliest",
        }  # fmt: skip
        reader = Consumer(settings)
        reader.assign([TopicPartition(OUTPUT, number, 0) for number in range(PARTITIONS)])
        counts: dict[str, list[int]] = {}
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until and _last(counts) != self.sent:
            message = reader.poll(0.5)
            if message is not None and message.error() is None:
                (count,) = struct.unpack(">q", message.value())
                counts.setdefault(message.key().decode(), []).append(count)
        reader.close()
        return counts


def _last(counts: dict[str, list[int]]) -> Counter[str]:
    return Counter({word: rows[-1] for word, rows in counts.items()})


@contextmanager
def word_count(folder, bootstrap: str, **changes: object):
    """The program, with these changes to its settings (`_` for `.`)."""
    folder.mkdir(exist_ok=True)
    settings = {
        "bootstrap.servers": bootstrap, "application.id": "word-count", "commit.interval.ms": 100,
        "state.dir": folder / "state", "processing.guarantee": "exactly_once_v2",
        "replication.factor": 3, "auto.offset.reset": "earliest", "num.stream.threads": 2,
    }  # fmt: skip
    settings |= {name.replace("_", "."): value for name, value in changes.items()}
    path = folder / "streams.properties"
    path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    with Program(folder, DEMO, str(path), more=(STREAMS,)) as program:
        yield program


def exactly_once(words: Words, program: Program) -> None:
    counts = words.counted()
    story = "\n".join(program.lines[-20:])
    assert _last(counts) == words.sent, story
    for word, rows in counts.items():
        assert rows == list(range(1, len(rows) + 1)), f"{word} was not counted one by one: {rows}"
    assert program.process.poll() is None, story


@pytest.mark.parametrize("cluster", [ours, pytest.param(kafka, marks=pytest.mark.live)])
def test_words_are_counted_once_though_brokers_are_killed(tmp_path, cluster):
    with cluster(tmp_path) as (bootstrap, kill, start):
        words = Words(bootstrap)
        with word_count(tmp_path / "streams", bootstrap) as program:
            words.send(LINES)
            for victim in (0, 1):
                kill(victim)
                words.send(LINES)
                start(victim)
                words.send(LINES)
            exactly_once(words, program)


def test_words_are_counted_once_though_the_process_is_killed(tmp_path):
    """SIGKILL to the process of all three; the next one finds groups and transactions on disk."""
    with ExitStack() as stack:
        cluster = Brokers(stack, tmp_path / "data", 3, THREE)
        words = Words(cluster.bootstrap)
        with word_count(tmp_path / "streams", cluster.bootstrap) as program:
            words.send(LINES)
            cluster.kill()
            words.send(LINES)
            exactly_once(words, program)
