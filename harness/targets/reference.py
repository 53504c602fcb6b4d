"""`reference@4.3`: our own broker, served in this process and reached over loopback like any other.

Same glass: the harness sees it only through its sockets, so a difference comes from the target and
not from the instrument. One cluster per shape, started in milliseconds, kept until `stop`.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from touchstone.harness.model.target import (
    CLIENTS,
    LISTENERS,
    Endpoint,
    Shape,
    Unavailable,
    Versions,
    listener_names,
)
from touchstone.harness.targets import matrix, probe, settings
from touchstone.harness.targets.isolation import Isolations
from touchstone.harness.targets.process import FIRST
from touchstone.reference_impl.broker.faults import switches as planted
from touchstone.reference_impl.extras import MissingExtra
from touchstone.reference_impl.io.server import RunningCluster, serve


class ReferenceTarget:
    """A Target (harness/model/target.py) of kind "reference"; `switches` are planted defects."""

    kind = "reference"

    def __init__(self, version: str, *, switches: Iterable[str] = (), seed: int = 0) -> None:
        name = matrix.persona(version).name
        self.release: str | None = name
        self.switches, self.seed = frozenset(switches), seed
        planted.check(self.switches)
        self.name = f"reference@{name}" + "".join(f"+{switch}" for switch in sorted(self.switches))
        self._clusters: dict[Shape, tuple[RunningCluster, Endpoint]] = {}
        self._versions: Versions | None = None
        self._lock = threading.RLock()
        self._isolation: Callable[[], Isolations] = Isolations
        atexit.register(self.stop)

    def available(self) -> str | None:
        return self._isolation().unsupported()

    def isolate(self, isolation: Callable[[], Isolations]) -> None:
        """Disks of their own for the brokers of clusters that are started from now on."""
        self._isolation = isolation

    def start(self, shape: Shape) -> Endpoint:
        with self._lock:
            if shape in self._clusters and self._moved(shape):
                self._clusters.pop(shape)[0].stop()
            if shape not in self._clusters:
                self._clusters[shape] = self._start(shape)
            return self._clusters[shape][1]

    def _moved(self, shape: Shape) -> bool:
        """Whether a fault made another broker than the first the controller (see `process`)."""
        if shape.brokers == 1 or matrix.release(str(self.release)).kraft:
            return False
        try:
            first = self._clusters[shape][1].bootstrap[FIRST]
            return probe.metadata(first).controller != FIRST
        except probe.NotReady:
            return True

    def advertised(self) -> Versions:
        with self._lock:
            if self._versions is None:
                shape = next(iter(self._clusters), Shape())
                self._versions = probe.api_versions(self.start(shape).bootstrap[0])
            return dict(self._versions)

    def stop(self) -> None:
        with self._lock:
            while self._clusters:
                self._clusters.popitem()[1][0].stop()

    def _start(self, shape: Shape) -> tuple[RunningCluster, Endpoint]:
        isolation = self._isolation()
        try:
            running = serve(
                data=_disks(isolation, shape),
                brokers=shape.brokers,
                racks=[shape.rack_of(broker) for broker in range(shape.brokers)],
                release=str(self.release),
                config=settings.with_key_file(shape.settings | _listeners(shape)),
                switches=tuple(sorted(self.switches)),
                seed=self.seed,
            )
        except MissingExtra as missing:
            raise Unavailable(str(missing)) from None
        bootstrap = [_address(word) for word in running.bootstrap]
        known = probe.metadata(bootstrap[0]).brokers
        nodes = {number: ReferenceNode(running, number, isolation) for number in known}
        listeners = {
            name: tuple(map(_address, running.listeners[name]))
            for name in listener_names(shape.settings)
        }
        return running, Endpoint(tuple(bootstrap), known, nodes=nodes, listeners=listeners)


class ReferenceNode:
    """One of our brokers in the hands of the nemesis (the Node of harness/model/target.py)."""

    def __init__(self, running: RunningCluster, number: int, isolation: Isolations) -> None:
        self.running, self._number, self.isolation = running, number, isolation

    def start(self) -> None:
        self.running.start_broker(self._number)

    def stop(self) -> None:
        self.running.stop_broker(self._number)

    def kill(self) -> None:
        self.running.kill(self._number)

    def pause(self) -> None:
        self.running.pause(self._number)

    def resume(self) -> None:
        self.running.resume(self._number)


def _disks(isolation: Isolations, shape: Shape) -> Path | None:
    """A data directory whose brokers have a file system each, where that is wanted.

    It is left to the end of this program, for brokers of a stopped cluster may still close files.
    """
    if not isolation.parts:
        return None
    folder = Path(tempfile.mkdtemp(prefix="touchstone-reference-"))
    isolation.open(folder)
    for broker in range(shape.brokers):
        isolation.disk(broker, folder / "data" / f"broker-{broker}")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(isolation.close)  # runs first
    return folder / "data"


def _listeners(shape: Shape) -> dict[str, str]:
    """The listeners that the shape names, each on a free port."""
    names = listener_names(shape.settings)
    every = ",".join(f"{name}://127.0.0.1:0" for name in (CLIENTS, *names))
    return {LISTENERS: every} if names else {}


def _address(word: str) -> tuple[str, int]:
    host, _, port = word.rpartition(":")
    return host, int(port)
