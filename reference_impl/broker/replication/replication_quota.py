"""Replication quotas bound how fast replicas are filled, for leaders and for followers (KIP-73).

A topic names the replicas that are throttled (`*.replication.throttled.replicas`, pairs of
partition and broker, or all of them), a broker the bytes per second
(`*.replication.throttled.rate`, dynamic, unlimited by default). Bytes of throttled partitions are
counted whoever moves them; held back are only followers that are not in sync, so that a quota never
shrinks an ISR (DYN-15). The rate is Kafka's: bytes of the last eleven one-second windows over the
time since the oldest of them began, at least one second.

Sources: ReplicationQuotaManager, TopicConfigHandler and SimpleRate at 1.0.2, 2.8.2, 3.9; DYN-13 to
DYN-15.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

LEADER, FOLLOWER = "leader", "follower"
ALL = "*"
WINDOWS, WINDOW_MS = 11, 1000


class ReplicationQuota:
    """The quota of one broker, as leader or as follower."""

    def __init__(self, broker: Broker, side: str) -> None:
        self._broker = broker
        self._replicas = f"{side}.replication.throttled.replicas"
        self._rate = f"{side}.replication.throttled.rate"
        self._windows: deque[list[int]] = deque()  # [began at, bytes]

    def throttles(self, topic: str, index: int) -> bool:
        """Whether this partition is throttled on this broker (DYN-13)."""
        stored = self._broker.cluster.topics.get(topic)
        if stored is None or self._replicas in stored.left_out:
            return False
        listed = stored.configs.get(self._replicas)
        if not listed:
            return False
        wanted = f"{index}:{self._broker.id}"
        return listed.strip() == ALL or wanted in (pair.strip() for pair in listed.split(","))

    def exceeded(self, now: int) -> bool:
        limit = self._limit()
        return limit is not None and self.rate(now) > limit

    def record(self, size: int, now: int) -> None:
        """So many bytes of throttled partitions went through."""
        windows = self._windows
        if not windows or now - windows[-1][0] >= WINDOW_MS:
            windows.append([now, 0])
        windows[-1][1] += size
        self._forget(now)

    def rate(self, now: int) -> float:
        """Bytes per second."""
        self._forget(now)
        if not self._windows:
            return 0.0
        elapsed = max(now - self._windows[0][0], WINDOW_MS)
        return sum(size for _, size in self._windows) * 1000 / elapsed

    def _forget(self, now: int) -> None:
        while self._windows and now - self._windows[0][0] >= WINDOWS * WINDOW_MS:
            self._windows.popleft()

    def _limit(self) -> int | None:
        dynamic = self._broker.cluster.dynamic_configs
        for entity in (str(self._broker.id), ""):
            if self._rate in dynamic.get(entity, ()):
                return int(dynamic[entity][self._rate])
        return None
