"""`FILE.toml`, or the name of one that we ship: a target that a file describes.

What the file has an address for is taken as it is, with the file's commands to harm it. What the
file says how to start is started, one cluster for each number of brokers, racks and settings that
it can be given, started again when it died, and ended with the run. Either way the cluster is then
examined like any external target (`external`): ids, racks and the settings in force are its own.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import shutil
import threading
from collections.abc import Hashable, Iterable
from dataclasses import replace
from pathlib import Path

from touchstone.harness.model.rights import Right
from touchstone.harness.model.target import (
    LISTENERS,
    Address,
    Endpoint,
    OutOfScope,
    Setting,
    Shape,
    StartFailed,
    Unavailable,
    Versions,
)
from touchstone.harness.targets import image, probe, reach, target_file, templates, tools
from touchstone.harness.targets.child import Child, remove
from touchstone.harness.targets.commanded import CommandedNode
from touchstone.harness.targets.described_cluster import ANSWER_SECONDS, DescribedCluster
from touchstone.harness.targets.description import Description, Start
from touchstone.harness.targets.external import ExternalTarget
from touchstone.harness.targets.process import ATTEMPTS, MOST_PROCESSES, PORT_TAKEN

# How settings of groups, transactions and their internal topics begin.
COORDINATION = ("group.", "offsets.", "share.", "transaction.")
# Claims that move share groups set this, and place the logs of their coordinators themselves.
SHARE_STATES = "share.coordinator.state.topic.num.partitions"
CLUSTERS = 3  # at a time, where each is one small process


class DescribedTarget:
    """A Target (see harness/model/target.py) of kind "file"."""

    kind = "file"

    def __init__(self, file: Path, most: int | None = None) -> None:
        """`most`: how many brokers it may run at a time, of all its clusters."""
        self.most = most
        self.described: Description = target_file.load(Path(file))
        self.name = self.described.name
        self.chosen: str | None = None  # the release that it is held against, as a user says
        self.owned = self.described.start is not None  # whether it is ours to start again
        self._clusters: dict[Shape, _Running] = {}  # the least recently used one first
        self._failed: dict[Shape, str] = {}  # a start that failed costs its deadline once
        self._refused: str | None = None  # why nothing can be started here, once that is known
        self._cache: Path | None = None
        self.login = self._login()
        self._latest = self._seen(self.described.address)
        self._used = threading.local()  # by each thread: cases may be on several clusters
        self._lock = threading.RLock()
        atexit.register(self.stop)

    @property
    def release(self) -> str | None:
        """The release that a user chose, else the one that the file names, else the one whose
        versions it advertises.
        """
        if self.chosen is not None:
            return self.chosen
        if self.described.release is not None:
            return self.described.release
        with contextlib.suppress(probe.NotReady, Unavailable):
            self.advertised()
            return self._latest.release
        return None

    def available(self) -> str | None:
        if self.described.start is None:
            return self._latest.available()
        with self._lock:
            if self._refused is None and self._cache is None:
                try:
                    self._prepare(self.described.start)
                except Unavailable as missing:
                    self._refused = missing.reason
            return self._refused

    @property
    def addresses(self) -> tuple[Address, ...]:
        """Where it runs already, by the file; empty where it is started here."""
        return self.described.address if self.described.start is None else ()

    def finds_nobody(self) -> str | None:
        return self._latest.finds_nobody() if self.addresses else None

    def missing_rights(self, prefix: str) -> frozenset[Right]:
        return self._latest.missing_rights(prefix) if self.addresses else frozenset()

    def where_clients_go(self) -> list[str]:
        return self._latest.where_clients_go() if self.addresses else []

    def start(self, shape: Shape) -> Endpoint:
        with self._lock:
            if self.described.start is None:
                return self._harmed(shape)
            reason = self.available()
            if reason:
                raise Unavailable(reason)
            wanted = self._startable(self.described.start, shape)
            running = self._clusters.pop(wanted, None)
            if running is not None and (running.cluster.broken() or running.moved(shape)):
                running.cluster.close()
                running = None
            if running is None:
                running = self._open(wanted)
            self._clusters[wanted] = running
            self._latest = self._used.last = running.external
            return running.endpoint(shape, self._settings())

    def forget(self) -> None:
        """Look again who its brokers are; what is started here is examined when it is started."""
        if self.addresses:
            self._latest.forget()

    def cluster_of(self, shape: Shape) -> Shape | None:
        """The cluster that serves this shape, of those that are started: equal for shapes that
        share one. Raises Unavailable.
        """
        start = self.described.start
        return None if start is None else self._startable(start, shape)

    @property
    def room(self) -> int:
        """How many of its clusters cases may use at a time."""
        start = self.described.start
        small = start is not None and start.per == "cluster" and not (start.image or start.before)
        fixed = start is None or start.port is not None
        return min(CLUSTERS, self.most or MOST_PROCESSES) if small and not fixed else 1

    def keep(self, clusters: Iterable[Hashable]) -> None:
        """Let these be the last to be closed: there are cases on them."""
        with self._lock:
            for shape in clusters:
                if isinstance(shape, Shape) and shape in self._clusters:
                    self._clusters[shape] = self._clusters.pop(shape)

    def advertised(self) -> Versions:
        with self._lock:
            if self.owned and not self._clusters:
                assert self.described.start is not None
                try:
                    self.start(Shape(min(self.described.start.brokers or (1,))))
                except StartFailed as failed:
                    raise Unavailable(str(failed)) from None
            return self._latest.advertised()

    def settings(self) -> dict[str, Setting]:
        """The settings in force: by its own answer, else by the file."""
        return self._settings() | self._external.settings()

    def alter(self, changes: dict[str, str | None]) -> str | None:
        """Change dynamic settings of the cluster used last; why that was refused, in words."""
        return self._external.alter(changes)

    @property
    def has_twins(self) -> bool:
        """Whether clusters beside the first serve a purpose: their brokers can be harmed one by
        one, which those of one process cannot, and their ports differ.
        """
        start = self.described.start
        return self.draws_ports and start is not None and start.per == "broker"

    @property
    def draws_ports(self) -> bool:
        """Whether it is started here, at ports that are free: several can stand side by side."""
        start = self.described.start
        return start is not None and start.port is None

    def twin(self) -> DescribedTarget:
        """Another of the same file, with room for one cluster of its own."""
        return DescribedTarget(self.described.file, most=1)

    def children(self) -> list[Child]:
        """The processes of its brokers."""
        running = [one.cluster for one in list(self._clusters.values())]
        return [each.child for cluster in running for each in cluster.processes]

    def stop(self) -> None:
        with self._lock:
            while self._clusters:
                self._clusters.popitem()[1].cluster.close()
            self._failed.clear()

    @property
    def _external(self) -> ExternalTarget:
        """The cluster that this thread has used last, as an external target."""
        found: ExternalTarget = getattr(self._used, "last", self._latest)
        return found

    def _settings(self) -> dict[str, Setting]:
        return {name: Setting(value) for name, value in self.described.settings.items()}

    def _seen(self, addresses: tuple[Address, ...]) -> ExternalTarget:
        external = ExternalTarget(addresses, self.login)
        external.name = self.described.name
        return external

    def _login(self) -> reach.Login | None:
        """How to log in, by the file. Raises ValueError, with one line."""
        if not (self.described.client or self.described.command_config):
            return None
        login = importlib.import_module("touchstone.harness.targets.login")
        found: reach.Login | None = login.of_description(self.described)
        return found

    def _prepare(self, start: Start) -> None:
        """Have everything that a start needs. Raises Unavailable."""
        lacking = tools.missing(start.needs)
        if lacking:
            raise Unavailable(lacking)
        self._cache = tools.built(self.described)
        if start.image is not None:
            image.ask_engine()
            image.have(start.image)
            return
        for key, command in (
            ("start.command", start.command),
            *(("start.before.command", process.command) for process in start.before),
        ):
            self._program(key, command)

    def _program(self, key: str, command: templates.Command) -> None:
        """Raise Unavailable unless the command's program is there."""
        values = tools.constants(self.described, self._cache)
        program = str(command[0])
        if templates.names(program) <= values.keys():
            program = templates.fill(program, values)
            if shutil.which(program) is None:
                raise Unavailable(
                    f"no program {program!r} ({key} of {self.described.file}): install it, or"
                    " write its path"
                )

    def _startable(self, start: Start, shape: Shape) -> Shape:
        """The shape of the cluster that is started for this one: what can be given of it."""
        brokers = shape.brokers
        if start.brokers is not None and brokers not in start.brokers:
            if brokers > 1:
                can = " or ".join(map(str, start.brokers))
                raise OutOfScope(f"{brokers} brokers are wanted, {self.name} can have {can}")
            brokers = start.brokers[0]
        racks = shape.racks if start.takes_racks else ()
        if any(racks) and brokers != shape.brokers:
            raise OutOfScope(f"{self.name} cannot have 1 broker with a rack")
        return Shape(brokers, racks if any(racks) else (), self._handed(start, shape))

    def _handed(self, start: Start, shape: Shape) -> dict[str, str]:
        """The settings that it can be given and does not have by the file."""
        if start.settings is None:
            return {}
        return {
            name: value
            for name, value in shape.config
            if start.settings.takes(name) and self.described.settings.get(name) != value
            if name != LISTENERS  # where it listens, the file says
        }

    def _open(self, wanted: Shape) -> _Running:
        """A started cluster of this shape. Raises StartFailed, at once the second time.

        A process that ends by itself may have been unlucky: on a busy machine a broker loses its
        ZooKeeper session while it starts. It is started once more, for what is remembered keeps
        every case of this shape from being judged.
        """
        if wanted in self._failed:
            raise StartFailed(self._failed[wanted])
        assert self.described.start is not None
        self._make_room(self.described.start, wanted)
        ended = 0
        for attempt in range(1, ATTEMPTS + 1):
            cluster = DescribedCluster(self.described, wanted, self._cache, self.login)
            try:
                cluster.start()
                external = self._seen(cluster.addresses)
                external.coordinators = wanted.brokers == 1 or asks_for_coordinators(wanted)
                if external.coordinators:
                    external.make_internal_topics(wanted, wanted.settings)
                return _Running(cluster, external)
            except StartFailed as failed:
                taken = any(word in str(failed) for word in PORT_TAKEN)
                ended += cluster.broken() and not taken
                cluster.close(keep_logs=True)
                again = self.described.start.port is None if taken else ended == 1
                if attempt == ATTEMPTS or not again:
                    said = f"tried twice: {failed}" if ended == 2 else str(failed)
                    self._failed[wanted] = said
                    raise StartFailed(said) from failed
                remove(cluster.folder)
            except BaseException:
                cluster.close()
                raise
        raise AssertionError("unreachable")

    def _make_room(self, start: Start, wanted: Shape) -> None:
        """Close the clusters unused for longest; all of them where the port is always the same."""
        most = self.most or MOST_PROCESSES
        most = 0 if start.port is not None else most - _processes(start, wanted)
        while self._clusters and sum(_processes(start, each) for each in self._clusters) > most:
            self._clusters.pop(next(iter(self._clusters))).cluster.close()

    def _harmed(self, shape: Shape) -> Endpoint:
        """What runs already, with the file's commands to harm it."""
        endpoint = self._latest.start(shape)
        settings = endpoint.settings
        if settings is not None:
            endpoint = replace(endpoint, settings=self._settings() | dict(settings))
        if not self.described.control:
            return endpoint
        brokers = probe.metadata(self.described.address[0], ANSWER_SECONDS).brokers
        nodes = {
            node: CommandedNode(self.described, node, address) for node, address in brokers.items()
        }
        return replace(endpoint, brokers=brokers, nodes=nodes)


