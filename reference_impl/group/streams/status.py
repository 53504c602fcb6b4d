"""An answer to a streams heartbeat carries statuses: what keeps the application from working.

Sources: KIP-1071; StreamsGroupHeartbeatResponse.Status@4.3.1.
"""

from __future__ import annotations

from typing import NamedTuple

STALE_TOPOLOGY, MISSING_SOURCES, INCORRECTLY_PARTITIONED = 0, 1, 2
MISSING_INTERNAL, SHUTDOWN_APPLICATION, ASSIGNMENT_DELAYED = 3, 4, 5


class Status(NamedTuple):
    code: int
    detail: str


class TopicsUnfit(Exception):
    """The topics that exist do not fit the topology; the group goes on without tasks."""

    def __init__(self, code: int, detail: str) -> None:
        super().__init__(detail)
        self.status = Status(code, detail)
