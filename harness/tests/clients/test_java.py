"""Kafka's own programs on groups and transactions: the Verifiable pair, and what operators type.

The Verifiable programs are those of Kafka's system tests: each says every record it got an answer
for, or read. The commands are compared with what they print for Kafka, names and ids taken out.
"""

from __future__ import annotations

import re

import pytest
from confluent_kafka import Producer as ConfluentProducer

from touchstone.harness.tests.clients.conftest import OF_JAVA
from touchstone.harness.tests.clients.programs import (
    PATIENCE_S,
    WITH_TIMEOUT,
    Program,
    wait_for,
)
from touchstone.reference_impl.io.client import Client

pytestmark = [
    pytest.mark.slow, pytest.mark.java, pytest.mark.maven, pytest.mark.timeout(8 * PATIENCE_S),
    pytest.mark.usefixtures("java"), OF_JAVA,
]  # fmt: skip
PARTITIONS = 6
MISSED_MS = 6000
LONGEST_MS = 900_000  # of a transaction, by the broker's default
GROUPS = "consumer.group.ConsumerGroupCommand"


@pytest.fixture
def topic(bootstrap, name, replicas) -> str:
    with Client(bootstrap.split(",")) as client:
        client.admin.create_topic(name, PARTITIONS, replicas)
    return name


def consuming(
    folder, bootstrap: str, topic: str, protocol: str, number: int = 0, more: tuple[str, ...] = ()
) -> Program:
    return Program(
        folder / f"consumer-{number}", "org.apache.kafka.tools.VerifiableConsumer",
        "--bootstrap-server", bootstrap, "--topic", topic, "--group-id", topic,
        "--group-protocol", protocol, "--verbose", *more,
    )  # fmt: skip


def producing(folder, bootstrap: str, topic: str, count: int, rate: int = -1) -> Program:
    return Program(
        folder / "producer", "org.apache.kafka.tools.VerifiableProducer",
        "--bootstrap-server", bootstrap, "--topic", topic, "--max-messages", str(count),
        "--throughput", str(rate), "--repeating-keys", "100",
    )  # fmt: skip


def owned(consumer: Program) -> set[int]:
    """What it owns now, by its own account."""
    held: set[int] = set()
    for change in consumer.events("partitions_assigned", "partitions_revoked"):
        rows = {row["partition"] for row in change["partitions"]}
        held = held | rows if change["name"] == "partitions_assigned" else held - rows
    return held


def missed_soon(bootstrap: str, group: str, protocol: str) -> tuple[str, ...]:
    """The group misses a killed member in seconds: what its members are to be told."""
    if protocol == "classic":
        return "--session-timeout", f"{MISSED_MS}"
    config = {"name": "consumer.session.timeout.ms", "config_operation": 0, "value": f"{MISSED_MS}"}
    rows = [{"resource_type": 32, "resource_name": group, "configs": [config]}]
    with Client(bootstrap.split(",")) as client:
        body = {"resources": rows, "validate_only": False}
        (said,) = client.ask("IncrementalAlterConfigs", body)["responses"]
    assert said["error_code"] == 0, said
    return ()


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_of_three_consumers_one_is_killed_and_all_is_read(bootstrap, topic, tmp_path, protocol):
    count, everything = 1500, list(range(PARTITIONS))
    own = missed_soon(bootstrap, topic, protocol)
    crowd = [consuming(tmp_path, bootstrap, topic, protocol, number, own) for number in range(3)]
    first, others = crowd[0], crowd[1:]
    try:
        wait_for(
            lambda: [len(owned(each)) for each in crowd] == [2, 2, 2],
            lambda: f"they share not: {[owned(each) for each in crowd]}",
        )
        with producing(tmp_path, bootstrap, topic, count, rate=300) as producer:
            first.until(lambda: first.events("record_data"), "reads nothing")
            first.kill()
            sent = producer.ended()
        acked = {row["value"] for row in producer.events("producer_send_success")}
        assert len(acked) == count, sent[-500:]
        wait_for(
            lambda: {row["value"] for one in crowd for row in one.events("record_data")} >= acked,
            lambda: "not all is read by those who are left",
        )
        wait_for(  # the first one may have read much itself, if its end came late
            lambda: sorted(number for each in others for number in owned(each)) == everything,
            lambda: f"those who are left own {[owned(each) for each in others]}",
        )
    finally:
        for each in crowd:
            each.kill()


