"""Leaders of 1.0 and 2.2 announce the in-sync sets that they changed some seconds later.

They write the state znode at once and alone; to clients every broker goes on naming the ISR it was
told. Every 2.5 s a broker looks whether it has changes to announce: it waits until none came for
five seconds, but not longer than a minute after the last announcement (or its start), so a broker
that was quiet for a minute announces at the next look. One announcement names every partition that
changed. Kafka counts the looks from its start; here they fall on round instants.

Sources: REPL-17, CTL-19; ReplicaManager.maybePropagateIsrChanges@1.0.2, 2.2.1; observed on three
nodes of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.control.cluster_controller import ClusterController
from touchstone.reference_impl.cluster import znodes
from touchstone.reference_impl.cluster.announcements import ISR_CHANGES

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

LOOK_MS, QUIET_MS, LONGEST_MS = 2_500, 5_000, 60_000


class IsrChanges:
    """The announcements of one broker."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._changed: dict[tuple[str, int], None] = {}
        self._last_change = 0
        self._last_announcement: int | None = None  # none yet: counted from the broker's start

    def note(self, topic: str, index: int, now: int) -> None:
        """This broker has written another ISR of this partition."""
        self._changed[topic, index] = None
        self._last_change = now
        self._remind(now)

    def _remind(self, now: int) -> None:
        at = now - now % LOOK_MS + LOOK_MS
        self._broker.purgatory.remind(("isr changes", self._broker.id), at, self._look)

    def _look(self, now: int) -> None:
        broker, cluster = self._broker, self._broker.cluster
        quiet = self._last_change + QUIET_MS < now
        last = self._last_announcement
        overdue = (broker.since if last is None else last) + LONGEST_MS < now
        if not (quiet or overdue) or not cluster.reachable(broker.id):
            self._remind(now)
            return
        text = znodes.isr_change(self._changed, znodes.Form.of(broker.persona.quirk))
        cluster.announcements.leave(ISR_CHANGES, text)
        self._changed = {}
        self._last_announcement = now
        broker.room(ClusterController).active.announced()
