"""`HOST:PORT[,...]`: a broker that somebody else runs. It is taken as it is.

It cannot be given racks, settings or more brokers, so a shape that it does not have is Unavailable,
with the reason. Nothing else is presumed: a listener that accepts and never answers is a target
like any other, whose silence the driver will record.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Sequence

from harness import advertised
from harness.target import Address, Endpoint, Shape, Unavailable, Versions
from harness.targets import probe

SECONDS = 5.0


class ExternalTarget:
    """A Target (see harness/target.py) of kind "external"."""

    kind = "external"

    def __init__(self, addresses: tuple[Address, ...]) -> None:
        self.addresses = addresses
        self.name = ",".join(f"{host}:{port}" for host, port in addresses)
        self._sight: probe.Sight | None = None
        self._asked = False
        self._versions: Versions | None = None
        self._silence: probe.NotReady | None = None  # asked once; a silent one costs one wait

    @property
    def release(self) -> str | None:
        """The release whose versions it advertises to the last one; None when no release does."""
        with contextlib.suppress(probe.NotReady, Unavailable):
            return advertised.release_of(self.advertised())
        return None

    def available(self) -> str | None:
        for host, port in self.addresses:
            try:
                socket.create_connection((host, port), SECONDS).close()
            except OSError as error:
                return f"{host}:{port}: {error.strerror or type(error).__name__}"
        return None

    def start(self, shape: Shape) -> Endpoint:
        reason = self.available()
        if reason:
            raise Unavailable(reason)
        sight = self._look()
        brokers = {} if sight is None else sight.brokers
        if shape.config:
            wanted = ", ".join(f"{name}={value}" for name, value in shape.config)
            raise Unavailable(f"{self.name} cannot be configured from here; wanted: {wanted}")
        if shape.brokers > max(len(brokers), len(self.addresses)):
            known = len(brokers) or "an unknown number of"
            raise Unavailable(f"{self.name} has {known} brokers, {shape.brokers} are wanted")
        if shape.racks:
            racks = [] if sight is None else [sight.racks[node] for node in sorted(sight.racks)]
            if racks != list(shape.racks):
                raise Unavailable(f"{self.name} has racks {racks}, not {list(shape.racks)}")
        return Endpoint(self.addresses, brokers if shape.brokers > 1 else {})

    def unlike(self, shape: Shape) -> str | None:
        """Why answers of this shape say nothing of it: it has other brokers or other racks."""
        sight = self._look()
        if sight is None:
            return None
        seen = [sight.racks.get(node) for node in sorted(sight.brokers)]
        wanted = list(shape.racks) or [None] * shape.brokers
        if seen == wanted:
            return None
        return f"{self.name} has {_described(seen)}; the case is about {_described(wanted)}"

    def advertised(self) -> Versions:
        if self._silence is not None:
            raise self._silence
        if self._versions is None:
            try:
                self._versions = probe.api_versions(self.addresses[0], SECONDS)
            except probe.NotReady as silence:
                self._silence = silence
                raise
        return dict(self._versions)

    def stop(self) -> None:
        """It is somebody else's."""

    def _look(self) -> probe.Sight | None:
        """The cluster by its own metadata, asked for once; None when it does not answer."""
        if not self._asked:
            self._asked = True
            with contextlib.suppress(probe.NotReady):
                self._sight = probe.metadata(self.addresses[0], SECONDS)
        return self._sight


def _described(racks: Sequence[str | None]) -> str:
    brokers = "1 broker" if len(racks) == 1 else f"{len(racks)} brokers"
    if not any(racks):
        return f"{brokers} without racks"
    return f"{brokers} with racks {', '.join(rack or 'none' for rack in racks)}"
