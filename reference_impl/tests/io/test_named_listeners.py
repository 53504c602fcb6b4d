"""Brokers with several listeners: a client is told of the endpoints of the one that it came by."""

import socket

import pytest

from touchstone.reference_impl.broker.configs.listener_settings import ListenerSettings
from touchstone.reference_impl.io.connection_quotas import ConnectionQuotas
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.broker.one_broker import OneBroker
from touchstone.reference_impl.tests.io.test_broker_lifecycle import SETTINGS, refused
from touchstone.reference_impl.tests.io.test_serving import Peer

METADATA, FIND_COORDINATOR, DESCRIBE_CONFIGS, DESCRIBE_CLUSTER = 3, 10, 32, 60
INCREMENTAL_ALTER_CONFIGS = 44
HANDSHAKE, AUTHENTICATE = 17, 36
BROKER, SET, DELETE = 4, 0, 1
TWO = {
    "listeners": "CLIENTS://127.0.0.1:0,PLAINTEXT://127.0.0.1:0",
    "listener.security.protocol.map": "CLIENTS:PLAINTEXT,PLAINTEXT:PLAINTEXT",
}


def brokers_told(bootstrap):
    with Peer(bootstrap) as peer:
        rows = peer.ask(METADATA, 1, {"topics": []})["brokers"]
        return [f"{row['host']}:{row['port']}" for row in rows]


@pytest.mark.parametrize("release", ["1.0", "2.8", "4.3"])
def test_a_client_is_told_of_the_listener_it_came_by(release):
    with serve(3, release=release, config=SETTINGS | TWO) as running:
        assert list(running.listeners) == ["CLIENTS", "PLAINTEXT"]
        assert running.bootstrap == running.listeners["CLIENTS"]
        for where in running.listeners.values():
            for bootstrap in where:
                assert brokers_told(bootstrap) == where


@pytest.mark.parametrize("release", ["1.0", "4.3"])
def test_a_coordinator_is_where_its_listener_is(release):
    with serve(release=release, config=SETTINGS | TWO) as running:
        for where in running.listeners.values():
            with Peer(where[0]) as peer:
                found = peer.ask(FIND_COORDINATOR, 0, {"key": "g"})
                while found["error_code"]:  # its topic is made now
                    found = peer.ask(FIND_COORDINATOR, 0, {"key": "g"})
                assert f"{found['host']}:{found['port']}" == where[0]


def test_a_cluster_is_described_by_listener():
    with serve(2, config=TWO) as running:
        for where in running.listeners.values():
            with Peer(where[1]) as peer:
                rows = peer.ask(DESCRIBE_CLUSTER, 0, {})["brokers"]
                assert [f"{row['host']}:{row['port']}" for row in rows] == where


def test_each_listener_is_advertised_as_it_is_said():
    config = TWO | {"advertised.listeners": "PLAINTEXT://inside:1,CLIENTS://outside:0"}
    with serve(config=config) as running:
        port = running.listeners["CLIENTS"][0].rpartition(":")[2]
        assert brokers_told(running.listeners["CLIENTS"][0]) == [f"outside:{port}"]
        assert brokers_told(running.listeners["PLAINTEXT"][0]) == ["inside:1"]


def test_a_listener_that_is_not_advertised_names_nobody():
    config = TWO | {"advertised.listeners": "PLAINTEXT://inside:1"}
    with serve(config=config) as running:
        assert brokers_told(running.listeners["CLIENTS"][0]) == []


def test_brokers_of_one_process_count_on_from_each_port():
    bases = []
    for _ in range(2):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            bases.append(free.getsockname()[1])
    text = "CLIENTS://127.0.0.1:{},PLAINTEXT://127.0.0.1:{}".format(*bases)
    settings = ListenerSettings.of(TWO | {"listeners": text})
    assert [each.port for each in settings.listeners] == bases


def test_who_comes_back_listens_where_it_did():
    with serve(2, config=SETTINGS | TWO) as running:
        before = running.listeners
        running.kill(1)
        assert refused(running, 1)
        running.start_broker(1)
        assert [brokers_told(where[1]) for where in before.values()] == [*before.values()]


