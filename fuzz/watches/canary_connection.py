"""A client that does nothing wrong is answered at once, whatever others send meanwhile.

It asks ApiVersions on a connection of its own, and of every ten questions one on a new connection,
so that a target that no longer accepts is noticed too. One late answer is a busy machine; five
in a row are a target that somebody keeps from its work.
"""

from __future__ import annotations

from collections import deque
from statistics import median, quantiles

from touchstone.fuzz.runner import stopwatch
from touchstone.fuzz.watches.watch import Asker, Watch, Watched

BOUND_S = 0.25
LAST = 5
NEW_EVERY = 10


class CanaryConnection(Watch):
    every_s = 0.1

    def before(self, target: Watched) -> None:
        self.target, self.asker = target, target.asker()
        self.asked, self.took = 0, list[float]()
        self.last: deque[float] = deque(maxlen=LAST)

    def check(self, now: float) -> str | None:
        self.asked += 1
        fresh = self.target.asker() if self.asked % NEW_EVERY == 0 else None
        try:
            self._ask(fresh or self.asker)
        finally:
            if fresh is not None:
                fresh.close()
        if len(self.last) == LAST and min(self.last) > BOUND_S:
            return (
                f"{LAST} answers to ApiVersions in a row took {min(self.last) * 1000:.0f} ms or"
                f" more, bound {BOUND_S * 1000:.0f} ms"
            )
        return None

    def _ask(self, asker: Asker) -> None:
        elapsed = stopwatch()
        asker.ask("ApiVersions", 0, {})
        self.took.append(elapsed())
        self.last.append(self.took[-1])

    def figures(self) -> str:
        if len(self.took) < 2:
            return f"{len(self.took)} answers"
        p99 = quantiles(self.took, n=100)[-1] * 1000
        return (
            f"{len(self.took)} answers, median {median(self.took) * 1000:.1f} ms, p99 {p99:.1f} ms,"
            f" latest {max(self.took) * 1000:.1f} ms"
        )
