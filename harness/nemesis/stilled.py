"""What kill, stop and pause share: a broker answers nobody until it is brought back.

They differ in how its node is told, and in nothing else; the evidence is the same silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from random import Random

from touchstone.harness.nemesis import evidence
from touchstone.harness.nemesis.patient import Patient


def unsupported(patient: Patient) -> str | None:
    return None if patient.brokers else "its brokers belong to somebody else"


def stilled(
    harm: str, cure: str
) -> Callable[[Patient, int, Random], AbstractContextManager[evidence.Look]]:
    """A fault's `inflicted` out of two methods of a node, by name."""

    @contextmanager
    def inflicted(patient: Patient, broker: int, random: Random) -> Iterator[evidence.Look]:
        node = patient.node(broker)
        try:
            getattr(node, harm)()
            yield lambda: evidence.until(lambda: evidence.silence(patient.address(broker)))
        finally:
            getattr(node, cure)()

    return inflicted