def test_a_listener_has_its_own_limit_of_connections():
    limit = {"listener.name.clients.max.connections": "1", "max.connections": "3"}
    made = ConnectionQuotas(OneBroker(**limit).brokers[0])
    made.taken("127.0.0.1", "CLIENTS")
    assert not made.has_room("CLIENTS") and made.has_room("PLAINTEXT")
    for _ in range(2):
        made.taken("127.0.0.1", "PLAINTEXT")
    assert not made.has_room("PLAINTEXT")
    made.given_back("127.0.0.1", "CLIENTS")
    assert made.has_room("CLIENTS") and made.has_room("PLAINTEXT")


def test_settings_are_shown_as_they_were_written():
    with serve(config=TWO) as running, Peer(running.bootstrap[0]) as peer:
        names = ["listeners", "advertised.listeners"]
        asked = {"resource_type": 4, "resource_name": "0", "configuration_keys": names}
        body = {"resources": [asked], "include_synonyms": False}
        row = peer.ask(DESCRIBE_CONFIGS, 1, body)["results"][0]
        values = {entry["name"]: entry["value"] for entry in row["configs"]}
        told = [f"{name}://{where[0]}" for name, where in running.listeners.items()]
        assert values == {"listeners": TWO["listeners"], "advertised.listeners": ",".join(told)}


ONE = "PLAINTEXT://:1"


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"listeners": "A://:1"}, "No security protocol defined for listener A"),
        ({"listeners": "A:1"}, "Unable to parse A:1 to a broker endpoint"),
        ({"listeners": f"{ONE},PLAINTEXT://:2"}, "must have a different name"),
        ({"listeners": f"{ONE},SSL://:1"}, "must have a different port"),
        ({"listener.security.protocol.map": "PLAINTEXT:TLS"}, "Invalid security protocol `TLS`"),
        ({"security.inter.broker.protocol": "TLS"}, "Invalid security protocol `TLS`"),
        ({"inter.broker.listener.name": "A"}, "Listener with name A defined in inter.broker"),
        (
            {"inter.broker.listener.name": "PLAINTEXT", "security.inter.broker.protocol": "SSL"},
            "Only one of inter.broker.listener.name and security.inter.broker.protocol",
        ),
        (
            {"listeners": "SASL_PLAINTEXT://:1"},
            "inter.broker.listener.name must be a listener name defined in advertised.listeners."
            " The valid options based on currently configured listeners are SASL_PLAINTEXT",
        ),
        (
            {"listeners": ONE, "advertised.listeners": "PLAINTEXT://a:2,SSL://a:1"},
            "names must be equal to or a subset",
        ),
        (
            {
                "listeners": "SASL_PLAINTEXT://:1",
                "security.inter.broker.protocol": "SASL_PLAINTEXT",
                "sasl.enabled.mechanisms": "PLAIN",
            },
            "sasl.mechanism.inter.broker.protocol must be included in sasl.enabled.mechanisms",
        ),
        (
            {"listeners": "CONTROLLER://:1", "controller.listener.names": "CONTROLLER",
             "listener.security.protocol.map": "CONTROLLER:PLAINTEXT"},
            "There must be at least one broker advertised listener.",
        ),
    ],
)  # fmt: skip
def test_what_kafka_refuses_is_refused_in_its_words(config, words):
    with pytest.raises(ValueError) as refused:
        ListenerSettings.of(config)
    assert words in str(refused.value)


def test_listeners_of_controllers_are_left_out():
    config = {
        "listeners": "PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    }
    with serve(config=config) as running:
        assert list(running.listeners) == ["PLAINTEXT"]


@pytest.mark.parametrize("release", ["3.9", "4.3"])
def test_listeners_as_kafka_ships_them(release):
    """config/server.properties of 4.x and config/kraft/server.properties of 3.9, but for ports."""
    config = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "listeners": "PLAINTEXT://:0,CONTROLLER://:0",
        "inter.broker.listener.name": "PLAINTEXT",
        "advertised.listeners": "PLAINTEXT://localhost:0,CONTROLLER://localhost:9093",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,"
        "SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL",
    }
    with serve(release=release, config=config) as running:
        (address,) = running.bootstrap
        port = address.rpartition(":")[2]
        assert address == f"127.0.0.1:{port}"  # who listens everywhere is found here
        assert brokers_told(running.bootstrap[0]) == [f"localhost:{port}"]
        assert list(running.listeners) == ["PLAINTEXT"]


