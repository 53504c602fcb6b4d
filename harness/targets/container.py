"""`docker@VERSION`: real Apache Kafka in containers. The only door to docker and testcontainers.

The same settings, readiness and shapes as `kafka@VERSION`; what differs is who runs the processes.
Each broker publishes the port it listens on under the same number, so what it advertises is true on
the host, and brokers speak to each other on a network of their own (KIP-103's listener names).

The image is the first of: one built here by `ci/images/build.py` (made on the spot where Java and
Maven are), else Apache's own `apache/kafka` where the engine has it or a registry answers. The
latter exists from 3.7 on. testcontainers' reaper is itself an image to pull, so it is
off unless the user says otherwise; containers carry the number of the process they belong to, and
those of a dead one are removed by the next run.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlparse

import docker
from docker.errors import DockerException, ImageNotFound, NotFound
from docker.models.containers import Container

os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")  # read when it is imported

from testcontainers.core.container import DockerContainer
from testcontainers.core.network import Network

from touchstone.harness.model.target import (
    Address,
    Endpoint,
    OutOfScope,
    Shape,
    StartFailed,
    Unavailable,
    listener_names,
)
from touchstone.harness.targets import jvm, matrix, probe, reach, released, settings
from touchstone.harness.targets.child import excerpt
from touchstone.harness.targets.per_shape import PerShape
from touchstone.harness.targets.ports import free_ports
from touchstone.harness.targets.process import (
    ATTEMPTS,
    FIRST,
    MOST_PROCESSES,
    POLL_SECONDS,
    PORT_TAKEN,
    START_SECONDS,
    STOP_SECONDS,
)
from touchstone.harness.targets.release import Release

BUILD = Path(__file__).resolve().parents[2] / "ci" / "images" / "build.py"
BUILD_SECONDS = 900
APACHES_SINCE = (3, 7)  # KIP-975
OWNER = "touchstone.pid"
EVERYWHERE = "0.0.0.0"
_INTERNAL_PORT, _KEEPER_PORT = 19092, 19093

_OURS = """
printf '%s' "$LOGGING" > /tmp/logging.properties
printf '%s' "$SETTINGS" > /tmp/server.properties
run() { main=$1; shift
    exec java $OPTIONS -Dlog4j.configuration=file:/tmp/logging.properties \
        -Dlog4j2.configurationFile=file:/tmp/logging.properties -cp '/kafka/*' "$main" "$@"; }
if [ -n "$CLUSTER" ] && [ ! -e /tmp/data/meta.properties ]; then
    (run kafka.tools.StorageTool format -t "$CLUSTER" -c /tmp/server.properties) || exit 1
fi
run "$MAIN" /tmp/server.properties
"""
_APACHES = """
printf '%s' "$SETTINGS" > /tmp/server.properties
export KAFKA_HEAP_OPTS="$OPTIONS"
if [ ! -e /tmp/data/meta.properties ]; then
    /opt/kafka/bin/kafka-storage.sh format -t "$CLUSTER" -c /tmp/server.properties || exit 1
