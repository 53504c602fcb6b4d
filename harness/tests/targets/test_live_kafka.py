"""Real Kafka started and stopped, once per release; it leaves no process, port or folder behind."""

import os
import re
import shutil
import time
from pathlib import Path

import pytest

from touchstone.harness.model.target import Shape, StartFailed
from touchstone.harness.run import chosen_release
from touchstone.harness.targets import matrix, parse, probe
from touchstone.harness.targets.maven import kafka_home
from touchstone.harness.targets.process import KafkaProcess

pytestmark = [pytest.mark.live, pytest.mark.java, pytest.mark.maven, pytest.mark.slow]
RELEASES = [release.name for release in matrix.releases()]
# How many APIs each release advertises to clients, seen on the brokers themselves.
ADVERTISED = {"1.0": 38, "2.2": 44, "2.8": 56, "3.9": 61, "4.3": 75}


@pytest.fixture
def target(request):
    made = parse(f"kafka@{request.param}")
    reason = made.available()
    if reason:
        pytest.skip(f"not run: {reason}")
    yield made
    made.stop()


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize("target", RELEASES, indirect=True)
def test_one_broker_comes_and_goes(target):
    began = time.monotonic()
    endpoint = target.start(Shape(config={"num.partitions": 4}))
    assert endpoint.started is not None, "before 3.6 its first tasks are waited for"
    assert began <= endpoint.started <= time.monotonic()
    pids = [node.child.pid for node in endpoint.nodes.values()]
    sight = probe.metadata(endpoint.bootstrap[0])
    assert sight.brokers == dict(endpoint.brokers)
    assert sight.racks == {0: None}
    assert len(target.advertised()) == ADVERTISED[target.release]
    assert target.start(Shape(config={"num.partitions": 4})) is endpoint
    target.stop()
    target.stop()
    assert all(is_gone(pid) for pid in pids)
    assert not endpoint.logs.parent.exists()
    with pytest.raises(probe.NotReady):
        probe.api_versions(endpoint.bootstrap[0])


@pytest.mark.nightly  # test_released.py has the rules, and each rule has a version here
@pytest.mark.parametrize(
    "target", ["1.1.1", "2.3.1", "2.4.1", "3.0.2", "3.3.0", "3.6.2", "4.0.0", "4.4"], indirect=True
)
def test_a_version_that_is_not_recorded_serves(target):
    assert target.release is None
    sight = probe.metadata(target.start(Shape()).bootstrap[0])
    assert list(sight.brokers) == [0]
    assert chosen_release.choose(target).release in RELEASES


@pytest.mark.parametrize("target", ["3.9"], indirect=True)
def test_the_jars_of_a_folder_serve(target, tmp_path):
    (tmp_path / "libs").symlink_to(kafka_home("3.9"), target_is_directory=True)
    mine = parse(f"kafka@{tmp_path}")
    try:
        assert mine.name == f"kafka@{tmp_path / 'libs'}" and mine.release == "3.9"
        assert len(mine.advertised()) == ADVERTISED["3.9"]
    finally:
        mine.stop()


@pytest.mark.parametrize("target", ["1.0", "4.3"], indirect=True)
def test_three_brokers_have_racks_and_can_be_harmed(target):
    hurried = {
        "4.3": {"broker.session.timeout.ms": 1000, "broker.heartbeat.interval.ms": 200},
        "1.0": {"zookeeper.session.timeout.ms": 1000},
    }[target.release]
    shape = Shape(3, ("a", "b", "a"), hurried)
    endpoint = target.start(shape)
    assert probe.metadata(endpoint.bootstrap[2]).racks == {0: "a", 1: "b", 2: "a"}
    endpoint.nodes[1].kill()
    with pytest.raises(probe.NotReady):
        probe.metadata(endpoint.bootstrap[1])
    assert target.start(shape) is endpoint, "a broker killed on purpose does not end the cluster"
    endpoint.nodes[1].start()
    assert 1 in probe.metadata(endpoint.bootstrap[1]).brokers
    endpoint.nodes[2].pause()
    with pytest.raises(probe.NotReady, match="timed out"):
        probe.api_versions(endpoint.bootstrap[2], seconds=0.2)
    endpoint.nodes[2].resume()
    assert probe.api_versions(endpoint.bootstrap[2])
    assert endpoint.nodes[0].child.alive


@pytest.mark.parametrize("target", ["4.3"], indirect=True)
def test_a_cluster_that_died_is_replaced(target):
    first = target.start(Shape())
    first.nodes[0].child.kill()  # not through the node: nobody wanted this
    assert target.start(Shape()).bootstrap != first.bootstrap


@pytest.mark.parametrize("target", ["4.3", "1.0"], indirect=True)
def test_a_broker_that_cannot_start_says_why(target):
    with pytest.raises(StartFailed) as failed:
        target.start(Shape(config={"log.retention.ms": "soon"}))
    said = str(failed.value)
    assert f"{target.name}: broker 0 ended with 1" in said
    assert "soon" in said
    logs = Path(re.search(r"logs are in (\S+);", said)[1])
    assert (logs / "broker-0.log").stat().st_size
    assert not (logs.parent / "data").exists()
    shutil.rmtree(logs.parent)


def test_only_so_many_processes_live_at_a_time(monkeypatch):
    monkeypatch.setattr("touchstone.harness.targets.process.MOST_PROCESSES", 2)
    target = KafkaProcess("4.3")
    reason = target.available()
    if reason:
        pytest.skip(f"not run: {reason}")
    try:
        shapes = [Shape(config={"num.partitions": count}) for count in (1, 2, 3)]
        endpoints = [target.start(shape) for shape in shapes]
        assert [endpoint.nodes[0].child.alive for endpoint in endpoints] == [False, True, True]
    finally:
        target.stop()
