"""Addresses that a target names are asked where they are on loopback, were given, or may be.

Nothing leaves this machine: who would be connected to, and who would be looked up, is written down.
"""

from __future__ import annotations

import socket

import pytest
from click.testing import CliRunner

from touchstone.harness.__main__ import main
from touchstone.harness.driver.brokers import lookup
from touchstone.harness.driver.line import Line
from touchstone.harness.model.placeholders import Coordinator, Unresolved
from touchstone.harness.model.target import OutOfScope, Shape
from touchstone.harness.targets import matrix, parse, probe, process, reach
from touchstone.harness.targets.external import ExternalTarget
from touchstone.harness.targets.isolation import Isolations
from touchstone.harness.targets.liars import LyingServer
from touchstone.harness.tests.small_kafka import METADATA, small_kafka

STRANGER = ("192.0.2.1", 9092)  # RFC 5737: of nobody
NAMES = {"kafka-1": ["192.0.2.1"], "mine": ["127.0.0.1"], "both": ["127.0.0.1", "192.0.2.1"]}


@pytest.fixture(autouse=True)
def asked(monkeypatch):
    """Who was connected to; nobody is."""
    found = []

    def connect(address, seconds):
        found.append(address)
        raise ConnectionRefusedError("written down")

    def resolve(host, port, **_):
        return [(0, 0, 0, "", (number, port)) for number in NAMES.get(host, [host])]

    monkeypatch.setattr(reach, "_given", set())
    monkeypatch.setattr(reach, "_follows", False)
    monkeypatch.setattr(socket, "create_connection", connect)
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return found


@pytest.mark.parametrize(
    ("address", "given", "goes_to"),
    [
        (("127.0.0.1", 9092), [], ("127.0.0.1", 9092)),
        (("127.9.9.9", 1), [], ("127.9.9.9", 1)),
        (("::1", 9092), [], ("::1", 9092)),
        (("mine", 9092), [], ("127.0.0.1", 9092)),  # by number, whoever has the name later
        (STRANGER, [], None),
        (("0.0.0.0", 9092), [], None),
        (("::ffff:192.0.2.1", 9092), [], None),
        (("kafka-1", 9092), [], None),
        (("both", 9092), [], None),
        (STRANGER, [STRANGER], STRANGER),
        (STRANGER, [("192.0.2.1", 9093)], None),
        (("kafka-1", 9092), [STRANGER], STRANGER),
        (STRANGER, [("kafka-1", 9092)], STRANGER),
        (("kafka-1", 9092), [("kafka-1", 9092)], ("kafka-1", 9092)),
    ],
)
def test_who_is_asked(asked, address, given, goes_to):
    reach.give(given)
    with pytest.raises(OSError) as refused:
        Line(address, 1.0)
    assert asked == ([] if goes_to is None else [goes_to])
    assert isinstance(refused.value, reach.NotGiven) == (goes_to is None)
    assert bool(reach.refusal(address)) == (goes_to is None)


@pytest.mark.parametrize("address", [STRANGER, ("kafka-1", 9092)])
def test_a_flag_lets_everybody_be_asked(asked, address):
    reach.follow()
    assert reach.refusal(address) is None
    with pytest.raises(ConnectionRefusedError):
        Line(address, 1.0)
    assert asked == [STRANGER]


def test_the_refusal_names_the_address_and_the_flag():
    assert reach.refusal(STRANGER) == (
        "192.0.2.1:9092 is not on loopback and was not given, only named by the target"
        " (--follow asks there)"
    )
    with pytest.raises(probe.NotReady, match=r"192\.0\.2\.1:9092.*--follow"):
        probe.metadata(STRANGER)
    with pytest.raises(Unresolved, match=r"192\.0\.2\.1:9092.*--follow"):
        lookup(STRANGER, Coordinator("group"), 1.0)


@pytest.mark.parametrize("address", [("", 9092), ("h", 0), ("h", -1), ("h", 1 << 16)])
def test_what_is_no_address_is_said_to_be_none(asked, address):
    assert "no address" in str(reach.refusal(address))
    assert asked == []


def test_a_name_that_is_shown_moves_no_cursor():
    assert "\x1b" not in str(reach.refusal(("\x1b[2J\n", 0)))


