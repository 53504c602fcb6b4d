"""Where brokers say they are: parsed, resolved, told to clients and kept while brokers come and go.

The proxy of the last test is a broker's neighbour: nothing listens at the advertised ports, so a
broker that returned to them instead of its own would be found out.
"""

import socket

import pytest

from touchstone.reference_impl.io.listeners import SETTING, advertised, is_loopback, resolved
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.io.test_broker_lifecycle import SETTINGS, refused
from touchstone.reference_impl.tests.io.test_serving import Peer

FIND_COORDINATOR, METADATA, DESCRIBE_CONFIGS = 10, 3, 32
BROKER = 4  # a config resource's type


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("proxy:9092", ("proxy", 9092)),
        ("PLAINTEXT://10.0.0.7:29092", ("10.0.0.7", 29092)),
        ("[::1]:9092", ("::1", 9092)),
        ("PLAINTEXT://:0", ("", 0)),
        (" proxy:1 ", ("proxy", 1)),
    ],
)
def test_an_address_is_read(text, address):
    assert advertised([text], {}, 1) == [address]
    assert advertised([], {SETTING: text}, 1) == [address]


@pytest.mark.parametrize(
    "text", ["proxy", "proxy:", "proxy:x", "proxy:65536", "0.0.0.0:9092", "A://a:1,B://b:2"]
)
def test_what_is_no_address_is_refused_by_name(text):
    with pytest.raises(ValueError, match=SETTING):
        advertised([text], {}, 1)


def test_every_broker_has_its_own():
    assert advertised(["a:1", "b:2"], {SETTING: "c:3"}, 2) == [("a", 1), ("b", 2)]
    assert advertised([], {}, 2) == [None, None]
    for given, config in ((["a:1"], {}), (["a:1"] * 3, {}), ([], {SETTING: "a:1"})):
        with pytest.raises(ValueError, match="2"):
            advertised(given, config, 2)


@pytest.mark.parametrize("release", ["1.0", "4.3"])
def test_all_interfaces_are_no_address_for_clients(release):
    """KafkaConfig.validateValues says so in these words, of 1.0.2 as of 4.3.1."""
    words = "cannot use the nonroutable meta-address 0.0.0.0. Use a routable IP address."
    for more in ({}, {"brokers": 2}, {"config": {SETTING: "PLAINTEXT://0.0.0.0:1"}}):
        with pytest.raises(ValueError, match=words):
            serve(host="0.0.0.0", release=release, **more)
    assert told(host="0.0.0.0", release=release, advertise=["localhost:0"]) == "localhost"


def test_who_listens_under_no_name_tells_the_machines():
    assert told(host="") == socket.getfqdn()


def told(**settings):
    """Under which host a client is told to find the lone broker of these settings."""
    with serve(**settings) as running:
        port = running.bootstrap[0].rpartition(":")[2]
        with Peer(f"127.0.0.1:{port}") as peer:
            return peer.ask(METADATA, 1, {"topics": []})["brokers"][0]["host"]


def test_what_is_not_said_is_known_from_the_listener():
    bound = ("127.0.0.1", 4711)
    assert resolved(None, bound) == bound
    assert resolved(("proxy", 0), bound) == ("proxy", 4711)
    assert resolved(("", 9), bound) == (socket.getfqdn(), 9)


@pytest.mark.parametrize(("release", "version"), [("1.0", 0), ("2.8", 1), ("4.3", 1)])
def test_clients_are_told_what_is_advertised(release, version):
    told = [("proxy.one", 19092), ("proxy.two", 29092)]
    words = [f"PLAINTEXT://{host}:{port}" for host, port in told]
    with serve(2, release=release, advertise=words) as running, Peer(running.bootstrap[0]) as peer:
        answer = peer.ask(METADATA, 1, {"topics": []})
        assert [(row["host"], row["port"]) for row in answer["brokers"]] == told
        asked = {"resource_type": BROKER, "resource_name": "0", "configuration_keys": None}
        body = {"resources": [asked], "include_synonyms": False}
        row = peer.ask(DESCRIBE_CONFIGS, version, body)["results"][0]
        values = {entry["name"]: entry["value"] for entry in row["configs"]}
        assert values[SETTING] == words[0]
        assert values["listeners"] == f"PLAINTEXT://{running.bootstrap[0]}"


def test_a_lone_broker_has_kafkas_own_setting():
    config = {SETTING: "PLAINTEXT://proxy:0", "offsets.topic.num.partitions": "1",
              "offsets.topic.replication.factor": "1"}  # fmt: skip
    with serve(config=config) as running, Peer(running.bootstrap[0]) as peer:
        port = int(running.bootstrap[0].rpartition(":")[2])
        answer = peer.ask(METADATA, 1, {"topics": []})
        assert [(row["host"], row["port"]) for row in answer["brokers"]] == [("proxy", port)]
        found = peer.ask(FIND_COORDINATOR, 0, {"key": "g"})
        while found["error_code"]:  # its topic is made now
            found = peer.ask(FIND_COORDINATOR, 0, {"key": "g"})
        assert (found["host"], found["port"]) == ("proxy", port)


def test_who_comes_back_listens_where_it_did():
    with serve(2, config=SETTINGS, advertise=["proxy:19092", "proxy:29092"]) as running:
        running.kill(1)
        assert refused(running, 1)
        running.start_broker(1)
        assert not refused(running, 1)


@pytest.mark.parametrize(
    ("host", "only"),
    [
        ("127.0.0.1", True), ("127.9.9.9", True), ("localhost", True),
        ("0.0.0.0", False), ("", False), ("10.0.0.1", False), ("no.such.name.invalid", False),
    ],
)  # fmt: skip
def test_only_this_machine_reaches_loopback(host, only):
    assert is_loopback(host) is only