def test_a_port_beside_listeners_is_refused():
    with pytest.raises(ValueError, match="listeners"):
        serve(port=9092, config=TWO)


def alter(peer, broker, changes):
    rows = [
        {"name": name, "config_operation": DELETE if value is None else SET, "value": value}
        for name, value in changes.items()
    ]
    resource = {"resource_type": BROKER, "resource_name": str(broker), "configs": rows}
    body = {"resources": [resource], "validate_only": False}
    (row,) = peer.ask(INCREMENTAL_ALTER_CONFIGS, 0, body)["responses"]
    return row["error_code"], row["error_message"]


@pytest.mark.parametrize("release", ["2.8", "3.9", "4.3"])
def test_a_listener_comes_and_goes(release):
    """On one of two brokers. Who came by it is hung up on. With KRaft it is not advertised."""
    config = {
        "listeners": "PLAINTEXT://127.0.0.1:0",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,EXTRA:PLAINTEXT",
    }
    with serve(brokers=2, release=release, config=config) as cluster:
        first, second = cluster.listeners["PLAINTEXT"]
        wanted = {"listeners": f"PLAINTEXT://{second},EXTRA://127.0.0.1:0"}
        with Peer(first) as peer, Peer(second) as other:
            before = peer.ask(METADATA, 1, {"topics": []})["brokers"]
            assert alter(other, 1, wanted) == (0, None)
            (address,) = cluster.listeners["EXTRA"]
            with Peer(address) as extra:
                found = extra.ask(METADATA, 1, {"topics": []})["brokers"]
                at = [f"{each['host']}:{each['port']}" for each in found]
                assert at == ([address] if release == "2.8" else [])
                assert peer.ask(METADATA, 1, {"topics": []})["brokers"] == before
                assert alter(other, 1, {"listeners": None}) == (0, None)
                assert extra.take(1) == b""
            with pytest.raises(ConnectionRefusedError):
                Peer(address)
            assert peer.ask(METADATA, 1, {"topics": []})["brokers"] == before
            assert "EXTRA" not in cluster.listeners


def test_listeners_that_came_and_went_outlive_the_process(tmp_path):
    config = {
        "listeners": "PLAINTEXT://127.0.0.1:0,WEB://127.0.0.1:0",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,WEB:PLAINTEXT,EXTRA:PLAINTEXT",
    }
    with serve(release="2.8", config=config, data=tmp_path) as cluster:
        (plain,) = cluster.listeners["PLAINTEXT"]
        with Peer(plain) as peer:
            wanted = {"listeners": "PLAINTEXT://127.0.0.1:0,EXTRA://127.0.0.1:0"}
            assert alter(peer, 0, wanted) == (0, None)
    with serve(release="2.8", config=config, data=tmp_path) as cluster:
        assert cluster.listeners.keys() == {"PLAINTEXT", "EXTRA"}
        (address,) = cluster.listeners["EXTRA"]
        with Peer(address) as peer:
            (found,) = peer.ask(METADATA, 1, {"topics": []})["brokers"]
            assert f"{found['host']}:{found['port']}" == address


def test_a_listener_with_sasl_comes_with_its_logins():
    """Without them it stays shut, and the broker goes on."""
    config = {
        "listeners": "PLAINTEXT://127.0.0.1:0",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,LATE:SASL_PLAINTEXT",
    }
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    logins = {
        "listener.name.late.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.late.plain.sasl.jaas.config": f'{module} required user_alice="secret";',
    }
    with serve(release="2.8", config=config) as cluster:
        (plain,) = cluster.listeners["PLAINTEXT"]
        late = {"listeners": f"PLAINTEXT://{plain},LATE://127.0.0.1:0"}
        with Peer(plain) as peer:
            assert alter(peer, 0, late) == (0, None)
            assert "LATE" not in cluster.listeners
            assert alter(peer, 0, {"listeners": None}) == (0, None)
            assert alter(peer, 0, late | logins) == (0, None)
        (address,) = cluster.listeners["LATE"]
        with Peer(address) as peer:
            assert peer.ask(HANDSHAKE, 1, {"mechanism": "PLAIN"})["error_code"] == 0
            token = b"\0alice\0secret"
            assert peer.ask(AUTHENTICATE, 0, {"auth_bytes": token})["error_code"] == 0
            assert len(peer.ask(METADATA, 1, {"topics": []})["brokers"]) == 1
