"""Fixtures for tests of applications and clients: a Kafka cluster in the test's own process.

    def test_orders(kafka_cluster, kafka_topic):
        producer = KafkaProducer(bootstrap_servers=kafka_cluster.bootstrap)

Every pytest run loads this file, so it imports nothing else of ours until a test asks for one.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from touchstone.kafka_cluster import ClusterSpec, KafkaCluster
    from touchstone.reference_impl.broker.faults.fault_plan import Plan

CLUSTER, MARK = "kafka_cluster", "kafka"
ARGUMENTS = ("brokers", "racks", "release", "settings", "shared")
_HIDDEN = getattr(pytest, "HIDDEN_PARAM", MARK)  # before pytest 8.4 the id of a test shows it


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{MARK}(*, {', '.join(ARGUMENTS)}): which cluster {CLUSTER} is (touchstone)",
    )


class _Asked(dict[str, Any]):
    """Arguments of a test's marks. Where the cluster is not shared they equal nothing, so that
    pytest, which keeps a fixture while its parameter is equal, makes another one for each test.
    """

    __hash__ = None

    def __eq__(self, other: object) -> bool:
        return self.get("shared") is not False and super().__eq__(other)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that is marked gets its cluster as a parameter that does not show."""
    if CLUSTER not in metafunc.fixturenames or not _is_ours(metafunc):
        return
    marks = list(metafunc.definition.iter_markers(MARK))
    asked = _Asked()
    for mark in reversed(marks):  # what is nearer to the test counts
        asked |= mark.kwargs
        if mark.args:
            asked[""] = mark.args
    if asked:
        metafunc.parametrize(CLUSTER, [pytest.param(asked, id=_HIDDEN)], indirect=True)


def _is_ours(metafunc: pytest.Metafunc) -> bool:
    """Whether no fixture of the project's has the name."""
    definitions = getattr(metafunc, "_arg2fixturedefs", {}).get(CLUSTER)
    return not definitions or definitions[-1].func.__module__ == __name__


class _Clusters:
    """Those that run, each once."""

    def __init__(self) -> None:
        self._running: list[KafkaCluster] = []

    def get(self, wanted: ClusterSpec) -> KafkaCluster:
        """One with equal settings that runs, or a new one."""
        for each in self._running:
            if wanted.shared and each.wanted == wanted:
                return each
        started: KafkaCluster = import_module("touchstone.kafka_cluster").KafkaCluster(wanted)
        self._running.append(started)
        return started

    def end(self, cluster: KafkaCluster) -> None:
        self._running.remove(cluster)
        cluster.stop()

    def end_all(self) -> None:
        while self._running:
            self._running.pop().stop()


def _wanted(asked: dict[str, Any]) -> ClusterSpec:
    """Raises WrongCluster."""
    known = import_module("touchstone.kafka_cluster")
    if "" in asked:
        raise known.WrongCluster(f"arguments have names: {', '.join(ARGUMENTS)}")
    for name in asked:
        if name not in ARGUMENTS:
            raise known.WrongCluster(f"no argument {name!r}; there are {', '.join(ARGUMENTS)}")
    found: ClusterSpec = known.ClusterSpec(**asked)
    return found


@pytest.fixture(scope="session")
def _kafka_clusters() -> Iterator[_Clusters]:
    clusters = _Clusters()
    yield clusters
    clusters.end_all()


@pytest.fixture(scope="session")
def kafka_cluster(
    request: pytest.FixtureRequest, _kafka_clusters: _Clusters
) -> Iterator[KafkaCluster]:
    """A Kafka cluster in this process: `bootstrap`, `brokers`, `topics`, `create_topic`, `advance`.

    One broker of the newest release by default. A test that wants another says so, and shares it
    with all that want the same: @pytest.mark.kafka(brokers=3, racks=["a", "b", "c"], release="2.8",
    settings={"message.max.bytes": 2000}). With shared=False it has a cluster of its own.
    """
    try:
        wanted = _wanted(getattr(request, "param", {}))
    except ValueError as wrong:
        pytest.fail(f"@pytest.mark.{MARK}: {wrong}", pytrace=False)
    cluster = _kafka_clusters.get(wanted)
    yield cluster
    if not wanted.shared:
        _kafka_clusters.end(cluster)


@pytest.fixture
def kafka_topic(request: pytest.FixtureRequest, kafka_cluster: KafkaCluster) -> Iterator[str]:
    """The name of a topic of this test alone, with one partition; it is deleted after the test."""
    name = kafka_cluster.fresh_topic(request.node.name)
    yield name
    kafka_cluster.delete_topic(name)


@pytest.fixture
def kafka_faults(kafka_cluster: KafkaCluster) -> Iterator[Plan]:
    """Rules that spoil requests of this test: `kafka_faults.add(touchstone.Rule(...))`.

    They are taken away after the test, whatever came of it. `standing()` tells how often each hit.
    """
    plan = kafka_cluster.faults
    before = {each.number for each in plan.standing()}
    yield plan
    for each in plan.standing():
        if each.number not in before:
            plan.remove(each.number)
