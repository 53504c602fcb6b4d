"""The cluster that faults befall: its brokers, and what each of them can be cut off from.

Three kinds of target can be harmed. Brokers of this process (`reference`) have links and a clock
that can be turned; processes (`kafka@V`) have what their isolation gave them; containers
(`docker@V`) have a network namespace of their own anyway. `FaultTarget` hides which, as far as that
is possible: a fault asks for what it needs and says "unsupported" where there is None.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from touchstone.harness.model.target import Address, Endpoint
from touchstone.harness.targets.isolation import Clocks, Disks, Namespaces

ENTER = ("nsenter", "--net", "--target")


T = TypeVar("T")


def given(part: T | None) -> T:
    """A part of a fault target that the fault's `unsupported` has found to be there."""
    assert part is not None
    return part


@dataclass(frozen=True, slots=True)
class FaultTarget:
    """`endpoint` of a target of this `kind`; made once per cluster."""

    kind: str
    endpoint: Endpoint

    @property
    def brokers(self) -> list[int]:
        return sorted(self.endpoint.nodes)

    def address(self, broker: int) -> Address:
        return self.endpoint.brokers[broker]

    def node(self, broker: int) -> Any:
        return self.endpoint.nodes[broker]

    def others(self, broker: int) -> list[int]:
        return [each for each in self.brokers if each != broker]

    @property
    def running(self) -> Any:
        """The reference cluster, where it is one."""
        return getattr(next(iter(self.endpoint.nodes.values()), None), "running", None)

    @property
    def network(self) -> Network | None:
        """The brokers' own network namespaces."""
        if self.kind == "container":
            return Network({each: self.node(each).ip for each in self.brokers}, self)
        found = self._isolation("namespaces")
        if not isinstance(found, Namespaces):
            return None
        return Network({each: self.address(each)[0] for each in self.brokers}, self, found)

    @property
    def clocks(self) -> Clocks | None:
        found = self._isolation("clocks")
        return found if isinstance(found, Clocks) else None

    @property
    def disks(self) -> Disks | None:
        found = self._isolation("disks")
        return found if isinstance(found, Disks) else None

    def log(self, broker: int) -> Path | None:
        """What this broker's process writes to."""
        child = getattr(self.node(broker), "child", None)
        return None if child is None else child.log

    def _isolation(self, name: str) -> Any | None:
        node = next(iter(self.endpoint.nodes.values()), None)
        isolations = getattr(node, "isolation", None) or getattr(
            getattr(node, "cluster", None), "isolation", None
        )
        return None if isolations is None else isolations.part(name)


@dataclass(frozen=True, slots=True)
class Network:
    """Brokers with addresses of their own: `inside` runs a command where a broker's packets are."""

    addresses: dict[int, str]
    cluster: FaultTarget
    isolation: Namespaces | None = None

    def inside(self, broker: int, *argv: str) -> subprocess.CompletedProcess[str]:
        """Run it there; raises CalledProcessError when it fails."""
        return subprocess.run(
            self._entered(broker, argv), capture_output=True, text=True, check=True, timeout=30
        )

    def refused(self, broker: int, *argv: str) -> bool:
        """Whether it fails there."""
        words = self._entered(broker, argv)
        return subprocess.run(words, capture_output=True, check=False, timeout=30).returncode != 0

    def port(self, broker: int) -> int:
        """What brokers reach this broker by."""
        if self.isolation is None:
            return self.cluster.node(broker).internal_port
        return self.cluster.address(broker)[1]

    def _entered(self, broker: int, argv: Sequence[str]) -> list[str]:
        if self.isolation is not None:
            return self.isolation.inside(broker, argv)
        return [*ENTER, str(self.cluster.node(broker).pid), *argv]
