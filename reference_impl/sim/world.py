"""A simulation has one clock, one source of randomness and one order of events.

Everything that happens is a call at an instant; two calls of one instant happen in the order in
which they were asked for, so a seed decides all of it. Nothing else in `sim` keeps time. The trace
is the proof: equal seeds give equal digests, and a run that went wrong is told by its last lines.
"""

from __future__ import annotations

import hashlib
import heapq
import random
from collections import deque
from collections.abc import Callable
from itertools import count

EPOCH_MS = 1_700_000_000_000  # when virtual time begins: stamps look like stamps
KEPT_LINES = 400


class Trace:
    """The events as lines; a digest of all of them and the last few in full."""

    def __init__(self, kept: int = KEPT_LINES) -> None:
        self._hash = hashlib.blake2b(digest_size=16)
        self.last: deque[str] = deque(maxlen=kept)
        self.lines = 0

    def add(self, line: str) -> None:
        self._hash.update(line.encode() + b"\n")
        self.last.append(line)
        self.lines += 1

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()


class World:
    """Virtual time in ms; `advance` lets it pass."""

    def __init__(self, seed: int, start: int = EPOCH_MS) -> None:
        self.seed = seed
        self.start = start
        self.now = start
        self.random = random.Random(seed)
        self.trace = Trace()
        self._agenda: list[tuple[int, int, Callable[[], None]]] = []
        self._order = count()
        self._numbers = count(1)

    def number(self) -> int:
        """A number that nobody else has."""
        return next(self._numbers)

    def at(self, instant: int, call: Callable[[], None]) -> None:
        """Have `call` happen then; what is asked for the past happens now."""
        heapq.heappush(self._agenda, (max(instant, self.now), next(self._order), call))

    def after(self, ms: int, call: Callable[[], None]) -> None:
        self.at(self.now + ms, call)

    def advance(self, ms: int) -> None:
        """Everything that is due within the next `ms`, in order; then it is that much later."""
        end = self.now + ms
        while self._agenda and self._agenda[0][0] <= end:
            self._step()
        self.now = end

    def until(self, holds: Callable[[], bool], within_ms: int) -> bool:
        """Let time pass until `holds`, at most so long; whether it came to hold."""
        end = self.now + within_ms
        while not holds():
            if not self._agenda or self._agenda[0][0] > end:
                self.now = end
                return holds()
            self._step()
        return True

    def _step(self) -> None:
        self.now, _, call = heapq.heappop(self._agenda)
        call()

    def tell(self, who: str, what: str) -> None:
        """A line of the trace."""
        self.trace.add(f"{self.now - self.start:>9} {who} {what}")
