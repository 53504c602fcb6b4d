"""Freeze a broker with its connections open (SIGSTOP), then let it run on.

The worst of the three ends: connections to it still open (the kernel accepts them), requests wait,
and when it wakes it may for a moment believe that it still leads. Containers are frozen by their
cgroup, a reference broker by its event loop. Evidence: a connection gets no answer.
"""

from __future__ import annotations

from touchstone.harness.nemesis.stilled import stilled, unsupported

__all__ = ["ISOLATION", "SENTENCE", "inflicted", "unsupported"]
SENTENCE = "Freeze a broker with its connections open (SIGSTOP), then let it run on."
ISOLATION = None
inflicted = stilled("pause", "resume")
