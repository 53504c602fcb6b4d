"""Kafka's own performance tools, run against whoever speaks Kafka: the client is never ours.

The tools and their defaults are those of Kafka 4.3.1 (kafka-tools), which is what a user would type
as kafka-producer-perf-test and kafka-consumer-perf-test.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from touchstone.harness.targets import jvm, matrix, reach
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.maven import kafka_home
from touchstone.reference_impl.client.configs import properties

TOOLS = "4.3.1"
TOOL_SECONDS = 300
_PRODUCED = re.compile(r"^(\d+) records sent, ([\d.]+) records/sec .*?(?: (\d+) ms 99th|$)", re.M)


class ToolFailed(Exception):
    """A Java tool ended badly, or said nothing that could be read."""


def create_topic(bootstrap: str, topic: str, partitions: int = 1, replicas: int = 1) -> None:
    _run(
        "org.apache.kafka.tools.TopicCommand", "--bootstrap-server", bootstrap, "--create",
        "--topic", topic, "--partitions", str(partitions), "--replication-factor", str(replicas),
    )  # fmt: skip


def delete_topic(bootstrap: str, topic: str) -> None:
    """Best effort: a peer without DeleteTopics only keeps more data."""
    with contextlib.suppress(ToolFailed):
        _run(
            "org.apache.kafka.tools.TopicCommand", "--bootstrap-server", bootstrap, "--delete",
            "--topic", topic,
        )  # fmt: skip


def produce(bootstrap: str, topic: str, records: int, acks: str, size: int = 100) -> float:
    """Records per second of ProducerPerformance, over the whole run including its warm-up."""
    return float(_performance(bootstrap, topic, records, acks, size, -1)[1])


def latency(bootstrap: str, topic: str, records: int, acks: str, rate: int) -> float:
    """The 99th percentile in ms of ProducerPerformance, which sends at a fixed rate per second."""
    wait = _performance(bootstrap, topic, records, acks, 100, rate)[2]
    if not wait:
        raise ToolFailed("ProducerPerformance told no 99th percentile")
    return float(wait)


def _performance(
    bootstrap: str, topic: str, records: int, acks: str, size: int, rate: int
) -> tuple[str, str, str]:
    """(records, records per second, 99th percentile in ms) as the tool's last line has them."""
    said = _run(
        "org.apache.kafka.tools.ProducerPerformance", "--bootstrap-server", bootstrap,
        "--topic", topic, "--num-records", str(records), "--record-size", str(size),
        "--throughput", str(rate), "--command-property", f"acks={acks}",
    )  # fmt: skip
    whole = _PRODUCED.findall(said)
    if not whole or int(whole[-1][0]) != records:
        raise ToolFailed(f"ProducerPerformance did not send {records} records:\n{said[-800:]}")
    return whole[-1]


def consume(bootstrap: str, topic: str, records: int, patience_s: float = 30) -> float:
    """Records per second of ConsumerPerformance, by the time it spent fetching."""
    said = _run(
        "org.apache.kafka.tools.ConsumerPerformance", "--bootstrap-server", bootstrap,
        "--topic", topic, "--num-records", str(records), "--timeout", str(int(patience_s * 1000)),
    )  # fmt: skip
    lines = [line.split(", ") for line in said.splitlines() if line.count(", ") >= 9]
    if len(lines) < 2:
        raise ToolFailed(f"ConsumerPerformance said no figures:\n{said[-800:]}")
    figures = dict(zip(lines[0], lines[-1], strict=True))
    if int(figures["data.consumed.in.nMsg"]) < records:
        raise ToolFailed(f"ConsumerPerformance got {figures['data.consumed.in.nMsg']} of {records}")
    return float(figures["fetch.nMsg.sec"])


def consume_by_assignment(bootstrap: str, topic: str, records: int) -> float:
    """Records per second of Java's consumer on one partition, without a group.

    The console consumer with a formatter that prints nothing; the time of a run for one record is
    taken off, which is what starting Java and asking for metadata costs.
    """
    whole, start = (_seconds(bootstrap, topic, count) for count in (records, 1))
    if whole <= start:
        raise ToolFailed(f"{records} records took no longer than one: too few to measure")
    return records / (whole - start)


def _seconds(bootstrap: str, topic: str, records: int) -> float:
    began = time.monotonic()
    said = _run(
        "org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server", bootstrap,
        "--topic", topic, "--partition", "0", "--offset", "earliest", "--timeout-ms", "30000",
        "--max-messages", str(records),
        "--formatter", "org.apache.kafka.tools.consumer.NoOpMessageFormatter",
        complaints=True,
    )  # fmt: skip
    seconds = time.monotonic() - began
    if f"Processed a total of {records} messages" not in said:
        raise ToolFailed(f"ConsoleConsumer did not get {records} records:\n{said[-800:]}")
    return seconds


def _login(arguments: Sequence[str], folder: Path) -> list[str]:
    """What tells a tool how to log in to a peer that wants that; nobody else can read the file."""
    bootstrap = arguments[arguments.index("--bootstrap-server") + 1]
    found = reach.client_properties(bootstrap.split(","))
    if not found:
        return []
    path = folder / "client.properties"
    path.write_text(properties.text(found), encoding=properties.ENCODING)
    return [reach.COMMAND_CONFIG, str(path)]


def _run(main: str, *arguments: str, complaints: bool = False) -> str:
    """What a tool said on stdout, and on stderr if asked; ToolFailed when it ended badly."""
    release, home = matrix.release(TOOLS), kafka_home(TOOLS)
    with tempfile.TemporaryDirectory(prefix="touchstone-bench-") as folder:
        logging = jvm.write_logging(release, Path(folder))
        logging.write_text(logging.read_text().replace("level=INFO", "level=ERROR"))
        words = [*arguments, *_login(arguments, Path(folder))]
        argv = jvm.command(find_java(), home, main, *words, profile="client", logging=logging)
        try:
            said = subprocess.run(
                argv, capture_output=True, text=True, timeout=TOOL_SECONDS, check=False,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise ToolFailed(f"{main} did not end in {TOOL_SECONDS} s") from None
    if said.returncode:
        output = (said.stdout + said.stderr)[-1500:]
        raise ToolFailed(f"{main} ended with {said.returncode}:\n{output}")
    return said.stdout + (said.stderr if complaints else "")