def test_of_many_brokers_the_first_are_told():
    brokers = dict.fromkeys(range(1000), STRANGER)
    lines = reach.refusals(brokers)
    assert len(lines) == reach.LISTED + 1 and lines[-1] == "and 995 more brokers are not asked"


def test_who_names_a_target_gives_its_address(asked):
    parse("192.0.2.1:9092,kafka-1:9093")
    assert reach.refusal(STRANGER) is None and reach.refusal(("kafka-1", 9093)) is None


BROKERS = [("127.0.0.1", 9092), STRANGER, ("kafka-1", 9093)]


@pytest.fixture
def elsewhere(monkeypatch, asked):
    """An external target whose cluster has brokers on other machines."""
    monkeypatch.undo()
    monkeypatch.setattr(reach, "_given", set())
    connect = socket.create_connection

    def known(address, *others, **more):
        if not address[0].startswith("127."):
            asked.append(address)
            raise ConnectionRefusedError("written down")
        return connect(address, *others, **more)

    monkeypatch.setattr(socket, "create_connection", known)
    server: list[LyingServer] = []

    def twist(key, version, answer):
        if key == METADATA:
            places = [server[0].address, STRANGER, ("192.0.2.2", 9092)]
            answer["brokers"] = [
                {"node_id": node, "host": host, "port": port, "rack": None}
                for node, (host, port) in enumerate(places)
            ]
        return answer

    with small_kafka(twist=twist) as found:
        server.append(found)
        yield ExternalTarget((found.address,))


def test_a_cluster_of_others_is_judged_by_the_broker_that_was_given(elsewhere, asked):
    assert elsewhere.start(Shape()).bootstrap == elsewhere.addresses
    first, *lines = elsewhere.where_clients_go()
    assert first.startswith("clients are sent to broker 0 at 127.0.0.1:")
    assert [line.partition(" is ")[0] for line in lines] == ["broker 1", "broker 2"]
    with pytest.raises(OutOfScope, match=r"broker 1 is not asked: 192\.0\.2\.1:9092 .*--follow"):
        elsewhere.start(Shape(3))
    assert asked == []


def test_it_is_asked_whole_where_that_is_wanted(elsewhere, asked, monkeypatch):
    monkeypatch.setattr(reach, "_follows", True)
    assert elsewhere.start(Shape(3)).bootstrap[1] == STRANGER
    assert not any("is not asked" in line for line in elsewhere.where_clients_go())


@pytest.mark.parametrize("words", [[], [reach.FLAG]])
@pytest.mark.parametrize(
    "command",
    [
        ["smoke", "--client", "nosuch"],
        ["square", "--client", "nosuch"],
        ["replay", __file__, "--target", "nosuch"],
    ],
    ids=lambda command: command[0],
)
def test_a_command_follows_where_it_is_told_to(monkeypatch, command, words):
    asked = []
    monkeypatch.setattr(reach, "follow", asked.append)
    CliRunner().invoke(main, [*command, *words])
    assert asked == [bool(words)]


def test_brokers_with_a_network_of_their_own_are_ours(monkeypatch):
    """They listen on addresses of a bridge (nemesis: partition, slow-link), not on loopback."""

    class Bridge(Isolations):
        def host(self, node):
            return f"10.9.9.{254 if node is None else node}"

    class Begun(Exception):
        pass

    def keeper(cluster, port):
        raise Begun

    monkeypatch.setattr(process, "find_java", lambda: None)
    monkeypatch.setattr(process, "kafka_home", lambda version: None)
    monkeypatch.setattr(process, "_Dump", lambda cluster: None)
    monkeypatch.setattr(process, "Watchdog", lambda folder: None)
    monkeypatch.setattr(process.jvm, "write_logging", lambda release, folder: None)
    monkeypatch.setattr(process, "free_ports", lambda count: range(9092, 9092 + count))
    monkeypatch.setattr(process.KafkaCluster, "_keeper", keeper)
    cluster = process.KafkaCluster(matrix.release("4.3"), Shape(brokers=2), "test", Bridge())
    with pytest.raises(Begun):
        cluster.start()
    process.remove(cluster.folder)
    assert reach.refusals({0: ("10.9.9.0", 9092), 1: ("10.9.9.1", 9093)}) == []
