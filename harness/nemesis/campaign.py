"""One fault after another while a workload works, and what is to be said of the whole.

A run is: calm, then faults of the wanted kinds at brokers of the seed's choosing, each held for a
while and undone, until the time is up; then everything is read to the end and judged. Its verdict
is the history's, except that silence needs reasons: a fault that did not bite, a cluster that did
not recover, a partition that could not be read to its end make it INCONCLUSIVE, not good.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Protocol

from touchstone.harness.checkers.histories import (
    CONFORMS,
    DIVERGES,
    INCONCLUSIVE,
    Report,
    judge,
)
from touchstone.harness.driver import brokers
from touchstone.harness.driver.workload import Plan, Workload
from touchstone.harness.model import history as histories
from touchstone.harness.nemesis import faults
from touchstone.harness.nemesis.fault_target import FaultTarget

WITHOUT_FAULT_S = 0.8  # before each fault
HOLD_S = (1.0, 3.0)  # how long a fault lasts, drawn between these
RECOVERY_S, DRAIN_S = 60.0, 120.0
LOOK_S = 0.1
NONE = "none"


@dataclass(frozen=True, slots=True)
class Bite:
    """A fault that was inflicted; `proof` is None when nobody could see it bite."""

    fault: str
    broker: int
    proof: str | None

    def __str__(self) -> str:
        return f"{self.fault} of broker {self.broker}: {self.proof or 'it did not bite'}"


@dataclass(slots=True)
class Outcome:
    """What one run came to."""

    path: Path
    report: Report
    bites: list[Bite] = field(default_factory=list)
    whole: bool = True  # every partition was read to its end, in sync again
    stalled: str = ""  # that nothing was acknowledged any more, and since when
    stuck: Sequence[str] = ()  # clients that did not end

    @property
    def why_not(self) -> list[str]:
        """Reasons why a run without anomalies proves nothing."""
        reasons = [str(bite) for bite in self.bites if bite.proof is None]
        if not self.whole:
            reasons.append("not every partition came to be in sync and read to its end")
        reasons += [f"{name} did not end; its operations are unknown" for name in self.stuck]
        return [self.stalled, *reasons] if self.stalled else reasons

    @property
    def verdict(self) -> str:
        if self.stalled:
            return DIVERGES
        found = self.report.verdict
        return INCONCLUSIVE if found == CONFORMS and self.why_not else found


class Harmed(Protocol):
    """A workload as a fault sees it; `over` is set when it has ended by itself."""

    over: threading.Event

    def note(self, what: str) -> None: ...


def unsupported(names: Sequence[str], cluster: FaultTarget) -> dict[str, str]:
    """Which of these faults cannot befall this cluster, and why."""
    found = {name: faults()[name].unsupported(cluster) for name in names if name != NONE}
    return {name: why for name, why in found.items() if why}


def run(
    cluster: FaultTarget, plan: Plan, names: Sequence[str], seconds: float, path: Path,
    say: Callable[[str], None] = lambda word: None,
) -> Outcome:  # fmt: skip
    """One run; its history is at `path` afterwards. Raises Broken for a mistake of ours."""
    for address in cluster.endpoint.brokers.values():  # the fault before may still be felt
        brokers.whole(address, cluster.endpoint.brokers, RECOVERY_S)
    random = Random(f"{plan.seed}/nemesis")  # small seeds alone begin much alike
    bites: list[Bite] = []
    stalled = ""
    with Workload(plan, path) as workload:
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            workload.over.wait(WITHOUT_FAULT_S)
            name = random.choice(list(names))
            if name != NONE:
                bites.append(bite(cluster, workload, name, random))
                say(f"{bites[-1]}; {workload.recorder.counts['send ok']} sends acknowledged")
                stalled = _stalled(workload, name)
                if stalled:
                    break
        whole = workload.finish(DRAIN_S)
    with path.open(encoding="utf-8") as lines:
        report = judge(histories.read(lines, str(path)))
    return Outcome(path, report, bites, whole, stalled, workload.stuck)


def _stalled(workload: Workload, name: str) -> str:
    """Wait until something is acknowledged after this fault; returned is that nothing is, or "".

    Whoever is well again serves: each of these faults undoes itself, and Kafka goes on after it.
    """
    counts = workload.recorder.counts
    before, until = counts["send ok"], time.perf_counter() + RECOVERY_S
    while counts["send ok"] == before and any(workload.plan.acks) and workload.plan.producers:
        if time.perf_counter() > until:
            return f"nothing was acknowledged for {RECOVERY_S:.0f} s after {name} was over"
        workload.over.wait(LOOK_S)
    return ""


def bite(cluster: FaultTarget, workload: Harmed, name: str, random: Random) -> Bite:
    """One fault, looked at, held, and undone."""
    broker = random.choice(cluster.brokers)
    hold = random.uniform(*HOLD_S)
    workload.note(f"{name} of broker {broker}")
    with faults()[name].inflicted(cluster, broker, random) as evidence:
        proof = evidence()
        workload.over.wait(hold)
    workload.note(f"{name} of broker {broker} is over")
    return Bite(name, broker, proof)
