"""Clusters of real Kafka kept by shape: what processes and containers have in common.

A cluster costs seconds to start and a few hundred megabytes to keep, so the same shape is served by
the same cluster for as long as it is alive, and the one unused for longest makes room for another.
A cluster that lost a process which the run did not stop is replaced on the next use: a case that
kills its target must not make every later case fail with it.
"""

from __future__ import annotations

import atexit
import threading
from typing import Generic, Protocol, TypeVar

from touchstone.harness.model.target import Endpoint, Shape, Versions
from touchstone.harness.targets import matrix, probe, settings
from touchstone.harness.targets.maven import jars_name
from touchstone.harness.targets.release import Release


class Cluster(Protocol):
    """Something that was opened for one shape."""

    endpoint: Endpoint

    def broken(self) -> bool:
        """Whether a process is gone that nobody stopped."""

    def close(self) -> None:
        """End every process and leave nothing."""


C = TypeVar("C", bound=Cluster)


class PerShape(Generic[C]):
    """The verbs of a Target that do not depend on how a broker is run."""

    def __init__(self, name: str, release: Release, *, most: int) -> None:
        self.name = name
        # Of a version between those that are recorded it is not known what it answers.
        self.release = release.name if matrix.find(release.name) else None
        self.kafka, self._most = release, most
        self._clusters: dict[Shape, C] = {}  # the least recently used one first
        self._versions: Versions | None = None
        self._lock = threading.RLock()
        atexit.register(self.stop)

    @property
    def build(self) -> str:
        """What is run, as reports name it: a version, or these very jars of a folder."""
        folder = self.kafka.folder
        return self.kafka.version if folder is None else f"{self.kafka.version} {jars_name(folder)}"

    def open(self, shape: Shape) -> C:
        """A started cluster; what a subclass is for."""
        raise NotImplementedError

    def start(self, shape: Shape) -> Endpoint:
        with self._lock:
            cluster = self._clusters.pop(shape, None)
            if cluster is not None and cluster.broken():
                cluster.close()
                cluster = None
            if cluster is None:
                self._make_room(processes(self.kafka, shape))
                cluster = self.open(shape)
            self._clusters[shape] = cluster
            return cluster.endpoint

    def advertised(self) -> Versions:
        with self._lock:
            if self._versions is None:
                shape = next(reversed(self._clusters), Shape())
                self._versions = probe.api_versions(self.start(shape).bootstrap[0])
            return dict(self._versions)

    def stop(self) -> None:
        with self._lock:
            while self._clusters:
                self._clusters.popitem()[1].close()

    def needed(self) -> list[Release]:
        """The releases whose jars this one runs on; the old ones need a ZooKeeper."""
        return [self.kafka] if self.kafka.kraft else [self.kafka, matrix.zookeeper()]

    def _make_room(self, wanted: int) -> None:
        alive = sum(processes(self.kafka, shape) for shape in self._clusters)
        while self._clusters and alive + wanted > self._most:
            oldest = next(iter(self._clusters))
            alive -= processes(self.kafka, oldest)
            self._clusters.pop(oldest).close()


def processes(release: Release, shape: Shape) -> int:
    """How many JVMs this shape costs."""
    return shape.brokers + (not settings.combined(release, shape))
