"""Freeze a broker with its connections open (SIGSTOP), then let it run on.

The worst of the three ends: connections to it still open (the kernel accepts them), requests wait,
and when it wakes it may for a moment believe that it still leads. Containers are frozen by their
cgroup, a reference broker by its event loop. Evidence: a connection gets no answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from harness.nemesis import evidence
from harness.nemesis.patient import Patient

SENTENCE = "Freeze a broker with its connections open (SIGSTOP), then let it run on."
GROUND = None


def unsupported(patient: Patient) -> str | None:
    return None if patient.brokers else "its brokers belong to somebody else"


@contextmanager
def inflicted(patient: Patient, broker: int, random: Random) -> Iterator:
    try:
        patient.node(broker).pause()
        yield lambda: evidence.until(lambda: evidence.silence(patient.address(broker)))
    finally:
        patient.node(broker).resume()
