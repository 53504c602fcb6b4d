"""Kafka's own word count with `group.protocol=streams`, and what operators type (KIP-1071).

The commands are compared with what they print for Kafka, names, ids and addresses taken out.
"""

from __future__ import annotations

import re

import pytest

from touchstone.harness.model.target import Unavailable
from touchstone.harness.targets.maven import kafka_home
from touchstone.harness.tests.clients.conftest import OF_JAVA
from touchstone.harness.tests.clients.programs import (
    PATIENCE_S,
    VERSION,
    WITH_TIMEOUT,
    wait_for,
)
from touchstone.harness.tests.clients.test_streams import (
    STREAMS,
    Words,
    exactly_once,
    word_count,
)

pytestmark = [
    pytest.mark.slow, pytest.mark.java, pytest.mark.maven, pytest.mark.timeout(8 * PATIENCE_S),
    pytest.mark.usefixtures("java"), OF_JAVA,
]  # fmt: skip
GROUP = "word-count"
# 22 letters of a member id, the process's uuid, the client id that is made of it
MEMBER = r"[\w-]{22} [\w-]{36} word-count-[\w-]{36}-StreamThread-1-consumer"


@pytest.fixture(autouse=True)
def jars():
    try:
        kafka_home(VERSION, STREAMS)
    except Unavailable as missing:
        pytest.skip(f"not run: {missing.reason}")


@pytest.fixture
def command(bootstrap, kafka_tool):
    def run(*arguments: str) -> list[str]:
        """Lines with single blanks."""
        where = ("--bootstrap-server", bootstrap, *WITH_TIMEOUT)
        text = kafka_tool("streams.StreamsGroupCommand", *where, *arguments)
        return [re.sub(r"\s+", " ", line).strip() for line in text.splitlines() if line.strip()]

    return run


def tasks(command) -> list[set[str]]:
    """What the members of the group run, each as far as the command shows it."""
    rows = command("--describe", "--group", GROUP, "--members")[1:]
    found = [re.fullmatch(rf"{GROUP} {MEMBER}(?: ACTIVE:)?(.*)", row) for row in rows]
    assert all(found), rows
    return [
        {f"{name}_{index}" for name, indexes in re.findall(r"(\d):\[([\d,]+)\]", each[1])
         for index in indexes.split(",")}
        for each in found if each
    ]  # fmt: skip


def test_words_are_counted_and_an_operator_sees_it(bootstrap, replicas, tmp_path, command):
    """Two processes share the tasks of two subtopologies; one ends, the other counts on."""
    words = Words(bootstrap, replicas=replicas)
    how = {
        "group_protocol": "streams", "num_stream_threads": 1, "replication_factor": replicas,
    }  # fmt: skip
    every = {"0_0", "0_1", "1_0", "1_1"}
    with word_count(tmp_path / "first", bootstrap, **how) as first:
        words.send(60)
        exactly_once(words, first)
        assert command("--list") == [GROUP]
        assert tasks(command) == [every]
        state = command("--describe", "--group", GROUP, "--state")[1]
        assert re.fullmatch(rf"{GROUP} \S+ \(\d\) Stable 1", state)
        with word_count(tmp_path / "second", bootstrap, **how) as second:
            words.send(60)
            wait_for(
                lambda: sorted(map(len, tasks(command))) == [2, 2],
                lambda: "\n".join(first.lines[-10:] + second.lines[-10:]),
            )
            assert set().union(*tasks(command)) == every
            exactly_once(words, first)
            assert "GroupNotEmptyException" in " ".join(command("--delete", "--group", GROUP))
            second.terminated()
        words.send(60)
        exactly_once(words, first)
        first.terminated()
    left = command("--describe", "--group", GROUP, "--state")
    assert left[0] == f"Error: Streams group '{GROUP}' has no active members."
    reset = ("--reset-offsets", "--group", GROUP, "--to-earliest", "--all-input-topics")
    moved = command(*reset, "--dry-run")[1:]
    assert moved == [f"{GROUP} streams-plaintext-input {index} 0" for index in range(2)]
    deleted = command("--delete", "--group", GROUP, "--delete-all-internal-topics")
    assert deleted[0] == f"Deletion of requested streams groups ('{GROUP}') was successful."
    assert deleted[1].endswith("was successful.")
    assert command("--list") == []
