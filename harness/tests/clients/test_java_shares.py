"""Kafka's own programs on share groups: the Verifiable consumer, and what operators type (KIP-932).

The commands are compared with what they print for Kafka, names and addresses taken out.
"""

from __future__ import annotations

import pytest

from touchstone.harness.tests.clients.conftest import OF_JAVA
from touchstone.harness.tests.clients.programs import (
    PATIENCE_S,
    WITH_TIMEOUT,
    Program,
    wait_for,
)
from touchstone.harness.tests.clients.test_java import plain, producing
from touchstone.reference_impl.io.client import Client

pytestmark = [
    pytest.mark.slow, pytest.mark.java, pytest.mark.maven, pytest.mark.timeout(8 * PATIENCE_S),
    pytest.mark.usefixtures("java"), OF_JAVA,
]  # fmt: skip
SHARES = "consumer.group.ShareGroupCommand"


@pytest.fixture
def topic(bootstrap, name, replicas) -> str:
    with Client(bootstrap.split(",")) as client:
        client.admin.create_topic(name, 1, replicas)
    return name


def sharing(folder, bootstrap: str, topic: str, number: int) -> Program:
    return Program(
        folder / f"sharing-{number}", "org.apache.kafka.tools.VerifiableShareConsumer",
        "--bootstrap-server", bootstrap, "--topic", topic, "--group-id", topic,
        "--offset-reset-strategy", "earliest", "--acknowledgement-mode", "sync", "--verbose",
    )  # fmt: skip


def read(consumer: Program) -> list[int]:
    """Offsets it acknowledged, and Kafka said yes to."""
    rows = [row for row in consumer.events("offsets_acknowledged") if row["success"]]
    return [offset for row in rows for part in row["partitions"] for offset in part["offsets"]]


def test_two_consumers_share_one_partition(bootstrap, topic, tmp_path):
    """Each record is read by one of two members of a group that has one partition."""
    count = 400
    pair = [sharing(tmp_path, bootstrap, topic, number) for number in range(2)]
    try:
        with producing(tmp_path, bootstrap, topic, count, rate=100) as producer:
            producer.ended()
        wait_for(
            lambda: sum(len(read(each)) for each in pair) >= count,
            lambda: f"they read {[len(read(each)) for each in pair]} of {count}",
        )
        assert sorted(read(pair[0]) + read(pair[1])) == list(range(count))
    finally:
        for each in pair:
            each.kill()


def test_an_operator_sees_and_moves_a_share_group(bootstrap, topic, tmp_path, kafka_tool):
    def command(*arguments: str) -> list[str]:
        where = ("--bootstrap-server", bootstrap, *WITH_TIMEOUT)
        return plain(kafka_tool(SHARES, *where, *arguments), topic)

    with producing(tmp_path, bootstrap, topic, 30) as producer:
        producer.ended()
    consumer = sharing(tmp_path, bootstrap, topic, 0)
    consumer.until(lambda: len(read(consumer)) == 30, "reads not all")
    assert command("--describe", "--group", topic, "--members") == [
        "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT",
        "NAME MEMBER /127.0.0.1 consumer-NAME-1 1 NAME:0",
    ]
    consumer.terminated()
    own = ("--group", topic, "--topic", topic)
    assert "NAME" in command("--list")
    head = "GROUP TOPIC PARTITION START-OFFSET LAG"
    described = command("--describe", "--group", topic)
    assert described[-2] == head and described[-1].startswith("NAME NAME 0 ")
    assert command(*own, "--reset-offsets", "--to-earliest", "--execute") == [
        "GROUP TOPIC PARTITION NEW-OFFSET", "NAME NAME 0 0",
    ]  # fmt: skip
    assert command("--describe", "--group", topic)[-2:] == [head, "NAME NAME 0 0 30"]
    assert command(*own, "--delete-offsets") == ["TOPIC STATUS", "NAME Successful"]
    assert command("--group", topic, "--delete") == [
        "Deletion of requested share groups ('NAME') was successful."
    ]
    assert "NAME" not in command("--list")
