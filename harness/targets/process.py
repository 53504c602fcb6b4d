"""`kafka@VERSION`: real Apache Kafka as processes of this machine, one cluster per shape.

A cluster is a folder, a watchdog, whoever keeps its metadata (a ZooKeeper or a KRaft controller
apart, unless the only broker is both) and one JVM per broker. It counts as started when each broker
answers ApiVersions and names every broker and a controller in its Metadata; a process that ends
before that, or a deadline, becomes an error with the end of its log. Stopping is killing: the data
is scratch, and a clean shutdown of a replicated cluster can wait for partners already gone.

A cluster that is late is started once more: on a machine that stalls, sessions with ZooKeeper end
before a broker has registered, and a broker of 1.0 does not always try again.

At most $TOUCHSTONE_JVMS processes (8) live at a time; the cluster unused for longest makes room.
"""

from __future__ import annotations

import os
import socket
import tempfile
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path

from touchstone.harness.model.provenance import Provenance
from touchstone.harness.model.target import (
    Address,
    Endpoint,
    Shape,
    StartFailed,
    Unavailable,
    listener_names,
)
from touchstone.harness.targets import jvm, matrix, probe, reach, released, settings
from touchstone.harness.targets.child import Child, Watchdog, remove
from touchstone.harness.targets.isolation import Isolations
from touchstone.harness.targets.java import find_java, full_version
from touchstone.harness.targets.maven import broker_jar, kafka_home
from touchstone.harness.targets.per_shape import PerShape
from touchstone.harness.targets.ports import HOST, free_ports
from touchstone.harness.targets.release import Release

START_SECONDS = float(os.environ.get("TOUCHSTONE_START_SECONDS", "120"))
STOP_SECONDS = 30.0
DUMP_SECONDS = 180.0  # a stop that dumps classes; 31 s and more on two cores that others use
MOST_PROCESSES = int(os.environ.get("TOUCHSTONE_JVMS") or 8)
POLL_SECONDS = 0.05
FIRST = 0  # the broker that is started before the others where brokers elect the controller
ATTEMPTS = 3  # a port that was free may be taken before a JVM binds it
LATE_ATTEMPTS = 2
# ZooKeeper keeps a killed broker's registration until its session ends, and refuses its successor.
STILL_REGISTERED = ("NodeExists", "already registered")
PORT_TAKEN = ("ddress already in use", "BindException", "port is already allocated")
# The client of ZooKeeper in 1.0 drops its connection to make another; who asks meanwhile gets a
# NullPointerException, which ends a broker that starts (ZkConnection.readData in zkclient 0.10).
_RECONNECTING = 'because "this._zk" is null'
_BY_CHANCE = (*PORT_TAKEN, _RECONNECTING)  # what the next start may well not meet


class Late(StartFailed):
    """Nothing ended, and yet the cluster was not ready at its deadline."""


class KafkaProcess(PerShape["KafkaCluster"]):
    """A Target (see harness/model/target.py) of kind "process"."""

    kind = "process"

    def __init__(
        self,
        version: str,
        *,
        profile: str = "test",
        isolation: Callable[[], Isolations] = Isolations,
    ) -> None:
        release = released.find(version)
        super().__init__(f"kafka@{release.word}", release, most=MOST_PROCESSES)
        self._profile, self._isolation = profile, isolation

    def children(self) -> list[Child]:
        """The processes of its brokers."""
        return [one.child for each in self._clusters.values() for one in each.nodes.values()]

    def available(self) -> str | None:
        try:
            find_java()
            for release in self.needed():
                kafka_home(release)
        except Unavailable as missing:
            return missing.reason
        return self._isolation().unsupported()

    def provenance(self, shape: Shape) -> Provenance:
        """Who answers a case of this shape (harness/model/provenance.py)."""
        jar, sha256 = broker_jar(self.kafka)
        return Provenance(
            release=self.kafka.name, version=self.kafka.version, jar=jar, sha256=sha256,
            java=full_version(find_java()), options=" ".join(jvm.PROFILES[self._profile]),
            brokers=shape.brokers, racks=shape.racks, asked=shape.settings,
            added=settings.added(self.kafka, shape),
        )  # fmt: skip

    def isolate(self, isolation: Callable[[], Isolations]) -> None:
        """What brokers that are started from now on have of their own."""
        self._isolation = isolation

    def pids(self) -> list[int]:
        """Every process of every cluster, those that keep the metadata too (for the benches)."""
        children = [
            child
            for cluster in self._clusters.values()
            for child in (*cluster.keepers, *(node.child for node in cluster.nodes.values()))
        ]
        return [child.pid for child in children if child.pid is not None and child.alive]

    def open(self, shape: Shape) -> KafkaCluster:
        for attempt in range(1, ATTEMPTS + 1):
            cluster = KafkaCluster(self.kafka, shape, self._profile, self._isolation())
            try:
                cluster.start()
                return cluster
            except StartFailed as failed:
                cluster.close(keep_logs=True)
                chance = any(word in str(failed) for word in _BY_CHANCE)
                late = isinstance(failed, Late) and attempt < LATE_ATTEMPTS
                if attempt == ATTEMPTS or not (chance or late):
                    raise
                remove(cluster.folder)
            except BaseException:
                cluster.close()
                raise
        raise AssertionError("unreachable")


