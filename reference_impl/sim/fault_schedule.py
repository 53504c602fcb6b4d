"""Brokers die, freeze or are cut off in a simulation, as the seed draws it.

A fault is begun, lasts, and is undone; a host then has some peace before the next one. At most
`most` hosts are harmed at once, so that with three replicas and min.insync.replicas=2 there is
something left to promise. `stop` undoes everything, which is how every run ends.

A broker that hears nobody but is heard ("half-cut") keeps its session, so nobody takes its place
and what it leads stands still, in Kafka as here; a leader is so harmed for less time than writers
may stall.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from touchstone.reference_impl.sim.cluster import Simulation

DEAF_LEADER_MS = 5_000


class FaultSchedule:
    def __init__(
        self,
        simulation: Simulation,
        *,
        kinds: Sequence[str] = (),
        most: int = 1,
        pause_ms: tuple[int, int] = (200, 3_000),
        lasts_ms: tuple[int, int] = (200, 20_000),
        peace_ms: int = 4_000,
    ) -> None:
        self._simulation = simulation
        self._kinds = tuple(kinds) or tuple(FAULTS)
        self._most = most
        self._pause_ms = pause_ms
        self._lasts_ms = lasts_ms
        self._peace_ms = peace_ms
        self._peace: dict[int, int] = {}  # until when a host is left alone
        self._harmed: dict[int, Callable[[], None]] = {}
        self._stopped = False
        self.done: list[str] = []

    def start(self) -> None:
        self._later(self._begin, self._pause_ms)

    def stop(self) -> None:
        """Begin no further fault, and undo those that last."""
        self._stopped = True
        for broker in list(self._harmed):
            self._end(broker)

    def _later(self, call: Callable[[], None], bounds: tuple[int, int]) -> None:
        world = self._simulation.world
        world.after(world.random.randint(*bounds), call)

    def _begin(self) -> None:
        if self._stopped:
            return
        world = self._simulation.world
        sound = [
            broker
            for broker in sorted(self._simulation.hosts)
            if broker not in self._harmed and self._peace.get(broker, 0) <= world.now
        ]
        if len(self._harmed) < self._most and sound:
            broker, kind = world.random.choice(sound), world.random.choice(self._kinds)
            self._harmed[broker] = FAULTS[kind](self._simulation, broker)
            self.done.append(kind)
            least, most = self._lasts_ms
            if kind == "half-cut" and self._simulation.is_leader(broker):
                most = min(most, DEAF_LEADER_MS)
            self._later(lambda: self._end(broker), (least, most))
        self._later(self._begin, self._pause_ms)

    def _end(self, broker: int) -> None:
        undo = self._harmed.pop(broker, None)
        if undo is not None:
            undo()
            self._peace[broker] = self._simulation.world.now + self._peace_ms


def _kill(simulation: Simulation, broker: int) -> Callable[[], None]:
    simulation.kill(broker)
    return lambda: simulation.restart(broker)


def _pause(simulation: Simulation, broker: int) -> Callable[[], None]:
    simulation.pause(broker)
    return lambda: simulation.resume(broker)


def _isolate(simulation: Simulation, broker: int) -> Callable[[], None]:
    """Cut it off from brokers and controller, not from clients: a leader that is unaware."""
    simulation.isolate(broker)
    return lambda: simulation.rejoin(broker)


def _half_cut(simulation: Simulation, broker: int) -> Callable[[], None]:
    """Others hear it, it does not hear them."""
    simulation.isolate(broker, outwards=False)
    return lambda: simulation.rejoin(broker)


def _slow(simulation: Simulation, broker: int) -> Callable[[], None]:
    extra = simulation.world.random.choice((20, 200, 900))
    simulation.slow(broker, extra)
    return lambda: simulation.slow(broker, 0)


FAULTS: dict[str, Callable[[Simulation, int], Callable[[], None]]] = {
    "kill": _kill,
    "pause": _pause,
    "isolate": _isolate,
    "half-cut": _half_cut,
    "slow": _slow,
}
