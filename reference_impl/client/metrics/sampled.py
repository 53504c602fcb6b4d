"""Values over the last windows: Java's SampledStat with its sum, count and maximum at once.

Two samples of 30 s, the defaults of `metrics.num.samples` and `metrics.sample.window.ms`, so a rate
or an average is of the last 30 to 60 s. Totals never end.

Source: SampledStat, Rate, Avg, Max, CumulativeSum at 4.3.1.
"""

from __future__ import annotations

from collections import deque
from math import nan

WINDOW_MS, SAMPLES = 30_000, 2


class _Sample:
    __slots__ = ("count", "last", "most", "start", "sum")

    def __init__(self, now: int) -> None:
        self.start = self.last = now
        self.count, self.sum, self.most = 0, 0.0, -float("inf")


class Sampled:
    """Instants are in ms. Nothing recorded: an average and a maximum are NaN, a rate is 0."""

    def __init__(self) -> None:
        self.total, self.events = 0.0, 0
        self._samples: deque[_Sample] = deque(maxlen=SAMPLES + 1)

    def record(self, value: float, now: int) -> None:
        if not self._samples or now - self._samples[-1].start >= WINDOW_MS:
            self._samples.append(_Sample(now))
        sample = self._samples[-1]
        sample.last = now
        sample.count += 1
        sample.sum += value
        if value > sample.most:
            sample.most = value
        self.total += value
        self.events += 1

    def average(self, now: int) -> float:
        samples = self._kept(now)
        count = sum(each.count for each in samples)
        return sum(each.sum for each in samples) / count if count else nan

    def most(self, now: int) -> float:
        return max((each.most for each in self._kept(now) if each.count), default=nan)

    def rate(self, now: int, per_ms: int = 1000) -> float:
        """Of what was recorded, summed up, in `per_ms`."""
        return sum(each.sum for each in self._kept(now)) * per_ms / self._elapsed(now)

    def event_rate(self, now: int, per_ms: int = 1000) -> float:
        """How often something was recorded in `per_ms`."""
        return sum(each.count for each in self._kept(now)) * per_ms / self._elapsed(now)

    def _kept(self, now: int) -> list[_Sample]:
        return [each for each in self._samples if now - each.last < SAMPLES * WINDOW_MS]

    def _elapsed(self, now: int) -> int:
        """Since the oldest sample, and as long as all windows but one at the least."""
        elapsed = now - min((each.start for each in self._kept(now)), default=now)
        missing = max(0, SAMPLES - 1 - elapsed // WINDOW_MS)
        return max(1, elapsed + missing * WINDOW_MS)
