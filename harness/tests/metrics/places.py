"""A real Kafka 4.3 and the reference broker, each with a way to read the metrics of its first."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from touchstone.harness.model.target import Shape
from touchstone.harness.targets import parse
from touchstone.harness.targets.java import find_java
from touchstone.reference_impl.io.server import serve

PROGRAM = Path(__file__).with_name("MBeans.java")
SECONDS = 300
Measured = dict[str, float]


class Place(NamedTuple):
    bootstrap: str
    measure: Callable[[], Measured]  # of broker 0
    kill: Callable[[int], None]


@contextmanager
def real(brokers: int, config: Mapping[str, object]) -> Iterator[Place]:
    target = parse("kafka@4.3")
    if reason := target.available():
        pytest.skip(f"not run: {reason}")
    endpoint = target.start(Shape(brokers, config=config))
    try:
        first = target.pids()[-brokers]  # before them may be who keeps the metadata
        yield Place(
            ",".join(f"{host}:{port}" for host, port in endpoint.bootstrap),
            partial(through_jmx, first),
            lambda broker: endpoint.nodes[broker].kill(),
        )
    finally:
        target.stop()


@contextmanager
def ours(brokers: int, config: Mapping[str, object]) -> Iterator[Place]:
    told = {name: str(value) for name, value in config.items()}
    with serve(brokers, release="4.3", profile="test", config=told) as cluster:
        cluster.observe()
        yield Place(",".join(cluster.bootstrap), partial(cluster.metrics, 0), cluster.kill)


def through_jmx(process: int) -> Measured:
    argv = [str(find_java().executable), str(PROGRAM), str(process)]
    said = subprocess.run(argv, capture_output=True, text=True, timeout=SECONDS, check=True)
    rows = (line.split("\t") for line in said.stdout.splitlines())
    return {f"{bean}:{attribute}": float(value) for bean, attribute, value in rows}
