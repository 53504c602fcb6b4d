"""Wires between hosts deliver in order: later, or not before the wire is whole.

A wire has one direction, so half of a pair can be cut (an asymmetric partition). Brokers and
clients speak TCP, therefore nothing is lost or reordered on a wire: a cut one holds what is sent
until it is healed, and it is the senders' patience that decides what becomes of the request. A
host that is down answers what arrives with a reset, one that is paused with silence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from touchstone.reference_impl.sim.world import World

Deliver = Callable[[], None]


@dataclass(slots=True)
class Wire:
    cut: bool = False
    extra_ms: int = 0  # of a slow link
    clear_at: int = 0  # nothing may arrive before what was sent earlier
    held: list[Deliver] = field(default_factory=list)


class Network:
    """Hosts are known by name ("b0", "c1")."""

    def __init__(self, world: World, latencies: tuple[int, ...] = (0, 0, 1, 1, 2, 4)) -> None:
        self._world = world
        self._latencies = latencies
        self._wires: dict[tuple[str, str], Wire] = {}

    def send(self, source: str, target: str, deliver: Deliver) -> None:
        """Have `deliver` happen at the target when the wire lets it."""
        wire = self._wire(source, target)
        if wire.cut:
            wire.held.append(deliver)
            return
        world = self._world
        delay = world.random.choice(self._latencies) + wire.extra_ms
        wire.clear_at = max(wire.clear_at, world.now + delay)
        world.at(wire.clear_at, deliver)

    def cut(self, source: str, target: str) -> None:
        self._wire(source, target).cut = True
        self._world.tell("net", f"cut {source}>{target}")

    def cuts(self, source: str, target: str) -> bool:
        wire = self._wires.get((source, target))
        return wire is not None and wire.cut

    def heal(self, source: str, target: str) -> None:
        wire = self._wire(source, target)
        wire.cut = False
        held, wire.held = wire.held, []
        self._world.tell("net", f"heal {source}>{target} ({len(held)} held)")
        for deliver in held:
            self.send(source, target, deliver)

    def slow(self, source: str, target: str, extra_ms: int) -> None:
        """So much later than usual from now on; 0 is a wire like any other."""
        self._wire(source, target).extra_ms = extra_ms
        self._world.tell("net", f"slow {source}>{target} by {extra_ms} ms")

    def _wire(self, source: str, target: str) -> Wire:
        return self._wires.setdefault((source, target), Wire())