fi
exec /opt/kafka/bin/kafka-server-start.sh /tmp/server.properties
"""


@dataclass(frozen=True, slots=True)
class Image:
    """An image of one release and the script that turns $SETTINGS into a running node."""

    reference: str
    script: str


class KafkaContainers(PerShape["ContainerCluster"]):
    """A Target (see harness/model/target.py) of kind "container"."""

    kind = "container"

    def __init__(self, version: str) -> None:
        if released.is_folder(version):
            raise ValueError("an image is made of a version, as 3.6.2, not of a folder")
        release = released.find(version)
        super().__init__(f"docker@{release.version}", release, most=MOST_PROCESSES)

    def available(self) -> str | None:
        try:
            with engine() as client:
                for release in self.needed():
                    find_image(client, release)
        except Unavailable as missing:
            return missing.reason
        return None

    def open(self, shape: Shape) -> ContainerCluster:
        if names := listener_names(shape.settings):
            raise OutOfScope(f"{self.name} publishes one port a broker, not {', '.join(names)}")
        with engine() as client:
            remove_orphans(client)
            images = [find_image(client, release) for release in self.needed()]
        for attempt in range(1, ATTEMPTS + 1):
            cluster = ContainerCluster(self.kafka, shape, images)
            try:
                cluster.start()
                return cluster
            except DockerException as refused:
                cluster.close()
                if attempt == ATTEMPTS or not any(word in str(refused) for word in PORT_TAKEN):
                    raise StartFailed(f"{self.name}: the engine refused: {refused}") from refused
            except BaseException:
                cluster.close()
                raise
        raise AssertionError("unreachable")


@contextlib.contextmanager
def engine() -> Iterator[docker.DockerClient]:
    """A client of the engine that answers, else Unavailable."""
    try:
        _knock()
        client = docker.from_env(timeout=60)
    except (DockerException, OSError):
        raise Unavailable("no Docker engine") from None
    with contextlib.closing(client):
        yield client


def _knock() -> None:
    """Raise OSError if nobody is there; the client's constructor would leak its socket then."""
    where = urlparse(os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock")
    if where.scheme == "unix":
        with socket.socket(socket.AF_UNIX) as door:
            door.settimeout(5)
            door.connect(where.path)


def find_image(client: docker.DockerClient, release: Release) -> Image:
    """The first of the three that can be had."""
    ours = f"touchstone/kafka:{release.version}"
    apaches = f"apache/kafka:{release.version}"
    for reference, script in ((ours, _OURS), (apaches, _APACHES)):
        with contextlib.suppress(ImageNotFound):
            client.images.get(reference)
            return Image(reference, script)
    built = subprocess.run(
        [sys.executable, str(BUILD), release.version], capture_output=True, text=True,
        timeout=BUILD_SECONDS, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if built.returncode == 0:
        return Image(ours, _OURS)
    why = (built.stderr.strip().splitlines() or ["it said nothing"])[-1]
    if release.number < APACHES_SINCE:
        raise Unavailable(f"no image of Kafka {release.version}: {why}")
    try:
        client.images.pull(apaches)
    except (DockerException, OSError) as error:
        raise Unavailable(f"no image of Kafka {release.version}: {why}; {error}") from error
    return Image(apaches, _APACHES)


def remove_orphans(client: docker.DockerClient) -> None:
    """Containers and networks of runs of this machine that were killed."""
    wanted = {"filters": {"label": OWNER}}
    for container in client.containers.list(all=True, **wanted):
        if not _is_running(container.labels[OWNER]):
            with contextlib.suppress(NotFound):
                container.remove(force=True, v=True)
    for network in client.networks.list(**wanted):
        if not _is_running(network.attrs["Labels"][OWNER]):
            with contextlib.suppress(NotFound):
                network.remove()


def _is_running(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class ContainerCluster:
    """The containers of one shape on a network of their own."""

    def __init__(self, release: Release, shape: Shape, images: list[Image]) -> None:
        self.release, self.shape, self.images = release, shape, images
        self.host = published_host()
        self.cluster_id = jvm.new_id()
        self.labels = {OWNER: str(os.getpid())}
        self.network = Network(docker_network_kw={"labels": self.labels})
        self.keepers: list[ContainerNode] = []
        self.nodes: dict[int, ContainerNode] = {}

    def start(self) -> None:
        self.network.create()
        deadline = time.monotonic() + START_SECONDS
        brokers = range(self.shape.brokers)
        ports = free_ports(len(brokers))
        addresses = {node: (self.host, port) for node, port in zip(brokers, ports, strict=True)}
        reach.give(addresses.values())  # by DOCKER_HOST it may be another machine
        keeper = self._keeper()
        for child in self.keepers:
            child.container.start()
        for node, address in addresses.items():
            self.nodes[node] = self._broker(node, address, keeper)
            self.nodes[node].container.start()
            if node == FIRST and len(addresses) > 1 and not self.release.kraft:
                self.nodes[node].wait(deadline, everybody=False)  # so that it is the controller
        self.endpoint = Endpoint(tuple(addresses.values()), brokers=addresses, nodes=self.nodes)
        for broker in self.nodes.values():
            broker.wait(deadline, everybody=True)

    def broken(self) -> bool:
        wanted = [node for node in (*self.keepers, *self.nodes.values()) if node.wanted]
        return not all(node.status() in ("running", "paused") for node in wanted)

    def close(self) -> None:
        for node in (*self.nodes.values(), *self.keepers):
            if node.container.get_wrapped_container() is not None:
                with contextlib.suppress(NotFound):
                    node.container.stop(force=True, delete_volume=True)
        with contextlib.suppress(NotFound, AssertionError):
            self.network.remove()

    def _keeper(self) -> settings.MetadataAddress:
        if not self.release.kraft:
            rendered = settings.zookeeper("/tmp/data", (EVERYWHERE, _KEEPER_PORT))
            self.keepers.append(
                self._node("zookeeper", jvm.ZOOKEEPER, rendered, self.images[-1], "zookeeper")
            )
            return settings.MetadataAddress(zookeeper=f"zookeeper:{_KEEPER_PORT}/kafka")
        bind = (EVERYWHERE, _KEEPER_PORT)
        if settings.combined(self.release, self.shape):
            return settings.MetadataAddress("", 0, ("broker-0", _KEEPER_PORT), bind)
        keeper = settings.MetadataAddress(
            "", settings.CONTROLLER_ID, ("controller", _KEEPER_PORT), bind
        )
        rendered = settings.controller(self.release, self.shape, data="/tmp/data", keeper=keeper)
        self.keepers.append(self._node("controller", jvm.KAFKA, rendered, self.images[0]))
        return keeper

    def _broker(
        self, node: int, address: Address, keeper: settings.MetadataAddress
    ) -> ContainerNode:
        listening = settings.Listening(
            (EVERYWHERE, address[1]), address, (f"broker-{node}", _INTERNAL_PORT)
        )
        rendered = settings.broker(
            self.release, self.shape, node, data="/tmp/data", listening=listening, keeper=keeper
        )
        made = self._node(f"broker-{node}", jvm.KAFKA, rendered, self.images[0])
        made.container.with_bind_ports(address[1], address[1])
        made.node, made.address = node, address
        return made

    def _node(
        self, name: str, main: str, rendered: dict[str, str], image: Image, profile: str = "test"
    ) -> ContainerNode:
        container = DockerContainer(
            image.reference, hostname=name, labels=self.labels, entrypoint=["/bin/sh", "-c"]
        )
        container.with_command([image.script])
        container.with_network(self.network).with_network_aliases(name)
        release = self.release if main == jvm.KAFKA else matrix.zookeeper()
        environment = {
            "SETTINGS": settings.text(rendered),
            "LOGGING": jvm.logging_settings(release),
            "OPTIONS": " ".join(jvm.PROFILES[profile]),
            "MAIN": main,
            "CLUSTER": self.cluster_id if release.kraft else "",
        }
        for key, value in environment.items():
            container.with_env(key, value)
        return ContainerNode(self, name, container)


class ContainerNode:
    """One container in the hands of the nemesis (the Node of harness/model/target.py)."""

    def __init__(self, cluster: ContainerCluster, name: str, container: DockerContainer) -> None:
        self.cluster, self.name, self.container = cluster, name, container
        self.node, self.address, self.internal_port = -1, ("", 0), _INTERNAL_PORT
        self.wanted = True

    @property
    def _wrapped(self) -> Container:
        return self.container.get_wrapped_container()

    @property
    def pid(self) -> int:
        """Its first process as the host counts; its network namespace can be entered by it."""
        self._wrapped.reload()
        return self._wrapped.attrs["State"]["Pid"]

    @property
    def ip(self) -> str:
        """Where the other brokers reach it."""
        self._wrapped.reload()
        networks = self._wrapped.attrs["NetworkSettings"]["Networks"]
        return next(iter(networks.values()))["IPAddress"]

    def status(self) -> str:
        try:
            self._wrapped.reload()
        except NotFound:
            return "removed"
        return self._wrapped.status

    def start(self) -> None:
        self.wanted = True
        deadline = time.monotonic() + START_SECONDS
        while True:
            if self.status() != "running":
                self._wrapped.start()
            try:
                return self.wait(deadline, everybody=False)
            except StartFailed:
                # As in process.py: ZooKeeper refuses until the killed one's session is over.
                if self.cluster.release.kraft or time.monotonic() > deadline:
                    raise

    def stop(self) -> None:
        self.wanted = False
        self._wrapped.stop(timeout=int(STOP_SECONDS))

    def kill(self) -> None:
        self.wanted = False
        self._wrapped.kill()
        self._wrapped.wait()

    def pause(self) -> None:
        self._wrapped.pause()

    def resume(self) -> None:
        self._wrapped.unpause()

    def wait(self, deadline: float, *, everybody: bool) -> None:
        """Until it serves and sees itself, or the whole cluster, alive under a controller."""
        expected = set(self.cluster.nodes) if everybody else {self.node}
        while not probe.sees(self.address, expected):
            for node in (self, *self.cluster.keepers):
                status = node.status()
                if status not in ("running", "created", "restarting"):
                    raise StartFailed(self._story(node, f"{node.name} is {status}"))
            if time.monotonic() > deadline:
                raise StartFailed(
                    self._story(self, f"{self.name} was not ready in {START_SECONDS:.0f} s")
                )
            time.sleep(POLL_SECONDS)

    def _story(self, node: ContainerNode, what: str) -> str:
        """The error message; the containers are removed, so their logs are kept in a folder."""
        kept = Path(tempfile.mkdtemp(prefix=f"touchstone-docker-{self.cluster.release.version}-"))
        for each in (*self.cluster.nodes.values(), *self.cluster.keepers):
            if each.container.get_wrapped_container() is not None:
                (kept / f"{each.name}.log").write_bytes(b"".join(each.container.get_logs()))
        said = b"".join(node.container.get_logs()).decode("utf-8", "replace")
        return (
            f"docker@{self.cluster.release.version}: {what}; logs are in {kept}; "
            f"{node.name} says\n{excerpt(said)}"
        )


def published_host() -> str:
    """Where published ports are reached: this machine, or the one the engine is on."""
    where = urlparse(os.environ.get("DOCKER_HOST", ""))
    elsewhere = where.hostname if where.scheme in ("tcp", "http", "https") else None
    return elsewhere or "127.0.0.1"
