"""A client process of a simulation: a flow of turns that goes on until it is told to stop, or dies.

`ActorLifecycle` keeps one place filled: its actor comes, goes, crashes or falls asleep by the seed,
and after a while another actor takes the place. A sleeper is the zombie of KIP-98: it is replaced
while it sleeps and wakes up believing that nothing happened.
"""

from __future__ import annotations

from collections.abc import Callable

from touchstone.reference_impl.client.flow import Flow, Pause
from touchstone.reference_impl.sim.client import SimClient
from touchstone.reference_impl.sim.world import World


class Actor:
    """`_turn` is one round of work, `_last` what is done before it goes for good."""

    def __init__(self, client: SimClient, world: World, *, gap_ms: int) -> None:
        self.client = client
        self.stopped = False
        self._world = world
        self._gap_ms = gap_ms

    def start(self) -> None:
        self.client.run(self._forever())

    def _forever(self) -> Flow[None]:
        while not self.stopped:
            yield from self._turn()
            yield Pause(self.client.view.now + self._world.random.randint(1, self._gap_ms))
        yield from self._last()

    def _turn(self) -> Flow[None]:
        raise NotImplementedError

    def _last(self) -> Flow[None]:
        return
        yield

    def tell(self, what: str) -> None:
        self._world.tell(self.client.name, what)


class ActorLifecycle:
    """Keeps one place filled with actors that `make(number)` gives; the first begins at `start`."""

    def __init__(
        self,
        world: World,
        make: Callable[[int], Actor],
        *,
        lasts_ms: tuple[int, int] = (2_000, 12_000),
        gap_ms: tuple[int, int] = (100, 4_000),
        ends: tuple[str, ...] = ("leaves", "dies", "sleeps"),
    ) -> None:
        self._world = world
        self._make = make
        self._lasts_ms, self._gap_ms, self._ends = lasts_ms, gap_ms, ends
        self._count = 0
        self._stays = False
        self.actor: Actor | None = None

    @property
    def stopped(self) -> bool:
        return self.actor is None or self.actor.stopped

    @stopped.setter
    def stopped(self, stop: bool) -> None:
        if self.actor is not None:
            self.actor.stopped = stop

    def stay(self) -> None:
        """Keep the present actor, or start one, and let it stay."""
        self._stays = True
        if self.actor is None:
            self.start()

    def start(self) -> None:
        if self.actor is not None:
            return
        self.actor = self._make(self._count)
        self._count += 1
        self.actor.start()
        self._world.after(self._world.random.randint(*self._lasts_ms), self._end)

    def _end(self) -> None:
        if self._stays or self.actor is None:
            return
        actor, self.actor = self.actor, None
        how = self._world.random.choice(self._ends)
        actor.tell(how)
        if how == "leaves":
            actor.stopped = True
        elif how == "dies":
            actor.client.crash()
        else:
            actor.client.sleep()
            self._world.after(self._world.random.randint(500, 9_000), lambda: self._wake(actor))
        self._world.after(self._world.random.randint(*self._gap_ms), self.start)

    def _wake(self, actor: Actor) -> None:
        """Let the actor go on where it was, for a moment."""
        actor.tell("wakes")
        actor.client.wake()
        self._world.after(self._world.random.randint(200, 2_000), actor.client.crash)
