"""What kill, stop and pause share: a broker answers nobody until it is brought back.

They differ in how its node is told, and in nothing else; the evidence is the same silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from random import Random

from touchstone.harness.nemesis import evidence
from touchstone.harness.nemesis.fault_target import FaultTarget


def unsupported(cluster: FaultTarget) -> str | None:
    return None if cluster.brokers else "its brokers belong to somebody else"


def stilled(
    harm: str, cure: str
) -> Callable[[FaultTarget, int, Random], AbstractContextManager[evidence.Look]]:
    """A fault's `inflicted` out of two methods of a node, by name."""

    @contextmanager
    def inflicted(cluster: FaultTarget, broker: int, random: Random) -> Iterator[evidence.Look]:
        node = cluster.node(broker)
        try:
            getattr(node, harm)()
            yield lambda: evidence.until(lambda: evidence.silence(cluster.address(broker)))
        finally:
            getattr(node, cure)()

    return inflicted
