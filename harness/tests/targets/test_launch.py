"""The programs of our own target files: a plain Kafka, and librdkafka's mock."""

import pytest

from touchstone.harness.model import advertised
from touchstone.harness.model.target import Shape
from touchstone.harness.targets import matrix, parse, probe, shipped
from touchstone.harness.targets.launch import properties

RELEASES = [release.name for release in matrix.releases()]
# How many APIs each release advertises to clients, seen on the brokers themselves.
ADVERTISED = {"1.0": 38, "2.2": 44, "2.8": 56, "3.9": 61, "4.3": 75}


def rendered(release, node=1, brokers=1, rack="", **given):
    return properties(
        matrix.release(release), node, brokers=brokers, host="127.0.0.1", port=9092, rack=rack,
        controller_port=9093, **{"voters": "", "zookeeper": "", **given},
    )  # fmt: skip


def test_a_quick_start_of_kraft():
    found = rendered("3.9")
    assert found["process.roles"] == "broker,controller"
    assert found["controller.quorum.voters"] == "1@127.0.0.1:9093"
    assert "group.initial.rebalance.delay.ms" not in found
    assert "broker.rack" not in found


def test_a_quick_start_of_zookeepers_time():
    found = rendered("1.0", node=2, zookeeper="127.0.0.1:2181", rack="a")
    assert (found["broker.id"], found["broker.rack"]) == ("2", "a")
    assert found["group.initial.rebalance.delay.ms"] == "0"
    assert not {"process.roles", "node.id"} & found.keys()


@pytest.mark.parametrize(("brokers", "factor"), [(1, "1"), (3, None)])
def test_three_brokers_have_the_default_factors(brokers, factor):
    found = rendered("4.3", brokers=brokers, voters="1@h:1,2@h:2,3@h:3")
    for topic in ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic"):
        assert found.get(f"{topic}.replication.factor") == factor


@pytest.fixture
def target(request):
    made = parse(request.param)
    reason = made.available()
    if reason:
        pytest.skip(f"not run: {reason}")
    yield made
    made.stop()


@pytest.mark.slow
@pytest.mark.parametrize("target", ["librdkafka-mock"], indirect=True)
def test_librdkafkas_mock_serves_and_ends(target):
    endpoint = target.start(Shape())
    assert probe.metadata(endpoint.bootstrap[0]).brokers == dict(endpoint.brokers)
    target.stop()
    with pytest.raises(probe.NotReady):
        probe.api_versions(endpoint.bootstrap[0])


@pytest.mark.live
@pytest.mark.java
@pytest.mark.maven
@pytest.mark.slow
@pytest.mark.parametrize("target", [f"kafka-{name}" for name in advertised.tables()], indirect=True)
def test_a_plain_kafka_counts_its_nodes_from_one(target):
    endpoint = target.start(Shape())
    assert list(endpoint.brokers) == [1]
    assert len(target.advertised()) == ADVERTISED[target.release]
    child = endpoint.nodes[1].child
    target.stop()
    assert not child.alive
    assert not endpoint.logs.parent.exists()


@pytest.mark.live
@pytest.mark.java
@pytest.mark.maven
@pytest.mark.slow
@pytest.mark.parametrize("target", ["kafka-4.3", "kafka-1.0"], indirect=True)
def test_three_plain_kafkas_outlive_one(target):
    endpoint = target.start(Shape(3, ("a", "b", "c")))
    node = endpoint.nodes[1]
    node.kill()
    assert probe.metadata(endpoint.brokers[2])
    node.start()
    assert probe.metadata(endpoint.brokers[1]).racks == {1: "a", 2: "b", 3: "c"}


def test_every_recorded_release_has_a_file():
    assert {f"kafka-{name}" for name in advertised.tables()} <= shipped().keys()
