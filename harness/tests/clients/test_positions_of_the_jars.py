"""Our consumer begins where Java's of 4.3.1 does, by each reset policy, on the same broker."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from touchstone.harness.adapters.program import QUICK
from touchstone.harness.model.target import Unavailable
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.maven import class_path, kafka_home
from touchstone.harness.tests.clients.programs import VERSION
from touchstone.reference_impl.client.consumer import NoPosition
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.client.consumer_walks import filled

pytestmark = [pytest.mark.maven, pytest.mark.java, pytest.mark.slow, pytest.mark.timeout(500)]
WANTED = (
    "earliest",
    "latest",
    "none",
    "by_duration:P1D",  # before the first record
    "by_duration:PT1H",  # after the last
    "earliest@4",
    "earliest@99",
    "latest@99",
    "none@99",
    "by_duration:P1D@99",
)


def by_java(bootstrap: str, topic: str) -> dict[str, str]:
    try:
        java, home = find_java(), kafka_home(VERSION)
    except Unavailable as missing:
        pytest.skip(f"not run: {missing.reason}")
    program = Path(__file__).with_name("Positions.java")
    done = subprocess.run(
        [str(java.executable), *QUICK, "-cp", class_path(home), program, bootstrap, topic,
         *WANTED],
        capture_output=True, text=True, timeout=400,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("at ")]
    return {wanted: found for _, wanted, found in lines}


def by_ours(client: Client, topic: str, wanted: str) -> str:
    policy, _, offset = wanted.partition("@")
    consumer = client.consumer([(topic, 0)], reset=policy)
    if offset:
        consumer.seek((topic, 0), int(offset))
    try:
        records = consumer.poll(3000)
    except NoPosition:
        return "OffsetOutOfRangeException" if offset else "NoOffsetForPartitionException"
    try:
        return str(records[0].offset if records else consumer.position((topic, 0)))
    except NoPosition:
        return "TimeoutException"  # Java's waits for a minute before it says so


def test_every_policy_begins_where_javas_does():
    with serve(brokers=1) as cluster, Client(cluster.bootstrap) as client:
        filled(client, "t", 10)
        theirs = by_java(",".join(cluster.bootstrap), "t")
        assert {wanted: by_ours(client, "t", wanted) for wanted in WANTED} == theirs