def plain(text: str, topic: str) -> list[str]:
    """Lines without names, ids and addresses, and with single blanks."""
    text = re.sub(r"[\w.-]+:\d{4,5}(?= )", "HOST", text.replace(topic, "NAME"))
    text = re.sub(r"consumer-NAME-1-[\w-]{36}|(?<= )[\w-]{22}(?= )", "MEMBER", text)
    lines = [re.sub(r"\s+", " ", line).strip() for line in text.splitlines()]
    return [re.sub(r"HOST \(\d\)", "HOST (N)", line) for line in lines if line]


@pytest.fixture
def command(bootstrap, topic, kafka_tool):
    def run(*arguments: str) -> list[str]:
        where = ("--bootstrap-server", bootstrap, *WITH_TIMEOUT)
        return plain(kafka_tool(GROUPS, *where, *arguments), topic)

    return run


def committed(consumer: Program) -> dict[int, int]:
    """Partition -> offset that it committed last."""
    rows = [row for said in consumer.events("offsets_committed") for row in said["offsets"]]
    return {row["partition"]: row["offset"] for row in rows}


@pytest.mark.parametrize(
    ("protocol", "assignor", "epoch"), [("classic", "range", "-"), ("consumer", "uniform", "2")]
)
def test_an_operator_sees_a_group_that_lives(
    bootstrap, topic, tmp_path, command, protocol, assignor, epoch
):
    with producing(tmp_path, bootstrap, topic, 600) as producer:
        producer.ended()
    with consuming(tmp_path, bootstrap, topic, protocol) as member:
        member.until(lambda: len(member.events("record_data")) == 600, "does not read all")
        member.until(lambda: sum(committed(member).values()) == 600, "does not commit all")
        listed = command("--list", "--state", "--type")
        assert f"NAME {protocol.title()} Stable" in listed
        assert "NAME" in " ".join(command("--list", "--state", "Stable"))
        assert "NAME" not in " ".join(command("--list", "--state", "Empty"))
        assert "NAME" in " ".join(command("--list", "--type", protocol))
        head, *rows = command("--describe", "--group", topic)
        assert head.startswith("GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER")
        for index, row in enumerate(rows):
            found = rf"NAME NAME {index} (\d+|-) (\d+) (0|-) MEMBER /[\d.]+ consumer-NAME-1"
            assert re.fullmatch(found, row), row
        assert len(rows) == PARTITIONS
        whole = "NAME:" + ",".join(map(str, range(PARTITIONS)))
        assert command("--describe", "--group", topic, "--members", "--verbose")[1:] == [
            f"NAME MEMBER /127.0.0.1 consumer-NAME-1 {PARTITIONS} {epoch} {whole} {epoch} "
            + ("-" if epoch == "-" else whole)
        ]
        assert command("--describe", "--group", topic, "--state", "--verbose")[1:] == [
            f"NAME HOST (N) {assignor} Stable {epoch} {epoch} 1"
        ]
        assert "GroupNotEmptyException" in " ".join(command("--delete", "--group", topic))
        refused = command("--delete-offsets", "--group", topic, "--topic", f"{topic}:0")
        assert "GroupSubscribedToTopicException" in " ".join(refused)
        moved = command(
            "--reset-offsets", "--group", topic, "--to-earliest", "--topic", topic, "--execute"
        )
        assert "the current state is Stable" in " ".join(moved)


