"""Kafka's own performance tools, run against whoever speaks Kafka: the client is never ours.

The tools and their defaults are those of Kafka 4.3.1 (kafka-tools), which is what a user would type
as kafka-producer-perf-test and kafka-consumer-perf-test.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import tempfile
from pathlib import Path

from harness.targets import jvm, matrix
from harness.targets.java import find_java
from harness.targets.maven import kafka_home

TOOLS = "4.3.1"
TOOL_SECONDS = 300
_PRODUCED = re.compile(r"^(\d+) records sent, ([\d.]+) records/sec ", re.M)


class ToolFailed(Exception):
    """A Java tool ended badly, or said nothing that could be read."""


def create_topic(bootstrap: str, topic: str, partitions: int = 1) -> None:
    _run(
        "org.apache.kafka.tools.TopicCommand", "--bootstrap-server", bootstrap, "--create",
        "--topic", topic, "--partitions", str(partitions),
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
    said = _run(
        "org.apache.kafka.tools.ProducerPerformance", "--bootstrap-server", bootstrap,
        "--topic", topic, "--num-records", str(records), "--record-size", str(size),
        "--throughput", "-1", "--command-property", f"acks={acks}",
    )  # fmt: skip
    whole = _PRODUCED.findall(said)
    if not whole or int(whole[-1][0]) != records:
        raise ToolFailed(f"ProducerPerformance did not send {records} records:\n{said[-800:]}")
    return float(whole[-1][1])


def consume(bootstrap: str, topic: str, records: int) -> float:
    """Records per second of ConsumerPerformance, by the time it spent fetching."""
    said = _run(
        "org.apache.kafka.tools.ConsumerPerformance", "--bootstrap-server", bootstrap,
        "--topic", topic, "--num-records", str(records), "--timeout", "30000",
    )  # fmt: skip
    lines = [line.split(", ") for line in said.splitlines() if line.count(", ") >= 9]
    if len(lines) < 2:
        raise ToolFailed(f"ConsumerPerformance said no figures:\n{said[-800:]}")
    figures = dict(zip(lines[0], lines[-1], strict=True))
    if int(figures["data.consumed.in.nMsg"]) < records:
        raise ToolFailed(f"ConsumerPerformance got {figures['data.consumed.in.nMsg']} of {records}")
    return float(figures["fetch.nMsg.sec"])


def _run(main: str, *arguments: str) -> str:
    release, home = matrix.release(TOOLS), kafka_home(TOOLS)
    with tempfile.TemporaryDirectory(prefix="touchstone-bench-") as folder:
        logging = jvm.write_logging(release, Path(folder))
        logging.write_text(logging.read_text().replace("level=INFO", "level=ERROR"))
        argv = jvm.command(
            find_java(), home, main, *arguments, profile="client", logging=logging
        )
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
    return said.stdout
