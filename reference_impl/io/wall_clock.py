"""The wall clock of a process's brokers: the machine's, ahead by as much as somebody wants.

A broker must bear that its machine's date is corrected while it runs. Whoever wants to see it turns
`ahead`; timers that are due by then fire at once, and after a jump back they wait again.
"""

from __future__ import annotations

import time


class WallClock:
    """Milliseconds since 1970, UTC, when called."""

    def __init__(self) -> None:
        self.ahead = 0  # milliseconds; below 0 the clock is late

    def __call__(self) -> int:
        return time.time_ns() // 1_000_000 + self.ahead
