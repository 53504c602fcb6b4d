"""The broker's image for testcontainers, which needs the extra `docker`.

from touchstone.containers import TouchstoneContainer
"""

from __future__ import annotations

from touchstone.harness import extras

try:
    from touchstone.harness.targets.touchstone_container import TouchstoneContainer
except ModuleNotFoundError as missing:
    reason = extras.lacking(missing)
    if reason is None:
        raise
    raise ModuleNotFoundError(f"touchstone.containers {reason}", name=missing.name) from missing

__all__ = ["TouchstoneContainer"]