def train(version: str) -> None:
    """Have the classes of a release dumped, so that all later starts are short. Raises Unavailable,
    StartFailed.
    """
    java, target = find_java(), KafkaProcess(version)
    home = kafka_home(version)
    if jvm.can_share(java) and not jvm.archive(java, home).exists():
        try:
            target.start(Shape())
        finally:
            target.stop()


class KafkaCluster:
    """The processes of one shape, in one folder."""

    def __init__(self, release: Release, shape: Shape, profile: str, isolation: Isolations) -> None:
        self.release, self.shape, self.profile, self.isolation = release, shape, profile, isolation
        self.java, self.home = find_java(), kafka_home(release)
        self.folder = Path(tempfile.mkdtemp(prefix=f"touchstone-kafka-{release.version}-"))
        self.logs = self.folder / "logs"
        self.keep = bool(os.environ.get("TOUCHSTONE_KEEP"))
        self.watchdog = Watchdog(None if self.keep else self.folder)
        self.cluster_id = jvm.new_id()
        self.nodes: dict[int, BrokerNode] = {}
        self.elects = shape.brokers > 1 and not release.kraft  # brokers stand for controller
        self.keepers: list[Child] = []  # ZooKeeper, or a controller apart
        self.listeners: dict[str, tuple[Address, ...]] = {}  # by name, broker by broker
        self._dump = _Dump(self)

    def start(self) -> None:
        """Every process at once, then wait for the whole."""
        self.logs.mkdir()
        self.isolation.open(self.folder)
        self.host = self.isolation.host(None) or HOST  # of what keeps the metadata
        self.logging = jvm.write_logging(self.release, self.folder)
        brokers = range(self.shape.brokers)
        names = listener_names(self.shape.settings)
        ports = free_ports(self.shape.brokers * (1 + len(names)) + 1)
        hosts = [self.isolation.host(node) or HOST for node in brokers]
        addresses = dict(enumerate(zip(hosts, ports, strict=False)))
        further = iter(ports[len(hosts) :])
        self.listeners = {name: tuple((host, next(further)) for host in hosts) for name in names}
        # Those with a network of their own are not on loopback, and are ours all the same.
        reach.give([*addresses.values(), *chain(*self.listeners.values()), (self.host, ports[-1])])
        keeper = self._keeper(ports[-1])
        deadline = time.monotonic() + START_SECONDS
        for child in self.keepers:
            child.start()
        if not self.release.kraft:
            zookeeper = (self.host, ports[-1])
            self.until(deadline, self.keepers, lambda: _unheard(zookeeper), "ZooKeeper")
        for node, address in addresses.items():
            self.nodes[node] = BrokerNode(self, node, address, self._broker(node, address, keeper))
            self.nodes[node].child.start()
            if self.elects and node == FIRST:
                self.nodes[node].wait(deadline, everybody=False)
        for broker in self.nodes.values():
            broker.wait(deadline, everybody=True)
        self.endpoint = Endpoint(
            tuple(addresses.values()), brokers=addresses, logs=self.logs, nodes=self.nodes,
            started=time.monotonic(), listeners=self.listeners,
        )  # fmt: skip

    def broken(self) -> bool:
        """Whether a process is gone that nobody stopped: the target died under a case."""
        wanted = [node.child for node in self.nodes.values() if node.wanted]
        return not all(child.alive for child in (*self.keepers, *wanted)) or self._moved()

    def _moved(self) -> bool:
        """Whether a fault made another broker than the first the controller.

        Who is in charge decides what every later fault does, so cases are promised the first.
        """
        if not self.elects or not any(node.harmed for node in self.nodes.values()):
            return False
        try:
            return probe.metadata(self.nodes[FIRST].address).controller != FIRST
        except probe.NotReady:
            return True

    def close(self, *, keep_logs: bool = False) -> None:
        """End every process; leave nothing, or the logs of a failure."""
        self._dump.finish()
        for child in (*(node.child for node in self.nodes.values()), *self.keepers):
            child.kill()
        if keep_logs and not self.keep:
            remove(self.folder / "data")
            self.watchdog.spare_folder()
        self.isolation.close()
        self.watchdog.close()

    def _keeper(self, port: int) -> settings.MetadataAddress:
        at = (self.host, port)
        if not self.release.kraft:
            self.keepers.append(self._zookeeper(at))
            return settings.MetadataAddress(zookeeper=f"{self.host}:{port}/kafka")
        if settings.combined(self.release, self.shape):
            return settings.MetadataAddress(controller_id=0, controller=at, bind=at)
        keeper = settings.MetadataAddress(
            controller_id=settings.CONTROLLER_ID, controller=at, bind=at
        )
        data = self._data(f"controller-{keeper.controller_id}")
        rendered = settings.controller(self.release, self.shape, data=str(data), keeper=keeper)
        rendered = settings.with_key_file(rendered)
        jvm.format_node(
            self.release, self.java, self.home, data, node=keeper.controller_id,
            cluster=self.cluster_id,
        )  # fmt: skip
        self.keepers.append(self._child(data.name, jvm.KAFKA, rendered, self._sharing()))
        return keeper

    def _zookeeper(self, at: Address) -> Child:
        source = matrix.zookeeper()
        home = kafka_home(source)
        data = self._data("zookeeper")
        properties = self._write("zookeeper", settings.zookeeper(str(data), at))
        argv = jvm.command(
            self.java, home, jvm.ZOOKEEPER, str(properties), profile="zookeeper",
            logging=jvm.write_logging(source, self.folder),
        )  # fmt: skip
        return Child(argv, log=self.logs / "zookeeper.log", cwd=self.folder, watchdog=self.watchdog)

    def _broker(self, node: int, address: Address, keeper: settings.MetadataAddress) -> Child:
        data = self._data(f"broker-{node}")
        self.isolation.disk(node, data)
        named = {name: at[node] for name, at in self.listeners.items()}
        listening = settings.Listening(address, address, named=named)
        rendered = settings.broker(
            self.release, self.shape, node, data=str(data), listening=listening, keeper=keeper
        )
        if self.release.kraft:
            jvm.format_node(
                self.release, self.java, self.home, data, node=node, cluster=self.cluster_id
            )
        rendered = settings.with_key_file(rendered)
        options = self._dump.options() if node == 0 else self._sharing()
        options = (*options, *settings.jvm_properties(rendered))
        if users := settings.login_modules(self.release, self.shape.settings):
            options = (*options, f"-Djava.security.auth.login.config={self._users(users)}")
        child = self._child(data.name, jvm.KAFKA, rendered, options)
        child.argv = self.isolation.command(node, child.argv)
        return child

    def _child(
        self, name: str, main: str, rendered: dict[str, str], options: tuple[str, ...]
    ) -> Child:
        argv = jvm.command(
            self.java, self.home, main, str(self._write(name, rendered)), profile=self.profile,
            logging=self.logging, options=options,
        )  # fmt: skip
        return Child(argv, log=self.logs / f"{name}.log", cwd=self.folder, watchdog=self.watchdog)

    def _sharing(self) -> tuple[str, ...]:
        return jvm.sharing(jvm.archive(self.java, self.home))

    def _data(self, name: str) -> Path:
        return self.folder / "data" / name

    def _users(self, text: str) -> Path:
        path = self.folder / "jaas.conf"
        path.write_text(text, encoding="utf-8")
        return path

    def _write(self, name: str, rendered: dict[str, str]) -> Path:
        path = self.folder / f"{name}.properties"
        path.write_text(settings.text(rendered), encoding="utf-8")
        return path

    def until(
        self, deadline: float, children: list[Child], lacks: Callable[[], str | None], what: str
    ) -> None:
        """Poll until nothing is lacking; an ended process is a StartFailed, the deadline is Late.
        The message has the end of a log: that of the process that ended, or of the first child,
        which is waited for.
        """
        while lacking := lacks():
            for child in children:
                if child.exit_code is not None:
                    raise StartFailed(self._story(child, f"{what} ended with {child.exit_code}"))
            if time.monotonic() > deadline:
                late = f"{what} was not ready in {START_SECONDS:.0f} s: {lacking}"
                raise Late(self._story(children[0], late))
            time.sleep(POLL_SECONDS)

    def _story(self, child: Child, what: str) -> str:
        return (
            f"kafka@{self.release.version}: {what}; logs are in {self.logs}; "
            f"{child.log.name} says\n{child.excerpt()}"
        )