class _Running:
    """A started cluster as an external target; one endpoint for each shape that it serves."""

    def __init__(self, cluster: DescribedCluster, external: ExternalTarget) -> None:
        self.cluster, self.external = cluster, external
        self._endpoints: dict[Shape, Endpoint] = {}

    def endpoint(self, shape: Shape, described: dict[str, Setting]) -> Endpoint:
        if shape not in self._endpoints:
            self._endpoints[shape] = self._made(shape, described)
        return self._endpoints[shape]

    def moved(self, shape: Shape) -> bool:
        """Whether faults have taken from a broker all that it was promised to coordinate, or have
        left one that runs and answers nobody. What else they moved is looked up again.
        """
        whole = all(each.wanted and not each.frozen for each in self.cluster.processes)
        if not self.cluster.harmed or not whole or len(self.cluster.processes) == 1:
            return False
        self.cluster.harmed = False
        self._endpoints.clear()
        return self.cluster.deaf() or self.external.coordinates_no_more(shape)

    def _made(self, shape: Shape, described: dict[str, Setting]) -> Endpoint:
        found = self.external.start(shape)
        sight = probe.metadata(self.external.addresses[0], ANSWER_SECONDS)
        handed = self.cluster.shape.settings
        in_force = {**described, **{name: Setting(value) for name, value in handed.items()}}
        lacks = [
            name for name, value in shape.config
            if name not in in_force or in_force[name].value != value
        ]  # fmt: skip
        return replace(
            found,
            brokers=sight.brokers,
            nodes=self.cluster.nodes(sight),
            logs=self.cluster.logs,
            started=self.cluster.started,
            settings={**in_force, **(found.settings or {})} if lacks else None,
        )


def asks_for_coordinators(shape: Shape) -> bool:
    """Whether claims about groups or transactions are asked of a cluster of this shape: all that
    want several brokers set something of them. The others get a cluster without internal topics:
    whoever stops a broker would wait for a hundred partitions that nobody looks at.
    """
    if SHARE_STATES in shape.settings:
        return False
    return any(name.startswith(COORDINATION) for name in shape.settings)


def _processes(start: Start, shape: Shape) -> int:
    return (1 if start.per == "cluster" else shape.brokers) + len(start.before)
