"""A campaign's end is as its begin was: sockets, descriptors, threads, memory, and idle.

What a request holds it gives back. A request that Kafka never answers keeps its connection, which
is why cases that ended in silence are allowed one socket each. Memory is judged by what it grows
with the bytes that were sent, for a JVM takes what it may have and a Python process compiles its
schemas at first use.
"""

from __future__ import annotations

from touchstone.fuzz.runner import stopwatch
from touchstone.fuzz.watches.processes import (
    ProcessUse,
    half_closed,
    held_by,
    is_java,
    wants_a_processor,
)
from touchstone.fuzz.watches.watch import NotWatched, Played, Watch, Watched, Wrong, eventually

MIB = 1 << 20
SPARE = 16  # sockets and descriptors that come and go without a campaign
SPARE_THREADS = 24  # pools that a JVM fills when they are first used
SETTLES_S = 20.0


class Resources(Watch):
    """Of processes that were started here."""

    def before(self, target: Watched) -> None:
        self.processes = target.processes
        if not _is_linux(self.processes):
            raise NotWatched("there is no /proc here")
        self.asker = target.asker()
        self.port = target.address[1]
        self.at_first = self.at_last = held_by(self.processes)


def _is_linux(processes: list[int]) -> bool:
    try:
        held_by(processes)
    except OSError:
        return False
    return True


class Descriptors(Resources):
    """Sockets, other descriptors and threads are back where they were."""

    def after(self, now: float, played: Played) -> str | None:
        try:
            eventually(lambda: self._excess(played) is None, self.asker.link, "not yet", SETTLES_S)
        except Wrong:
            return self._excess(played)
        return None

    def _excess(self, played: Played) -> str | None:
        self.at_last = held_by(self.processes)
        waiting = half_closed(self.port)
        for what, spare in (
            ("sockets", SPARE + played.silent), ("files", SPARE), ("threads", SPARE_THREADS),
        ):  # fmt: skip
            was, is_ = getattr(self.at_first, what), getattr(self.at_last, what)
            if is_ > was + spare:
                return f"{is_} {what}, {was} at the begin; {waiting} connections in CLOSE_WAIT"
        return None

    def figures(self) -> str:
        return f"{_told(self.at_first)} -> {_told(self.at_last)}"


def _told(held: ProcessUse) -> str:
    return f"{held.sockets} sockets {held.files} files {held.threads} threads"


class Memory(Resources):
    """Resident memory grows by a fixed amount, and by less than a byte for each byte sent."""

    PER_BYTE = 1.0

    def before(self, target: Watched) -> None:
        super().before(target)
        # A JVM takes its heap when it needs it, 512 MiB here (harness.targets.jvm); in 12,000 cases
        # 4.3.1 grew by 123 MiB and our broker by 8.
        self.spare = 512 * MIB if any(map(is_java, self.processes)) else 48 * MIB

    def after(self, now: float, played: Played) -> str | None:
        self.at_last, self.sent = held_by(self.processes), played.sent
        grown = self.at_last.memory - self.at_first.memory
        allowed = self.spare + self.PER_BYTE * played.sent
        if grown > allowed:
            return f"{grown / MIB:.0f} MiB more than at the begin, allowed {allowed / MIB:.0f} MiB"
        return None

    def figures(self) -> str:
        was, is_ = self.at_first.memory / MIB, self.at_last.memory / MIB
        return f"{was:.0f} -> {is_:.0f} MiB for {getattr(self, 'sent', 0) / MIB:.1f} MiB sent"


class IdleProcessor(Resources):
    """Who is asked nothing does nothing.

    Looked at is whether a thread wants a processor, not how much of one it got: on a machine that
    others use, that says little.
    """

    MOST = 0.5  # of the looks
    LOOKS = 8

    def before(self, target: Watched) -> None:
        super().before(target)
        self.least = 0.0

    def after(self, now: float, played: Played) -> str | None:
        shares = []
        for _ in range(self.LOOKS):
            shares.append(self._share())
            if shares[-1] <= self.MOST:
                break
        self.least = min(shares)
        if self.least > self.MOST:
            return f"it runs at {self.least:.0%} of all looks although nobody asks anything"
        return None

    def _share(self) -> float:
        elapsed, looks = stopwatch(), list[bool]()
        while elapsed() < 1.0:
            looks.append(wants_a_processor(self.processes))
            self.asker.link.rest()
        return sum(looks) / len(looks)

    def figures(self) -> str:
        return f"runs at {self.least:.0%} of all looks when idle"
