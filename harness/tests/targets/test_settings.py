"""What each release is told for each shape, without starting anything."""

import pytest

from touchstone.harness.model.target import Shape
from touchstone.harness.targets import matrix, settings

RELEASES = [release.name for release in matrix.releases()]
KRAFT = [release.name for release in matrix.releases() if release.kraft]
OLD = [release.name for release in matrix.releases() if not release.kraft]
AT, QUORUM = ("127.0.0.1", 9092), ("127.0.0.1", 9093)


def rendered(name, shape, node=0, internal=None):
    release = matrix.release(name)
    apart = release.kraft and not settings.combined(release, shape)
    keeper = settings.MetadataAddress(
        zookeeper="127.0.0.1:2181/kafka",
        controller_id=settings.CONTROLLER_ID if apart else 0,
        controller=QUORUM,
        bind=QUORUM,
    )
    listening = settings.Listening(AT, AT, internal)
    return settings.broker(release, shape, node, data="/data", listening=listening, keeper=keeper)


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("brokers", [1, 2, 3, 5])
def test_internal_topics_fit_the_brokers(name, brokers):
    got = rendered(name, Shape(brokers))
    assert got["offsets.topic.replication.factor"] == str(min(3, brokers))
    assert int(got["transaction.state.log.min.isr"]) <= int(
        got["transaction.state.log.replication.factor"]
    )
    shares = "share.coordinator.state.topic.min.isr" in got
    assert shares == (matrix.release(name).number >= (4, 0))


@pytest.mark.parametrize("name", RELEASES)
def test_each_broker_has_its_number_and_its_rack(name):
    shape = Shape(3, ("a", "b", "a"))
    key = "node.id" if name in KRAFT else "broker.id"
    seen = [(rendered(name, shape, node)[key], rendered(name, shape, node)["broker.rack"])
            for node in range(3)]  # fmt: skip
    assert seen == [("0", "a"), ("1", "b"), ("2", "a")]
    assert "broker.rack" not in rendered(name, Shape())


@pytest.mark.parametrize("name", RELEASES)
def test_a_shape_has_the_last_word(name):
    asked = {"auto.create.topics.enable": False, "group.initial.rebalance.delay.ms": 100}
    got = rendered(name, Shape(1, config=asked))
    assert got["auto.create.topics.enable"] == "false"
    assert got["group.initial.rebalance.delay.ms"] == "100"


@pytest.mark.parametrize("name", KRAFT)
def test_one_broker_is_its_own_controller(name):
    got = rendered(name, Shape())
    assert got["process.roles"] == "broker,controller"
    assert got["listeners"] == "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093"
    assert got["advertised.listeners"] == "PLAINTEXT://127.0.0.1:9092"
    assert got["controller.quorum.voters"] == "0@127.0.0.1:9093"


@pytest.mark.parametrize("name", KRAFT)
def test_several_brokers_have_a_controller_apart(name):
    got = rendered(name, Shape(3), node=2)
    assert got["process.roles"] == "broker"
    assert got["listeners"] == "PLAINTEXT://127.0.0.1:9092"
    assert got["controller.quorum.voters"] == f"{settings.CONTROLLER_ID}@127.0.0.1:9093"


@pytest.mark.parametrize("name", KRAFT)
@pytest.mark.parametrize(("roles", "both"), [("broker", False), ("broker,controller", True)])
def test_a_shape_may_ask_for_the_roles(name, roles, both):
    shape = Shape(1, config={"process.roles": roles})
    assert settings.combined(matrix.release(name), shape) is both
    assert rendered(name, shape)["process.roles"] == roles


@pytest.mark.parametrize("name", KRAFT)
def test_combined_roles_with_several_brokers_put_the_controller_on_the_first(name):
    shape = Shape(2, config={"process.roles": "broker,controller"})
    assert rendered(name, shape, 0)["process.roles"] == "broker,controller"
    assert rendered(name, shape, 1)["process.roles"] == "broker"


@pytest.mark.parametrize("name", OLD)
def test_old_releases_ask_zookeeper_and_know_no_roles(name):
    got = rendered(name, Shape(3), node=1)
    assert got["zookeeper.connect"] == "127.0.0.1:2181/kafka"
    assert not [key for key in got if key.startswith(("process.", "controller.", "node."))]


@pytest.mark.parametrize("name", RELEASES)
def test_brokers_may_have_a_listener_among_themselves(name):
    got = rendered(name, Shape(3), internal=("broker-0", 19092))
    assert "INTERNAL://broker-0:19092" in got["listeners"]
    assert "INTERNAL://broker-0:19092" in got["advertised.listeners"]
    assert got["inter.broker.listener.name"] == "INTERNAL"


@pytest.mark.parametrize("name", KRAFT)
def test_a_controller_apart_gets_the_defaults_of_topics(name):
    keeper = settings.MetadataAddress(controller_id=100, controller=QUORUM, bind=QUORUM)
    shape = Shape(3, config={"min.insync.replicas": 2})
    got = settings.controller(matrix.release(name), shape, data="/data", keeper=keeper)
    assert got["process.roles"] == "controller"
    assert got["node.id"] == "100"
    assert got["min.insync.replicas"] == "2"
    assert "advertised.listeners" not in got


def test_a_properties_file_survives_a_backslash():
    assert settings.text({"a.b": "c\\d"}) == "a.b=c\\\\d\n"


def test_a_shape_is_a_key_whatever_order_its_settings_came_in():
    one = Shape(2, ["a", "b"], {"x": 1, "y": True})
    other = Shape(2, ("a", "b"), [("y", "true"), ("x", "1")])
    assert one == other
    assert hash(one) == hash(other)


@pytest.mark.parametrize(("brokers", "racks"), [(0, ()), (3, ("a",)), (1, ("a", "b"))])
def test_an_impossible_shape_is_refused(brokers, racks):
    with pytest.raises(ValueError, match="broker"):
        Shape(brokers, racks)
