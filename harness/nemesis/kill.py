"""End a broker without a chance to flush or say goodbye (SIGKILL), then start it again.

What the page cache held survives, as it does when a JVM dies and its machine does not. In a
reference cluster the broker's core is dropped with its connections, its logs stay (io.lifecycle).
Evidence: nobody answers on its port.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from harness.nemesis import evidence
from harness.nemesis.patient import Patient

SENTENCE = "End a broker without a chance to flush or say goodbye (SIGKILL), then start it again."
GROUND = None


def unsupported(patient: Patient) -> str | None:
    return None if patient.brokers else "its brokers belong to somebody else"


@contextmanager
def inflicted(patient: Patient, broker: int, random: Random) -> Iterator:
    try:
        patient.node(broker).kill()
        yield lambda: evidence.until(lambda: evidence.silence(patient.address(broker)))
    finally:
        patient.node(broker).start()
