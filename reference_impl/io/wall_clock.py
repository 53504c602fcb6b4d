"""The clock of a process's brokers: timers go by a steady one, what is stamped by the wall's.

The date of a broker's machine may be corrected while it runs. What lasts (a session, a lease, a
lag, a timeout) must not notice, as in Kafka, whose timers go by System.nanoTime; what is told the
time of day (LogAppendTime, the age of records for retention) does, as in Kafka too. So a broker's
`now` is steady, and its logs are told `wall(now)`.
"""

from __future__ import annotations

import time

_MS = 1_000_000  # nanoseconds


class WallClock:
    """Milliseconds since 1970, UTC, as they were when it was made and as they went on since.

    `ahead` is what the time of day is ahead of the machine's (behind, below 0), `advanced` what has
    been let pass without waiting, for timers too; both in milliseconds.
    """

    def __init__(self) -> None:
        self.ahead = self.advanced = 0
        self._began = time.time_ns() - time.monotonic_ns()

    def __call__(self) -> int:
        return (self._began + time.monotonic_ns()) // _MS + self.advanced

    def wall(self, now: int) -> int:
        """Return the time of day at the instant `now` of this clock."""
        corrected = (time.time_ns() - time.monotonic_ns() - self._began) // _MS
        return now + corrected + self.ahead
