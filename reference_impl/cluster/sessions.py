"""A cluster believes in a silent broker until its session expires; there is no clock here.

A broker keeps its session by speaking (ZooKeeper pings, KRaft heartbeats); here it is silent from
an instant on, or not. A session that ends makes the controller look for other leaders; a broker
that wants to come back before that has to wait, because its old registration still stands (BRK-30).

Sources: BRK-30, BRK-31; KIP-631 (broker.session.timeout.ms), zookeeper.session.timeout.ms.
"""

from __future__ import annotations


class Sessions:
    def __init__(self, timeout_ms: int) -> None:
        self.timeout_ms = timeout_ms
        self._ends: dict[int, int] = {}  # of silent brokers, in ms

    def silent(self, broker: int, now: int) -> None:
        """The broker is silent from now on; a second silence does not lengthen the first."""
        self._ends.setdefault(broker, now + self.timeout_ms)

    def spoke(self, broker: int) -> None:
        self._ends.pop(broker, None)

    def lasts(self, broker: int) -> bool:
        """Whether a session of a silent broker still stands."""
        return broker in self._ends

    def deadline(self) -> int | None:
        return min(self._ends.values(), default=None)

    def ended(self, now: int) -> list[int]:
        """The brokers whose session is over by now, each told once, earliest first."""
        over = sorted((end, broker) for broker, end in self._ends.items() if end <= now)
        for _, broker in over:
            del self._ends[broker]
        return [broker for _, broker in over]