def test_an_operator_moves_and_deletes_what_a_group_left(
    bootstrap, topic, tmp_path, kafka_tool, command
):
    with producing(tmp_path, bootstrap, topic, 600) as producer:
        producer.ended()
    ends = dict.fromkeys(range(PARTITIONS), 0)
    for row in producer.events("producer_send_success"):
        ends[row["partition"]] = max(ends[row["partition"]], row["offset"] + 1)
    told = kafka_tool(
        "consumer.ConsoleConsumer", "--bootstrap-server", bootstrap, "--topic", topic,
        "--group", topic, "--from-beginning", "--max-messages", "600",
    )  # fmt: skip
    assert "Processed a total of 600 messages" in told

    def reset(*how: str) -> dict[int, int]:
        """Partition -> new offset, as the command's table says."""
        where = [] if "--all-topics" in how else ["--topic", topic]
        rows = command("--reset-offsets", "--group", topic, *where, *how)
        found = [re.fullmatch(r"NAME NAME (\d+) (\d+)", row) for row in rows]
        return {int(row[1]): int(row[2]) for row in found if row}

    def current() -> dict[int, int]:
        rows = command("--describe", "--group", topic)
        found = [re.match(r"NAME NAME (\d+) (\d+) ", row) for row in rows]
        return {int(row[1]): int(row[2]) for row in found if row}

    assert current() == ends
    zeros = dict.fromkeys(ends, 0)
    assert reset("--to-earliest", "--execute") == zeros == current()
    shifted = {index: min(3, end) for index, end in ends.items()}
    assert reset("--shift-by", "3", "--all-topics", "--execute") == shifted == current()
    assert reset("--by-duration", "PT1H", "--execute") == zeros == current()
    assert reset("--to-latest", "--dry-run") == ends
    assert current() == zeros
    deleted = command("--delete-offsets", "--group", topic, "--topic", f"{topic}:0")
    assert "Successful" in " ".join(deleted)
    assert 0 not in current()
    assert "successful" in " ".join(command("--delete", "--group", topic))
    gone = "GroupIdNotFoundException: Group NAME not found."
    assert gone in " ".join(command("--describe", "--group", topic))


def test_an_operator_sees_and_aborts_transactions(bootstrap, topic, kafka_tool):
    def transactions(*arguments: str) -> list[str]:
        text = kafka_tool("TransactionsCommand", "--bootstrap-server", bootstrap, *arguments)
        return plain(text, topic)

    def read_committed() -> str:
        return kafka_tool(
            "consumer.ConsoleConsumer", "--bootstrap-server", bootstrap, "--topic",
            topic, "--partition", "0", "--from-beginning", "--isolation-level", "read_committed",
            "--timeout-ms", "3000",
        )  # fmt: skip

    settings = {"transactional.id": topic, "transaction.timeout.ms": LONGEST_MS}
    producer = ConfluentProducer({"bootstrap.servers": bootstrap, **settings})
    producer.init_transactions(PATIENCE_S)
    producer.begin_transaction()
    producer.produce(topic, b"a word", partition=0)
    assert producer.flush(PATIENCE_S) == 0
    (row,) = [line for line in transactions("list") if line.startswith("NAME ")]
    found = re.fullmatch(r"NAME \d (\d+) Ongoing", row)
    assert found, row
    (row,) = transactions("describe", "--transactional-id", topic)[1:]
    assert re.fullmatch(rf"\d NAME {found[1]} 0 Ongoing \d+ \d+ \d+ NAME-0", row), row
    (row,) = transactions("describe-producers", "--topic", topic, "--partition", "0")[1:]
    assert re.fullmatch(rf"{found[1]} 0 -?\d+ 0 \d+ 0", row), row
    assert "a word" not in read_committed()
    transactions("abort", "--topic", topic, "--partition", "0", "--start-offset", "0")
    (row,) = transactions("describe-producers", "--topic", topic, "--partition", "0")[1:]
    assert row.endswith(" None"), row
    assert "a word" not in read_committed()
