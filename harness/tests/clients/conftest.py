"""Brokers that clients of other people are pointed at: ours, one and three, and real Kafka beside.

A test here says what a user of a client sees, not what bytes say; it runs first of all on Kafka, so
that it claims nothing which Kafka does not do. Ours is `touchstone broker` in a process of its own,
as users run it. One cluster of each kind serves all tests: topics and groups have names of the
test's own.
"""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from touchstone.harness.bench.contest import Options, our_broker
from touchstone.harness.model.target import Shape, Unavailable
from touchstone.harness.targets import parse
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.maven import kafka_home
from touchstone.harness.tests.clients.programs import (
    GO_ALONE,
    GO_SECONDS,
    PATIENCE_S,
    VERSION,
    Commands,
)

KAFKA = "kafka@4.3"
_REAL = [pytest.mark.live, pytest.mark.java, pytest.mark.maven]
CLUSTERS = [1, 3, pytest.param(KAFKA, marks=_REAL)]
# Each program of Kafka's own is a JVM, and on three brokers it sees all that one has for it.
OF_JAVA = pytest.mark.parametrize(
    "bootstrap", [pytest.param(1, marks=pytest.mark.nightly), *CLUSTERS[1:]],
    indirect=True, ids=str, scope="session",
)  # fmt: skip
# Nobody waits for members that do not come: three seconds per test would be all we measure.
HASTE = {
    "group.initial.rebalance.delay.ms": 0,
    "group.consumer.min.session.timeout.ms": 3000,
    "group.consumer.min.heartbeat.interval.ms": 300,
    "group.consumer.heartbeat.interval.ms": 1000,
    "group.streams.initial.rebalance.delay.ms": 0,
    "offsets.topic.num.partitions": 5,
    "transaction.state.log.num.partitions": 5,
    "share.coordinator.state.topic.num.partitions": 5,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,
}
_numbers = itertools.count()


@pytest.fixture(scope="session", params=CLUSTERS, ids=str)
def bootstrap(request) -> Iterator[str]:
    if request.param != KAFKA:
        with our_broker(Options(), request.param, config=HASTE) as (addresses, _):
            yield addresses
        return
    target = parse(KAFKA)
    if reason := target.available():
        pytest.skip(f"not run: {reason}")
    endpoint = target.start(Shape(1, config=HASTE))
    yield ",".join(f"{host}:{port}" for host, port in endpoint.bootstrap)
    target.stop()


@pytest.fixture(scope="session")
def java() -> None:
    """Kafka's own programs are there."""
    try:
        find_java()
        kafka_home(VERSION)
    except Unavailable as missing:
        pytest.skip(f"not run: {missing.reason}")


@pytest.fixture(scope="session")
def kafka_tool(java, tmp_path_factory) -> Iterator[Commands]:
    """Call it with a command of Kafka's and its arguments; it returns what that prints."""
    with Commands(tmp_path_factory.mktemp("commands")) as commands:
        yield commands


@pytest.fixture
def replicas(bootstrap) -> int:
    """As many as there are brokers."""
    return len(bootstrap.split(","))


@pytest.fixture
def name(request) -> str:
    """A name that no other test has."""
    return f"{request.node.originalname.removeprefix('test_').replace('_', '-')}-{next(_numbers)}"


@pytest.fixture(autouse=True)
def nothing_left_over():
    """Clients leave transports and coroutines behind, which complain when they are collected.

    In the middle of a compile that is a SystemError ("AST constructor recursion depth mismatch",
    gh-106905, mended in Python 3.11.8), so they are collected here.
    """
    yield
    gc.collect()


@pytest.fixture(scope="session")
def franz(tmp_path_factory) -> Callable[..., str]:
    """franz-go by a small program of ours: what it says to its arguments (`franz/main.go`)."""
    compiler = shutil.which("go")
    if compiler is None:
        pytest.skip("not run: no Go")
    program = tmp_path_factory.mktemp("franz") / "franz"
    made = subprocess.run(
        [compiler, "build", "-o", str(program), "."], cwd=Path(__file__).parent / "franz",
        env=os.environ | GO_ALONE, check=False, capture_output=True, text=True, timeout=GO_SECONDS,
    )  # fmt: skip
    if made.returncode:
        pytest.skip(f"not run: franz-go is not fetched (ci/fetch-examples): {made.stderr[-200:]}")

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [str(program), *arguments], check=False, capture_output=True, text=True,
            timeout=PATIENCE_S,
        )  # fmt: skip
        return done.stdout + done.stderr

    return run
