"""A broker in the simulation: the core, its connections and its alarm clock, but no machine.

Does what `io.event_loop` does with sockets: one request in work per connection, effects carried
out, `tick` when the core says something is due. A host can be killed (its core is gone, its logs
are the disk and stay), paused (what arrives waits, nothing is due) and started again with a fresh
core. Connections to a host that is down are reset when something arrives there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.effects import Ask, Close, Connection, Effect, Reply
from touchstone.reference_impl.sim.network import Network
from touchstone.reference_impl.sim.world import World


class Line(Connection):
    """A connection, seen from the broker; `answer(frame)` and `lost()` are the peer's ends."""

    __slots__ = ("answer", "busy", "frames", "lost", "open", "peer")

    def __init__(
        self, number: int, peer: str, answer: Callable[[bytes], None], lost: Callable[[], None]
    ) -> None:
        super().__init__(number, "127.0.0.1")
        self.peer = peer
        self.answer = answer
        self.lost = lost
        self.frames: deque[bytes] = deque()
        self.busy = False
        self.open = True


class PeerLine(Line):
    """A broker's connection to another."""

    __slots__ = ()
    of_broker = True


class Host:
    def __init__(self, node_id: int, world: World, network: Network) -> None:
        self.id = node_id
        self.name = f"b{node_id}"
        self.core: Broker | None = None
        self.paused = False
        self.hosts: dict[int, Host] = {}
        self._world = world
        self._network = network
        self._lines: dict[Line, None] = {}  # ordered, so that a seed decides everything
        self._links: dict[tuple[int, str], Line] = {}  # of ours to peers
        self._asked: dict[Line, deque[int]] = {}
        self._waiting: deque[Callable[[], None]] = deque()  # arrived while paused
        self._wake_at: int | None = None

    # --- life ----------------------------------------------------------------------------------

    @property
    def up(self) -> bool:
        return self.core is not None

    @property
    def running(self) -> Broker:
        """Its core; whoever asks knows that it is up."""
        if self.core is None:
            raise RuntimeError(f"{self.name} is down")
        return self.core

    def start(self, core: Broker) -> None:
        self.core = core
        self._world.tell(self.name, "starts")
        self._arrange()

    def kill(self) -> None:
        """End at once: peers notice when they next send, or when nothing comes."""
        self.core, self.paused = None, False
        self._waiting.clear()
        self._wake_at = None
        self._world.tell(self.name, "killed")
        for line in list(self._lines):
            self._reset(line)
        self._links.clear()
        self._asked.clear()

    def pause(self) -> None:
        self.paused = True
        self._world.tell(self.name, "paused")

    def resume(self) -> None:
        self.paused = False
        self._world.tell(self.name, "resumes")
        while self._waiting and not self.paused:
            self._waiting.popleft()()
        self._wake_at = None
        self._arrange()

    # --- what arrives --------------------------------------------------------------------------

    def arrives(self, line: Line, frame: bytes) -> None:
        if self.paused:
            self._waiting.append(lambda: self.arrives(line, frame))
        elif not self.up or not line.open:
            self._reset(line)
        else:
            self._lines[line] = None
            line.frames.append(frame)
            self._work(line)
            self._arrange()

    def receive_change(self, apply: Callable[[], None]) -> None:
        """A change that the controller publishes arrives."""
        if self.paused:
            self._waiting.append(lambda: self.receive_change(apply))
        elif self.up:
            apply()
            self._arrange()

    def hung_up(self, line: Line) -> None:
        """The peer closed."""
        if self.paused:
            self._waiting.append(lambda: self.hung_up(line))
            return
        line.open = False
        self._lines.pop(line, None)
        if self.core is not None:
            self.core.closed(line)

    def _work(self, line: Line) -> None:
        while line.frames and not line.busy and line.open and self.core is not None:
            line.busy = True
            frame = line.frames.popleft()
            self._perform(self.core.receive(line, frame, self._world.now))

    def _perform(self, effects: list[Effect]) -> None:
        for effect in effects:
            if type(effect) is Ask:
                self._ask(effect)
                continue
            line = effect.connection
            assert isinstance(line, Line), "every connection of a simulated host is a line"
            if not line.open:
                continue
            if type(effect) is Close:
                self._reset(line)
                continue
            if type(effect) is Reply:
                frame = b"".join(effect.parts)
                self._network.send(self.name, line.peer, partial(line.answer, frame))
            line.busy = False
            self._world.at(self._world.now, partial(self._work, line))

    def _reset(self, line: Line) -> None:
        line.open = False
        line.frames.clear()
        self._lines.pop(line, None)
        if self.core is not None:
            self.core.closed(line)
        self._network.send(self.name, line.peer, line.lost)

    # --- what is asked of peers ----------------------------------------------------------------

    def _ask(self, ask: Ask) -> None:
        """Carry a frame to a peer and its answer back; a peer that is gone gives None."""
        place = ask.peer, ask.channel
        line = self._links.get(place)
        if line is None or not line.open:
            line = self._links[place] = self._dial(*place)
        self._asked[line].append(ask.correlation_id)
        frame = b"".join(ask.parts)
        peer = self.hosts[ask.peer]
        self._network.send(self.name, peer.name, lambda: peer.arrives(line, frame))

    def _dial(self, peer: int, channel: str) -> Line:
        line = PeerLine(
            self._world.number(),
            self.name,
            lambda frame: self._answered(line, frame),
            lambda: self._lost(line),
        )
        self._asked[line] = deque()
        return line

    def _answered(self, line: Line, frame: bytes) -> None:
        if self.paused:
            self._waiting.append(lambda: self._answered(line, frame))
        elif self.core is not None and self._asked.get(line):
            correlation = self._asked[line].popleft()
            self._perform(self.core.answered(correlation, frame, self._world.now))
            self._arrange()

    def _lost(self, line: Line) -> None:
        if self.paused:
            self._waiting.append(lambda: self._lost(line))
            return
        for correlation in self._asked.pop(line, ()):
            if self.core is not None:
                self._perform(self.core.answered(correlation, None, self._world.now))
        self._arrange()

    # --- time ----------------------------------------------------------------------------------

    def _arrange(self) -> None:
        """See to it that the core is asked again when something is due."""
        due = self.core.deadline() if self.core is not None else None
        if due is None or (self._wake_at is not None and self._wake_at <= due):
            return
        at = self._wake_at = max(due, self._world.now)
        self._world.at(at, lambda: self._wake(at))

    def _wake(self, at: int) -> None:
        if self._wake_at != at:
            return  # something sooner was arranged since
        self._wake_at = None
        if self.core is None or self.paused:
            return
        due = self.core.deadline()
        if due is not None and due <= self._world.now:
            self._perform(self.core.tick(self._world.now))
        self._arrange()
