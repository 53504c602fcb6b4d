"""The processes of a cluster that ages: brokers with ids of their own, of a release that changes.

Like `kafka@` (targets/process.py) it has a folder, a watchdog, whoever keeps its metadata and one
JVM per broker; unlike it, a broker keeps its folder and address through everything that happens to
it, and its command line is written anew when its release or settings change.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from touchstone.harness.ageing import life as lives
from touchstone.harness.ageing.life import Life
from touchstone.harness.model import security_settings
from touchstone.harness.model.target import Address, Shape, StartFailed, listener_names
from touchstone.harness.targets import jvm, matrix, probe, settings
from touchstone.harness.targets.child import Child, Watchdog
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.maven import kafka_home
from touchstone.harness.targets.ports import HOST, free_ports
from touchstone.harness.targets.process import (
    POLL_SECONDS,
    PORT_TAKEN,
    START_SECONDS,
    STILL_REGISTERED,
    STOP_SECONDS,
)
from touchstone.harness.targets.release import Release

KEEPER = "keeper"  # its process: a ZooKeeper, or a controller apart
PROTOCOL = "inter.broker.protocol.version"  # what brokers under ZooKeeper speak while they roll
_AGAIN = (*STILL_REGISTERED, *PORT_TAKEN)  # what a killed broker may say that is back too early


class AgedCluster:
    """A running cluster whose life is told from outside. Raises Unavailable, StartFailed."""

    def __init__(self, life: Life, port: int = 0) -> None:
        self.life, self.release = life, matrix.release(life.first)
        self.java = find_java()
        self.folder = Path(tempfile.mkdtemp(prefix=f"touchstone-aged-{life.release}-"))
        self.watchdog = Watchdog(self.folder)
        self.cluster_id = jvm.new_id()
        count = len(life.ids)
        names = listener_names(lives.login_settings(life, life.first))
        free = free_ports((2 + len(names)) * count + 1)
        first = range(port, port + count) if port else free[:count]
        self.addresses = {node: (HOST, at) for node, at in zip(life.ids, first, strict=True)}
        rest = iter(free[count:])
        self.internal = {node: (HOST, next(rest)) for node in life.ids}
        self.named = {name: {node: (HOST, next(rest)) for node in life.ids} for name in names}
        self.keeper_at: Address = (HOST, next(rest))
        self.keeper: Child | None = None
        self.children: dict[int, Child] = {}

    @property
    def bootstrap(self) -> str:
        """Where clients without a login find it."""
        return _joined(self.addresses)

    @property
    def secured(self) -> str:
        """Where the listener with a login is; of a life without one, the other."""
        where = self.named.get(security_settings.SASL_LISTENER, self.addresses)
        return _joined(where)

    def start(self) -> None:
        """Everything, in the first release."""
        (self.folder / "logs").mkdir()
        self._start_keeper()
        for node in self.life.ids:
            self._write(node)
            self.children[node].start()
        self.wait()

    def restart(self, node: int) -> None:
        self.children[node].stop(STOP_SECONDS)
        self._back(node)

    def kill(self, node: int) -> None:
        self.children[node].kill()
        self._back(node)

    def upgrade(self, release: str) -> None:
        """Every broker in turn; under ZooKeeper they speak as before until all are new."""
        before, self.release = self.release, matrix.release(release)
        if self.release.kraft and self.keeper is not None:
            self.keeper.stop(STOP_SECONDS)
            self._start_keeper()
        held = {} if self.release.kraft else {PROTOCOL: before.name}
        for told in (held, {}) if held else (held,):
            for node in self.life.ids:
                self.children[node].stop(STOP_SECONDS)
                self._write(node, told)
                self._back(node)

    def wait(self, expected: tuple[int, ...] | None = None) -> None:
        """Until every broker serves and sees all of these (by default all) under a controller."""
        deadline = time.monotonic() + START_SECONDS
        wanted = set(self.life.ids if expected is None else expected)
        for node in wanted:
            while lacking := probe.lacks(self.addresses[node], wanted):
                self._check(node, deadline, lacking)
                time.sleep(POLL_SECONDS)

    def close(self) -> None:
        """End every process and leave nothing."""
        for child in (*self.children.values(), *([self.keeper] if self.keeper else [])):
            child.kill()
        self.watchdog.close()

    def _back(self, node: int) -> None:
        """Start a broker that is away; Kafka may refuse it until its old session has ended."""
        child, deadline = self.children[node], time.monotonic() + START_SECONDS
        child.start()
        while lacking := probe.lacks(self.addresses[node], set(self.life.ids)):
            if child.exit_code is not None and any(word in child.said() for word in _AGAIN):
                child.start()
            self._check(node, deadline, lacking)
            time.sleep(POLL_SECONDS)

    def _check(self, node: int, deadline: float, lacking: str) -> None:
        child = self.children[node]
        if child.exit_code is not None or time.monotonic() > deadline:
            raise StartFailed(f"broker {node} ({self.release.version}): {lacking}\n"
                              f"{child.excerpt()}")  # fmt: skip

    def _start_keeper(self) -> None:
        """Under ZooKeeper or with several KRaft brokers; an only one is its own controller."""
        if not self.release.kraft:
            source = matrix.zookeeper()
            text = settings.text(settings.zookeeper(str(self._data(KEEPER)), self.keeper_at))
            self.keeper = self._child(KEEPER, jvm.ZOOKEEPER, text, source)
        elif len(self.life.ids) > 1:
            at = self._metadata_at()
            rendered = settings.controller(
                self.release, self._shape({}), data=str(self._data(KEEPER)), keeper=at
            )
            self._format(KEEPER, at.controller_id)
            self.keeper = self._child(KEEPER, jvm.KAFKA, settings.text(rendered), self.release)
        if self.keeper is not None:
            self.keeper.start()

    def _metadata_at(self) -> settings.MetadataAddress:
        if not self.release.kraft:
            return settings.MetadataAddress(zookeeper=f"{HOST}:{self.keeper_at[1]}/kafka")
        alone = len(self.life.ids) == 1
        node = self.life.ids[0] if alone else settings.CONTROLLER_ID
        return settings.MetadataAddress("", node, self.keeper_at, self.keeper_at)

    def _shape(self, told: Mapping[str, str]) -> Shape:
        login = lives.login_settings(self.life, self.release.name)
        return Shape(len(self.life.ids), config={**self.life.settings, **login, **told})

    def _write(self, node: int, told: Mapping[str, str] | None = None) -> None:
        """The broker's command line in the release of now; the folder of its first is formatted."""
        name, shape = f"broker-{node}", self._shape(told or {})
        internal = self.internal[node] if self.life.listeners == lives.INTERNAL else None
        named = {listener: at[node] for listener, at in self.named.items()}
        here = self.addresses[node]
        rendered = settings.broker(
            self.release, shape, node, data=str(self._data(name)), keeper=self._metadata_at(),
            listening=settings.Listening(here, here, internal, named),
        )  # fmt: skip
        options: tuple[str, ...] = ()
        if users := settings.login_modules(self.release, shape.settings):
            file = self.folder / "jaas.conf"
            file.write_text(users, encoding="utf-8")
            options = (f"-Djava.security.auth.login.config={file}",)
        self._format(name, node)
        self.children[node] = self._child(
            name, jvm.KAFKA, settings.text(rendered), self.release, options
        )

    def _format(self, name: str, node: int) -> None:
        """Once: a folder that was formatted by an older release is what ages."""
        if self.release.kraft and not (self._data(name) / "meta.properties").exists():
            jvm.format_node(
                self.release, self.java, kafka_home(self.release), self._data(name),
                node=node, cluster=self.cluster_id,
            )  # fmt: skip

    def _child(
        self, name: str, main: str, text: str, release: Release,
        options: tuple[str, ...] = (),
    ) -> Child:  # fmt: skip
        home, file = kafka_home(release), self.folder / f"{name}.properties"
        file.write_text(text, encoding="utf-8")
        sharing = jvm.sharing(jvm.archive(self.java, home)) if main == jvm.KAFKA else ()
        argv = jvm.command(
            self.java, home, main, str(file), options=(*sharing, *options),
            profile="test" if main == jvm.KAFKA else "zookeeper",
            logging=jvm.write_logging(release, self.folder),
        )  # fmt: skip
        log = self.folder / "logs" / f"{name}.log"
        return Child(argv, log=log, cwd=self.folder, watchdog=self.watchdog)

    def _data(self, name: str) -> Path:
        return self.folder / "data" / name


def _joined(where: Mapping[int, Address]) -> str:
    return ",".join(f"{host}:{port}" for host, port in where.values())
