"""Clusters beside the one that cases share, for cases that harm brokers.

Such a case has its cluster to itself and mostly waits: for a broker to be missed, to start, to
catch up. On a target that we start, a few of them go on at a time, each on a cluster of its own,
while all other cases share theirs.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator

from touchstone.harness.driver.side_by_side import LANES
from touchstone.harness.driver.turns import Turns


class Lanes:
    """Up to `LANES` times what `make` makes, each lent to one case at a time."""

    def __init__(self, make: Callable[[], Turns]) -> None:
        self._make = make
        self._all: list[Turns] = []
        self._free: queue.LifoQueue[Turns] = queue.LifoQueue()  # the last used has its cluster up
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def one(self) -> Iterator[Turns]:
        """A lane that nobody else has; waits until there is one."""
        lane = self._taken()
        try:
            yield lane
        finally:
            self._free.put(lane)

    def _taken(self) -> Turns:
        with contextlib.suppress(queue.Empty):
            return self._free.get_nowait()
        with self._lock:
            if len(self._all) < LANES:
                self._all.append(self._make())
                return self._all[-1]
        return self._free.get()

    def halt(self) -> None:
        """End what is under way."""
        for lane in self._all:
            lane.halt.halt()

    def close(self, *, interrupted: bool = False) -> list[str]:
        """End the clusters; what is not as it was, in words."""
        return [word for lane in self._all for word in lane.close(interrupted=interrupted)]
