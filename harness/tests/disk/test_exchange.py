"""One directory, used by turns: real Kafka writes, we go on, Kafka goes on from there.

Same records, same offsets, same producer state: the idempotent producer that began on one broker is
recognized by the other, its repeats and its gaps too. Once we end in order, and once as a kill
leaves the directory, so that Kafka recovers what we wrote.
"""

from __future__ import annotations

import shutil

import pytest

from touchstone.harness.model.target import Shape
from touchstone.harness.targets import parse
from touchstone.harness.tests.disk.one_client import Client
from touchstone.reference_impl.io.server import build
from touchstone.reference_impl.log.files import meta_properties, names
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import read

pytestmark = [
    pytest.mark.live, pytest.mark.java, pytest.mark.maven, pytest.mark.slow,
    pytest.mark.timeout(400),
]  # fmt: skip
SEGMENT = {"log.segment.bytes": 1_048_576}
REGRETS = (" WARN ", " ERROR ", "Found invalid", "orrupt", "truncating")
LOGGERS = ("(kafka.log.", "(org.apache.kafka.storage.internals.log.")  # of what opens logs


@pytest.fixture
def kafka(request):
    target = parse(f"kafka@{request.param}")
    reason = target.available()
    if reason:
        pytest.skip(f"not run: {reason}")
    cluster = target.open(Shape(1, config=SEGMENT))
    yield cluster
    cluster.close()


def ours(data, release: str):
    """Our broker on that directory, of one partition; use it as a context manager."""
    config = {name: str(value) for name, value in SEGMENT.items()}
    return build(1, release=release, data=data, config=config).start()


def address(running) -> tuple[str, int]:
    host, _, port = running.bootstrap[0].rpartition(":")
    return host, int(port)


def offsets(batches: bytes) -> list[int]:
    return [row["offset"] for row in read(batches)]


@pytest.mark.parametrize("kafka", ["1.0", "2.8"], indirect=True)
def test_kafka_starts_on_a_directory_that_is_all_ours(kafka):
    """Where ZooKeeper keeps the topics: every file was made by us, and is served by Kafka.

    (In KRaft the directory also holds the quorum's log, which we do not write.)
    """
    node, release = kafka.nodes[0], kafka.release.name
    data = kafka.folder / "data" / "broker-0"
    with Client(node.address) as client:
        assert client.create() == 0
    node.stop()
    owner = meta_properties.decode((data / names.META_PROPERTIES).read_bytes())
    shutil.rmtree(data)
    data.mkdir()
    (data / names.META_PROPERTIES).write_bytes(meta_properties.encode(owner))
    with ours(data, release) as running, Client(address(running)) as client:
        assert client.create() == 0
        producer = client.producer_id() + 1000  # none that Kafka will give out soon
        for n in range(40):
            assert client.produce(producer, n, 50_000) == (0, n)
        written = client.all_batches()
    node.start()
    with Client(node.address) as client:
        assert client.all_batches() == written
        assert client.produce(producer, 39, 50_000) == (0, 39)
        assert client.produce(producer, 40) == (0, 40)
    assert _regrets(kafka) == []


def _regrets(kafka) -> list[str]:
    """What Kafka's log loading complained of."""
    said = "".join(path.read_text(errors="replace") for path in kafka.logs.glob("broker-0*"))
    regrets = [line for line in said.splitlines() if any(word in line for word in REGRETS)]
    of_logs = [line for line in regrets if any(logger in line for logger in LOGGERS)]
    return [line for line in of_logs if "words-0" in line]


@pytest.mark.parametrize("kafka", ["1.0", "2.8", "4.3"], indirect=True)
def test_a_directory_changes_hands(kafka):
    node, release = kafka.nodes[0], kafka.release.name
    data = kafka.folder / "data" / "broker-0"
    with Client(node.address) as client:
        assert client.create() == 0
        producer = client.producer_id()
        assert [client.produce(producer, n) for n in range(5)] == [(0, n) for n in range(5)]
        theirs = client.all_batches()
    node.stop()

    with ours(data, release) as running, Client(address(running)) as client:
        assert client.all_batches() == theirs
        assert client.produce(producer, 4) == (0, 4)  # a repeat
        assert client.produce(producer, 9)[0] == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        for n in range(5, 35):
            assert client.produce(producer, n, 50_000) == (0, n)
        assert client.producer_id() > producer
        both = client.all_batches()
    assert len(list((data / "words-0").glob("*.log"))) == 2
    assert offsets(both) == list(range(35))

    node.start()
    with Client(node.address) as client:
        assert client.all_batches() == both
        assert client.produce(producer, 34, 50_000) == (0, 34)
        assert client.produce(producer, 39)[0] == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        assert client.produce(producer, 35) == (0, 35)
        three = client.all_batches()
    node.stop()

    running = ours(data, release)
    with Client(address(running)) as client:
        assert client.all_batches() == three
        assert client.produce(producer, 36) == (0, 36)
        four = client.all_batches()
        running.kill(0)
    running.stop()

    node.start()
    with Client(node.address) as client:
        assert client.all_batches() == four
        assert client.produce(producer, 36) == (0, 36)
        assert client.produce(producer, 37) == (0, 37)
    assert _regrets(kafka) == []
