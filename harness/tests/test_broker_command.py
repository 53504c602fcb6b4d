"""What `touchstone broker` refuses before it serves: in words of the setting, with exit code 4."""

import os
import signal
import sys

import pytest
from click.testing import CliRunner

from touchstone.harness.__main__ import main
from touchstone.harness.cli import broker as command_module
from touchstone.reference_impl.io.server import RunningCluster, build


@pytest.mark.parametrize("words", ["proxy:1", "proxy:1,proxy", "proxy:1,0.0.0.0:0"])
def test_addresses_that_brokers_cannot_have_are_refused(words):
    said = CliRunner().invoke(main, ["broker", "--brokers", "2", "--advertised-listeners", words])
    assert said.exit_code == 4
    assert "advertised.listeners" in said.output
    assert words.split(",")[-1].partition(":")[0] in said.output


def test_all_interfaces_need_an_address_for_clients():
    said = CliRunner().invoke(main, ["broker", "--host", "0.0.0.0"])
    assert said.exit_code == 4
    (line,) = [each for each in said.output.splitlines() if each.startswith("Error: ")]
    assert line == (
        "Error: advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. "
        "Use a routable IP address. "
        "(--advertised-listeners HOST:PORT or advertise=[...], one for each broker)"
    )


def test_a_setting_that_nobody_obeys_ends_the_command_before_it_listens():
    said = CliRunner().invoke(
        main, ["broker", "--port", "0", "--config", "remote.log.storage.system.enable=true"]
    )
    assert said.exit_code == 4
    assert (
        "remote.log.storage.system.enable=true is not obeyed, so it is refused: there"
        in said.output
    )


KAFKAS = """\
# the parts of Kafka 4.3's config/server.properties that differ in what comes of them
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://:9093
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL
num.network.threads=3
log.dirs=/tmp/kraft-combined-logs
log.segment.bytes=1073741824
my.plugin.setting=1
"""


def test_each_setting_of_a_file_is_listed_with_what_it_comes_to(monkeypatch, tmp_path):
    built = []

    def serve_nobody(cluster, ready):
        built.append(cluster)
        cluster.stop()

    monkeypatch.setattr(RunningCluster, "run_forever", serve_nobody)
    file = tmp_path / "server.properties"
    file.write_text(KAFKAS)
    words = ["broker", "--properties", str(file), "--config", "num.network.threads=5"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    head, *rows = done.stderr.splitlines()
    assert head == f"{file}: 10 settings: 2 harmless, 7 obeyed, 1 unknown"
    kinds = {name.strip(":"): kind for kind, name, *_ in map(str.split, rows)}
    assert kinds == {
        "process.roles": "obeyed", "node.id": "obeyed", "listeners": "obeyed",
        "controller.quorum.bootstrap.servers": "harmless", "advertised.listeners": "obeyed",
        "controller.listener.names": "obeyed", "listener.security.protocol.map": "obeyed",
        "log.dirs": "harmless", "log.segment.bytes": "obeyed", "my.plugin.setting": "unknown",
    }  # fmt: skip
    assert "  harmless  log.dirs: logs are in memory without --data DIR" in rows
    (cluster,) = built
    assert list(cluster.cluster.brokers) == [1]


def test_all_that_a_file_says_and_nobody_obeys_is_named_at_once(tmp_path):
    file = tmp_path / "server.properties"
    file.write_text("num.partitions=many\nremote.log.storage.system.enable = true\nnode.id=x\n")
    done = CliRunner().invoke(main, ["broker", "--properties", str(file), "--config", "node.id=2"])
    assert done.exit_code == 4
    assert done.stderr.splitlines()[-1] == (
        f"Error: {file}: refused, for the reasons above: num.partitions=many,"
        " remote.log.storage.system.enable=true"
    )
    assert "num.partitions=many: Invalid value many for configuration" in done.stderr


@pytest.mark.parametrize(("words", "racks"), [([], ["r", "r"]), (["--racks", "a,b"], ["a", "b"])])
def test_a_rack_is_a_setting_too(monkeypatch, words, racks):
    built = []
    monkeypatch.setattr(
        RunningCluster,
        "run_forever",
        lambda cluster, ready: built.append(cluster) or cluster.stop(),
    )
    words = ["broker", "--brokers", "2", "--config", "broker.rack=r", *words]
    assert CliRunner().invoke(main, words).exit_code == 0
    assert [node.rack for node in built[0].cluster.brokers.values()] == racks


@pytest.fixture
def started(monkeypatch):
    """What a start says on stderr; the broker serves nobody and ends."""

    def start(*words: str, loopback: bool = True) -> list[str]:
        monkeypatch.setattr(RunningCluster, "run_forever", lambda cluster, ready: cluster.stop())
        monkeypatch.setattr(command_module, "is_loopback", lambda host: loopback)
        done = CliRunner().invoke(main, ["broker", "--port", "0", *words])
        assert done.exit_code == 0, done.output
        return [
            line.partition(":")[2].strip() for line in done.stderr.splitlines() if "warning" in line
        ]

    return start


def test_who_can_do_what_he_likes_is_said_once_at_the_start(started):
    assert started() == []
    assert started(loopback=False) == [
        "listening on 127.0.0.1: nobody is authenticated here, and whoever reaches it may do"
        " everything"
    ]
    assert started("--faults-http", "0") == [
        "every process of this machine may use the fault port (--faults-token)"
    ]
    assert started("--faults-http", "0", "--faults-token", "s") == []


def test_metrics_are_for_this_machine_unless_it_is_told_otherwise(started):
    assert started("--metrics-port", "0") == []
    warned = "metrics on 127.0.0.1: whoever reaches them is told the names of all topics"
    assert warned in started("--metrics-port", "0", "--metrics-host", "127.0.0.1", loopback=False)


def test_a_port_for_metrics_without_their_library_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "touchstone.reference_impl.io.metrics_http", None)
    said = CliRunner().invoke(main, ["broker", "--port", "0", "--metrics-port", "0"])
    assert said.exit_code == 3
    assert "pip install " in said.output


def test_a_signal_that_comes_as_soon_as_it_is_ready_ends_it_cleanly():
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        for number in before:
            build().run_forever(lambda number=number: os.kill(os.getpid(), number))
    finally:
        signal.set_wakeup_fd(-1)
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_listener_is_open_unless_it_asks_who_comes(started):
    scram = "listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config"
    module = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
    said = started(
        "--config", "listeners=PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
        "--config", "sasl.enabled.mechanisms=SCRAM-SHA-256",
        "--config", f"{scram}={module}",
        "--add-scram", "SCRAM-SHA-256=[name=alice,password=secret]",
        loopback=False,
    )  # fmt: skip
    assert len(said) == 1  # of the first


def test_a_user_that_cannot_be_is_refused():
    said = CliRunner().invoke(main, ["broker", "--add-scram", "SCRAM-SHA-1=[name=a,password=b]"])
    assert said.exit_code == 4
    assert "The add-scram mechanism SCRAM-SHA-1 is not supported." in said.output
