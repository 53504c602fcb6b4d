"""One turn of a load generator: how often something was done in a second, and who spent what on it.

A rate is what a whole machine made of both ends. Two more figures say what it is worth: the broker
processes' own processor time for each deed, which a busy machine hardly changes, and how much of
the turn the generator was busy itself: near one, it was the generator that was measured.

Kafka's processor time is that of all its processes and threads, its compiler's and collector's
too; the controller beside a single broker is asked nothing while a bench runs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from touchstone.harness.bench.contest import Figure, Options, our_broker, peer_broker

USER, SYSTEM = 11, 12  # of /proc/PID/stat, counted behind the name: ticks of the clock
PROC = Path("/proc")


class Turn(NamedTuple):
    rate: float  # deeds in a second
    cpu_ms: float | None  # of the broker for each deed; None where nobody tells
    busy: float  # share of the turn that the generator was on a processor


Measure = Callable[[str, list[int]], Turn]  # given bootstrap servers and process numbers


class Meter:
    """Began when it was made."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._pids = list(pids)
        self._spent = processor_seconds(self._pids)
        self._own, self._began = time.process_time(), time.monotonic()

    def turn(self, deeds: int) -> Turn:
        """So much was done since."""
        seconds = time.monotonic() - self._began
        own, spent = time.process_time() - self._own, processor_seconds(self._pids)
        cpu = None
        if deeds and spent is not None and self._spent is not None:
            cpu = (spent - self._spent) * 1000 / deeds
        return Turn(deeds / seconds, cpu, own / seconds)


def processor_seconds(pids: Iterable[int], proc: Path = PROC) -> float | None:
    """What these processes have spent so far; None where there is no /proc, or no process."""
    ticks, pids = 0, list(pids)
    for pid in pids:
        try:
            said = (proc / str(pid) / "stat").read_text(encoding="utf-8")
        except OSError:
            return None
        fields = said.rpartition(")")[2].split()
        ticks += int(fields[USER]) + int(fields[SYSTEM])
    return ticks / os.sysconf("SC_CLK_TCK") if pids else None


def contest(
    options: Options, peer: str, bench: str, what: str, deed: str, measure: Measure
) -> Iterator[Figure]:
    """The best rate of each side, and its least processor time, of turns one after the other."""
    ours, theirs = [], []
    for _ in range(options.rounds):
        with our_broker(options) as (bootstrap, pid):
            ours.append(measure(bootstrap, [pid]))
        with peer_broker(peer) as (bootstrap, pids):
            theirs.append(measure(bootstrap, pids))
    options.say(f"{what}: {_told(ours)}; {peer} {_told(theirs)}")
    rates = (round(max(turn.rate for turn in side), 1) for side in (ours, theirs))
    fast, other = rates
    yield Figure(bench, what, fast, f"{deed}s/s", peer, other, notes={"busy": _busy(ours, theirs)})
    least = _least(ours)
    if least is not None:
        cpu, unit = _least(theirs), f"ms CPU/{deed}"
        yield Figure(bench, f"{what}: broker", least, unit, peer, cpu, more_is_better=False)


def _least(turns: list[Turn]) -> float | None:
    known = [turn.cpu_ms for turn in turns if turn.cpu_ms is not None]
    return round(min(known), 3) if known else None


def _busy(*sides: list[Turn]) -> list[float]:
    return [round(max(turn.busy for turn in side), 2) for side in sides]


def _told(turns: list[Turn]) -> str:
    best, least = max(turns), _least(turns)
    cpu = "" if least is None else f", {least:.3f} ms CPU each"
    return f"{best.rate:.1f}/s{cpu} (generator {best.busy:.0%} busy)"
