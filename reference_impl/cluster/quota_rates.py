"""What a client has used of a quota, and how long it waits until it is back on it.

Two measures. A `SampledRate` averages over the last samples, each of a second at least; the time
that they span counts as all of them but one, at least. A `TokenBucket` fills at the rate of the
quota up to what all samples hold, and who finds it below zero waits until it is filled again.
A limit of 0 makes nobody wait, as Kafka's time overflows there. Neither has a clock: an instant
(ms) comes with each call, never an earlier one than before.

Both are compared with Kafka's own classes of five releases, step by step
(`tests/quotas/recorded.json`), which keep the oldest sample longer since 3.8: until its last event,
not its first, is too old.

Sources: org.apache.kafka.common.metrics.stats.Rate, SampledStat and TokenBucket at 1.0.2, 2.8.2 and
4.3.1; ClientQuotaManager.throttleTime and ControllerMutationQuotaManager.throttleTimeMs at 2.8.2;
KIP-13, KIP-599.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, Protocol, TypeVar

_FORGOTTEN_MS = 3_600_000  # ClientQuotaManager.InactiveSensorExpirationTimeSeconds
_MANY = 1000  # measures that are kept without asking which of them are idle


class Window(NamedTuple):
    """quota.window.num samples of quota.window.size.seconds."""

    samples: int = 11
    ms: int = 1000

    @property
    def least_ms(self) -> int:
        """What a rate is averaged over at least."""
        return (self.samples - 1) * self.ms


class _Sample:
    __slots__ = ("began", "last", "value")

    def __init__(self, now: int) -> None:
        self.reset(now)

    def reset(self, now: int) -> None:
        self.began = self.last = now
        self.value = 0.0


class SampledRate:
    """So much in a second.

    Samples stand in a ring. One that is too old is emptied but stays in it, begun anew at that
    instant, and so counts for the time that the samples span: Kafka's way, which its walks tell
    from the plainer one of forgetting old samples.
    """

    def __init__(self, window: Window, *, keeps_overlapping: bool) -> None:
        """`keeps_overlapping`: a sample counts as long as its last event does (since 3.8)."""
        self._window, self._by_last = window, keeps_overlapping
        self._places = window.samples + keeps_overlapping
        self._samples: list[_Sample] = []
        self._newest = 0

    def record(self, value: float, now: int) -> None:
        """Negative to take back what was recorded before."""
        if not self._samples:
            self._samples.append(_Sample(now))
        if now - self._samples[self._newest].began >= self._window.ms:
            self._newest = (self._newest + 1) % self._places
            if self._newest == len(self._samples):
                self._samples.append(_Sample(now))
            self._samples[self._newest].reset(now)
        newest = self._samples[self._newest]
        newest.value += value
        newest.last = now

    def wait(self, limit: float, now: int) -> int:
        """Milliseconds until this would be back on the limit; 0 where it is not above."""
        if not self._samples:
            return 0
        samples, ms = self._window
        began, total = now, 0.0
        for each in self._samples:
            if now - (each.last if self._by_last else each.began) >= samples * ms:
                each.reset(now)
            began = min(began, each.began)
            total += each.value
        span = now - began
        span += max(0, samples - 1 - span // ms) * ms
        rate = total / (span / 1000)
        return _rounded((rate - limit) / limit * span) if rate > limit > 0 else 0

    def idle(self, now: int) -> bool:
        """Whether nothing of it counts any more."""
        age = self._window.samples * self._window.ms
        return all(now - each.last >= age for each in self._samples)


class TokenBucket:
    """Permits, of which so many come back in a second."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._tokens, self._filled_at = math.inf, 0  # whoever comes first finds it full

    def owed(self, limit: float, now: int) -> float:
        """How many permits were taken that were not there; 0 where none were."""
        self._fill(limit, now)
        return max(0.0, -self._tokens)

    def wait(self, limit: float, now: int) -> int:
        """Milliseconds until nothing is owed any more."""
        owed = self.owed(limit, now)
        return _rounded(owed / limit * 1000) if limit > 0 else 0

    def take(self, permits: float, limit: float, now: int) -> None:
        """What is not there is owed."""
        self._fill(limit, now)
        self._tokens -= permits

    def idle(self, now: int) -> bool:
        """Whether nobody has asked of it for an hour, when Kafka forgets it."""
        return now - self._filled_at >= _FORGOTTEN_MS

    def _fill(self, limit: float, now: int) -> None:
        burst = self._window.samples * self._window.ms / 1000 * limit
        self._tokens = min(burst, self._tokens + limit * (now - self._filled_at) / 1000)
        self._filled_at = now


class _Measure(Protocol):
    def idle(self, now: int) -> bool: ...


M = TypeVar("M", bound=_Measure)


class Measures(Generic[M]):
    """One measure for each owner; idle ones are forgotten, as peers may make up any number."""

    def __init__(self, make: Callable[[], M]) -> None:
        self._make = make
        self._held: dict[Hashable, M] = {}
        self._sweep_at = _MANY

    def __len__(self) -> int:
        return len(self._held)

    def of(self, owner: Hashable, now: int) -> M:
        found = self._held.get(owner)
        if found is None:
            if len(self._held) >= self._sweep_at:
                self._held = {who: each for who, each in self._held.items() if not each.idle(now)}
                self._sweep_at = max(_MANY, 2 * len(self._held))
            found = self._held[owner] = self._make()
        return found


def _rounded(ms: float) -> int:
    """Java's Math.round: halves go up."""
    return math.floor(ms + 0.5)
