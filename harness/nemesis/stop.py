"""Ask a broker to shut down in order (SIGTERM), then start it again.

Leaders move away first as far as they can (BRK-32), so writes should hardly notice.
Evidence: nobody answers on its port.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from harness.nemesis import evidence
from harness.nemesis.patient import Patient

SENTENCE = "Ask a broker to shut down in order (SIGTERM), then start it again."
GROUND = None


def unsupported(patient: Patient) -> str | None:
    return None if patient.brokers else "its brokers belong to somebody else"


@contextmanager
def inflicted(patient: Patient, broker: int, random: Random) -> Iterator:
    try:
        patient.node(broker).stop()
        yield lambda: evidence.until(lambda: evidence.silence(patient.address(broker)))
    finally:
        patient.node(broker).start()