class BrokerNode:
    """One broker in the hands of the nemesis (the Node of harness/model/target.py)."""

    def __init__(self, cluster: KafkaCluster, node: int, address: Address, child: Child) -> None:
        self.cluster, self.node, self.address, self.child = cluster, node, address, child
        self.wanted = True  # False while somebody has stopped or killed it on purpose
        self.harmed = False  # whether anybody ever did something to it

    def start(self) -> None:
        """Start it again; after `kill` Kafka itself waits for the old session to end first.

        (Its port may also be some client's for a moment, while nobody listens on it.)
        That is broker.session.timeout.ms (9 s) in KRaft, zookeeper.session.timeout.ms (18 s here)
        before it: a shape in a hurry sets them lower.
        """
        self.wanted = True
        deadline = time.monotonic() + START_SECONDS
        while True:
            if not self.child.alive:
                self.child.start()
            try:
                return self.wait(deadline, everybody=False)
            except StartFailed:
                reasons = (*STILL_REGISTERED, *_BY_CHANCE)
                refused = any(word in self.child.said() for word in reasons)
                if self.child.alive or not refused or time.monotonic() > deadline:
                    raise

    def stop(self) -> None:
        self.wanted, self.harmed = False, True
        self.child.stop(STOP_SECONDS)

    def kill(self) -> None:
        self.wanted, self.harmed = False, True
        self.child.kill()

    def pause(self) -> None:
        self.harmed = True
        self.child.pause()

    def resume(self) -> None:
        self.child.resume()

    def wait(self, deadline: float, *, everybody: bool) -> None:
        """Until it serves and sees itself, or the whole cluster, alive under a controller."""
        expected = set(self.cluster.nodes) if everybody else {self.node}
        if settings.draws_ids(self.cluster.shape):  # nobody knows them beforehand
            expected = set()
        children = [self.child, *self.cluster.keepers]
        self.cluster.until(
            deadline, children, lambda: probe.lacks(self.address, expected), f"broker {self.node}"
        )


