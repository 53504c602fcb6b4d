"""A trial runs one seed: a cluster, clients, faults, and the verdict on their promises.

    trial(7) -> Trial(seed=7, violation=None, digest=...)

The seed is all there is to know about a failure: the same seed, release and switches give the same
trace, whose last lines come with the verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from touchstone.reference_impl.sim.cluster import Simulation
from touchstone.reference_impl.sim.fault_schedule import FaultSchedule
from touchstone.reference_impl.sim.invariants import Invariants, InvariantViolation
from touchstone.reference_impl.sim.workload import History
from touchstone.reference_impl.sim.workloads import WORKLOADS

LOOK_MS = 100  # how often the invariants are looked at
STALL_MS = 12_000  # with one broker of three harmed, a write may take so long and no longer
RECOVERY_MS = 15_000  # for everything to come back once all is healed
START_MS, DRAIN_MS = 500, 4_000
PATIENCE_MS = 40_000  # with who still has to read: members that died must be missed first


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a seed; times in simulated ms."""

    seed: int
    violation: str | None
    digest: str
    simulated_ms: int
    acknowledged: int
    unknown: int
    read: int
    faults: Mapping[str, int]
    groups: Mapping[str, int] = field(default_factory=dict)  # what members and copiers got done
    tail: tuple[str, ...] = ()  # the last lines of the trace, where something was violated


def trial(
    seed: int,
    *,
    seconds: int = 30,
    brokers: int = 3,
    partitions: int = 2,
    release: str = "4.3",
    switches: Sequence[str] = (),
    kinds: Sequence[str] | None = None,
    config: Mapping[str, str] | None = None,
    workload: str = "plain",
    traced: bool = False,
) -> Trial:
    """Run one seed with faults for so many simulated seconds, then heal everything and judge.

    `traced` keeps the end of the trace where nothing was violated too.
    """
    kind = WORKLOADS[workload]
    settings = {**kind.settings, **(config or {})}
    simulation = Simulation(seed, brokers, release=release, switches=switches, config=settings)
    work = kind(simulation, partitions)
    simulation.advance(START_MS)
    history, world = work.history, simulation.world
    actors = work.actors()
    faults = FaultSchedule(simulation, kinds=kinds or ())
    invariants = Invariants(simulation)
    violation = None
    try:
        for each in (*actors, faults):
            each.start()
        _pass(simulation, invariants, history, seconds * 1000, stall_ms=STALL_MS)
        faults.stop()
        work.end_faults()
        _pass(simulation, invariants, history, RECOVERY_MS, stall_ms=STALL_MS)
        for step in work.steps():
            for each in step:
                each.stopped = True
            simulation.advance(DRAIN_MS)
            for _ in range(PATIENCE_MS // DRAIN_MS):
                if not work.caught_up():
                    simulation.advance(DRAIN_MS)
        work.settle(invariants)
    except InvariantViolation as found:
        violation = str(found)
    acknowledged = sum(write.acknowledged for write in history.writes)
    return Trial(
        seed,
        violation,
        world.trace.digest,
        world.now - world.start,
        acknowledged,
        len(history.writes) - acknowledged,
        len(history.reads),
        Counter(faults.done),
        work.figures(),
        tuple(world.trace.last) if violation or traced else (),
    )


def _pass(
    simulation: Simulation,
    invariants: Invariants,
    history: History,
    ms: int,
    *,
    stall_ms: int,
) -> None:
    """Let time pass, look again and again, and see that writers get somewhere."""
    world, known, since = simulation.world, len(history.writes), simulation.world.now
    for _ in range(ms // LOOK_MS):
        simulation.advance(LOOK_MS)
        invariants.look()
        fresh = any(write.acknowledged for write in history.writes[known:])
        known = len(history.writes)
        if fresh:
            since = world.now
        elif world.now - since > stall_ms:
            raise InvariantViolation(
                f"seed {world.seed}, {world.now - world.start} ms: nothing was acknowledged"
                f" for {stall_ms} ms"
            )
