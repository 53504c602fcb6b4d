"""Ask a broker to shut down in order (SIGTERM), then start it again.

Leaders move away first as far as they can (BRK-32), so writes should hardly notice.
Evidence: nobody answers on its port.
"""

from __future__ import annotations

from touchstone.harness.nemesis.stilled import stilled, unsupported

__all__ = ["ISOLATION", "SENTENCE", "inflicted", "unsupported"]
SENTENCE = "Ask a broker to shut down in order (SIGTERM), then start it again."
ISOLATION = None
inflicted = stilled("stop", "start")