class _Dump:
    """The first broker of a release on this machine leaves its classes to all later ones."""

    def __init__(self, cluster: KafkaCluster) -> None:
        self.cluster = cluster
        self.final = jvm.archive(cluster.java, cluster.home)
        self.unfinished = cluster.folder / "classes.jsa"
        self.dumps = False

    def options(self) -> tuple[str, ...]:
        trained = self.final.exists() or not jvm.can_share(self.cluster.java)
        passing = self.cluster.release.folder is not None  # its jars may be others tomorrow
        if trained or passing or self.cluster.profile != "test":
            return jvm.sharing(self.final)
        self.dumps = True
        return jvm.dumping(self.unfinished)

    def finish(self) -> None:
        """The dump is made at a clean end only, so this one broker is asked before it is killed."""
        node = self.cluster.nodes.get(0)
        if not self.dumps or node is None or not node.child.alive:
            return
        node.child.stop(DUMP_SECONDS)
        if self.unfinished.exists() and not self.final.exists():
            # The dump carries no name of its own, so moving it is safe; a rename is atomic only
            # within one file system, and the cache may be on another one.
            partial = self.final.with_suffix(".partial")
            partial.write_bytes(self.unfinished.read_bytes())
            partial.rename(self.final)


def _unheard(address: Address) -> str | None:
    try:
        socket.create_connection(address, timeout=1).close()
    except OSError as error:
        return f"it does not accept connections ({error.strerror or error})"
    return None
