"""Brokers that are not there are refused in words, by `serve`, the fixtures and the command."""

from __future__ import annotations

import pytest

from touchstone.harness.cli.coverage import all_claims
from touchstone.harness.model.profiles import PROFILES
from touchstone.kafka_cluster import ClusterSpec, KafkaCluster, WrongCluster
from touchstone.reference_impl.broker.configs import setting_names
from touchstone.reference_impl.broker.personas.releases import RELEASES
from touchstone.reference_impl.io.server import serve


@pytest.fixture(scope="module")
def cluster():
    with KafkaCluster(ClusterSpec(brokers=2)) as running:
        yield running


@pytest.mark.parametrize("number", [99, -1, 2, "0"])
@pytest.mark.parametrize("verb", ["kill", "start", "pause", "resume"])
def test_a_broker_that_is_not_there_is_named_with_those_that_are(cluster, verb, number):
    with pytest.raises(ValueError, match=f"^no broker {number!r}; there are 0, 1$"):
        getattr(cluster, verb)(number)


def test_so_does_a_cluster_that_is_served(cluster):
    with pytest.raises(ValueError, match="^no broker 99; there are 0, 1$"):
        cluster.running.stop_broker(99)
    assert len(cluster.running.brokers) == 2


@pytest.mark.parametrize("brokers", [0, -1, 101, True, 1.5, "2"])
def test_a_cluster_of_no_such_number_of_brokers_is_refused(brokers):
    with pytest.raises(WrongCluster, match="^brokers: 1 to 100, not "):
        ClusterSpec(brokers=brokers)


def test_brokers_are_one_for_each_rack_where_nobody_says():
    assert ClusterSpec().brokers == 1 and ClusterSpec(racks=["a", "b"]).brokers == 2


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"brokers": 0}, "brokers: 1 or more, not 0"),
        ({"brokers": -1}, "brokers: 1 or more, not -1"),
        ({"racks": ["a", "b"]}, "racks: 2 for 1 brokers"),
        ({"brokers": 2, "port": 65535}, "port 65535: broker I listens on it + I, up to 65535"),
    ],
)
def test_what_cannot_be_served_is_refused(how, says):
    with pytest.raises(ValueError, match=says.replace("+", r"\+")):
        serve(**how)


# names of settings


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nosuch", "no Kafka has a setting 'nosuch'"),
        ("log.retention.mss", "no Kafka has a setting 'log.retention.mss'; did you mean 'log.rete"),
    ],
)
def test_a_setting_of_no_kafka_is_refused(name, says):
    assert setting_names.complaint(name).startswith(says)


def test_a_setting_that_some_claim_or_profile_wants_is_none_of_them():
    wanted = {name for claim in all_claims() for name, _ in claim.shape.config}
    wanted |= {"org.apache.kafka.sasl.oauthbearer.allowed.urls", "listener.name.x.sasl.jaas.config"}
    wanted |= {
        name for one in PROFILES.values() for release in RELEASES for name in one.of(release)
    }
    assert {name: text for name in wanted if (text := setting_names.complaint(name))} == {}
