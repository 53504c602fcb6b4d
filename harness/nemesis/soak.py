"""A client's soak: our client works for hours at a cluster whose brokers are harmed one by one.

The client has a process of its own, so that the memory that is measured is its own; what it sees
is checked there as it comes (`checkers/soaks`). Here brokers are harmed, its memory is looked at,
and both end in one `Result`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any

from touchstone.harness.checkers.histories import CONFORMS, DIVERGES, INCONCLUSIVE
from touchstone.harness.checkers.soaks import flat
from touchstone.harness.driver import brokers
from touchstone.harness.driver.soak.handle import Handle, LoadFailed
from touchstone.harness.driver.soak.plan import SoakPlan
from touchstone.harness.model.target import StartFailed
from touchstone.harness.nemesis import campaign
from touchstone.harness.nemesis.fault_target import FaultTarget

CALM_S = (2.0, 10.0)  # between two faults, drawn between these
SAMPLE_S = 5.0  # between two looks at the memory
SAYS_EVERY_S = 30.0
MOST_STARTS = 5
START_S, LOOK_S = 120.0, 0.05
MIB = 1 << 20


@dataclass(slots=True)
class Result:
    """`samples` are the bytes of all objects of the client's process, every `SAMPLE_S` seconds;
    `resident` is what it had mapped last (`driver.object_sizes` says why it is not judged).
    """

    target: str
    plan: SoakPlan
    seconds: float
    findings: list[str] = field(default_factory=list)
    bites: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)  # faults that did not bite
    slow: list[str] = field(default_factory=list)  # brokers that needed another start
    samples: list[int] = field(default_factory=list)
    resident: int = 0
    whole: bool = False  # everything was read to its end
    last: dict[str, Any] = field(default_factory=dict)

    @property
    def problems(self) -> list[str]:
        grown = flat.growth(self.samples) or 0
        leak = [] if flat.is_flat(self.samples) else [f"memory grew by {grown / MIB:.1f} MiB"]
        return [*self.findings, *leak]

    @property
    def harmed(self) -> bool:
        """Whether a fault was tried."""
        return bool(self.bites or self.missed or self.slow)

    @property
    def verdict(self) -> str:
        if self.problems:
            return DIVERGES
        worked = self.last.get("counts", {}).get("acknowledged") and self.bites
        return CONFORMS if self.whole and worked and not self.missed else INCONCLUSIVE

    def summary(self) -> str:
        counts, groups = self.last.get("counts", {}), self.last.get("groups", {})
        grown = flat.growth(self.samples)
        again = sum(each.get("read again", 0) for each in groups.values())
        words = [
            f"{counts.get('acknowledged', 0):,} of {counts.get('sent', 0):,} records acknowledged",
            f"{counts.get('failed', 0)} failed", f"{counts.get('read', 0):,} read",
            f"{again:,} read again by groups", f"{len(self.bites)} faults",
            f"{self.samples[-1] / MIB:.1f} MiB of objects" if self.samples else "no memory seen",
            "too short to see it grow" if grown is None else f"{grown / MIB:+.1f} MiB grown",
            f"{self.resident / MIB:.1f} MiB resident",
            f"{len(self.findings)} findings",
        ]  # fmt: skip
        return f"{self.verdict}: {self.target}, seed {self.plan.seed}: {', '.join(words)}"

    def row(self) -> dict[str, Any]:
        return {"verdict": self.verdict, "problems": self.problems, **asdict(self)}


def run(
    cluster: FaultTarget, plan: SoakPlan, names: Sequence[str], seconds: float, target: str,
    say: Callable[[str], None],
) -> Result:  # fmt: skip
    """One soak. Raises LoadFailed for a mistake of ours."""
    result = Result(target, plan, seconds)
    random = Random(f"{plan.seed}/soak")
    address = next(iter(cluster.endpoint.brokers.values()))

    def hear(row: dict[str, Any]) -> None:
        for text in row.pop("findings"):
            result.findings.append(text)
            say(text)
        result.last = row

    with Handle(plan, hear) as load:
        _until_it_works(load, result)
        began = time.monotonic()
        looks = _Looks(load, result, say)
        harm_at = began + CALM_S[1]
        while not load.over.is_set():
            if time.monotonic() >= began + seconds and (result.harmed or seconds < CALM_S[1]):
                break
            looks.look()
            if time.monotonic() >= harm_at:
                _harm(cluster, load, random.choice(list(names)), random, result, say)
                harm_at = time.monotonic() + random.uniform(*CALM_S)
            load.over.wait(0.5)
        brokers.whole(address, cluster.endpoint.brokers, campaign.RECOVERY_S)
        result.whole = load.finish()["whole"]
    return result


def _until_it_works(load: Handle, result: Result) -> None:
    """Return when a record was acknowledged: until then the soak has not begun, for a program takes
    seconds to start, and more on a busy machine. One that does not work at all shows in its result.
    """
    deadline = time.monotonic() + START_S
    while not result.last.get("counts", {}).get("acknowledged") and time.monotonic() < deadline:
        if load.over.wait(LOOK_S):
            return


def _harm(
    cluster: FaultTarget, load: Handle, name: str, random: Random, result: Result,
    say: Callable[[str], None],
) -> None:  # fmt: skip
    """One fault. On a machine without time a broker may not come back in its own: then again."""
    try:
        bite = campaign.bite(cluster, load, name, random)
        (result.missed if bite.proof is None else result.bites).append(str(bite))
    except (StartFailed, TimeoutError) as trouble:
        result.slow.append(
            f"{name}: {str(trouble).splitlines()[0] if str(trouble) else 'too slow'}"
        )
        say(result.slow[-1])
        for _ in range(MOST_STARTS):
            with suppress(StartFailed, TimeoutError):
                _revive(cluster)
                return
        raise LoadFailed("a broker does not start again") from trouble


def _revive(cluster: FaultTarget) -> None:
    """Start the processes that have ended; brokers of this process come to what they were told."""
    for broker in cluster.brokers:
        child = getattr(cluster.node(broker), "child", None)
        if child is not None and not child.alive:
            cluster.node(broker).start()


class _Looks:
    """What is looked at and said now and then."""

    def __init__(self, load: Handle, result: Result, say: Callable[[str], None]) -> None:
        self._load, self._result, self._say = load, result, say
        self._began = self._sample_at = self._say_at = time.monotonic()

    def look(self) -> None:
        now = time.monotonic()
        if now >= self._sample_at:
            self._sample_at = now + SAMPLE_S
            self._result.resident = self._load.resident()
            if object_bytes := self._result.last.get("object_bytes"):
                self._result.samples.append(object_bytes)
        if now >= self._say_at:
            self._say_at = now + SAYS_EVERY_S
            errors = dict(self._result.last.get("errors", {}))
            opened = self._result.last.get("open", 0)
            self._say(f"{now - self._began:.0f} s: {self._result.summary().split(': ', 2)[2]}; "
                      f"{opened} open; errors {errors}")  # fmt: skip
