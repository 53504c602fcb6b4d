"""A target's own log grows no faster than some times what it is sent: it cannot be used to fill a
disk.

Real Kafka writes two stack traces, about 1,800 bytes, for a body of 18 bytes that does not parse;
over the campaign `frames` 4.3.1 writes 8.7 bytes for each byte sent, and the bound is twice that.
"""

from __future__ import annotations

from pathlib import Path

from touchstone.fuzz.watches.watch import NotWatched, Played, Watch, Watched

BOUND = 18.0  # bytes of log for each byte sent
SPARE = 1 << 20  # bytes


class LogGrowth(Watch):
    def before(self, target: Watched) -> None:
        if target.endpoint.logs is None:
            raise NotWatched("nobody knows where its log is")
        self.folder = target.endpoint.logs
        self.at_first, self.per_byte = self._size(), 0.0

    def _size(self) -> int:
        return sum(path.stat().st_size for path in Path(self.folder).rglob("*") if path.is_file())

    def after(self, now: float, played: Played) -> str | None:
        grown = self._size() - self.at_first
        self.per_byte = grown / max(played.sent, 1)
        if grown > SPARE + BOUND * played.sent:
            return f"{self.per_byte:.1f} bytes of log for each byte sent, bound {BOUND:.0f}"
        return None

    def figures(self) -> str:
        return f"{self.per_byte:.2f} bytes of log for each byte sent"
