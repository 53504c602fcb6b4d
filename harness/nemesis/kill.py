"""End a broker without a chance to flush or say goodbye (SIGKILL), then start it again.

What the page cache held survives, as it does when a JVM dies and its machine does not. In a
reference cluster the broker's core is dropped with its connections, its logs stay (io.lifecycle).
Evidence: nobody answers on its port.
"""

from __future__ import annotations

from touchstone.harness.nemesis.stilled import stilled, unsupported

__all__ = ["ISOLATION", "SENTENCE", "inflicted", "unsupported"]
SENTENCE = "End a broker without a chance to flush or say goodbye (SIGKILL), then start it again."
ISOLATION = None
inflicted = stilled("kill", "start")
