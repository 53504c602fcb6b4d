"""The reference broker as a target without sockets: bytes in, an outcome out, on virtual time.

The broker's core is the one that `touchstone broker` serves; only its surroundings are made anew
here: frames are cut as the event loop cuts them, what a broker asks of itself goes through the same
links, and time is a number. A case takes a millisecond. A request that is kept waiting is given the
time that a socket would have given it, at once, so silence costs nothing; nothing here looks at a
clock, so the same cases have the same outcomes, always.

A broker that has served many cases is slower and larger than a fresh one, and its topics are
deleted; `renew` replaces it now and then.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence

from touchstone.fuzz.lanes import HELD_TIMEOUT_S, Planned
from touchstone.fuzz.outcome import CLOSED, KEPT, RAISED, SILENT, Outcome
from touchstone.fuzz.ring import Ring
from touchstone.fuzz.runner import Link, Question
from touchstone.fuzz.segments import frames_in, may_wait
from touchstone.reference_impl.broker.assembly import Assembly
from touchstone.reference_impl.broker.configs.config_view import spread_defaults
from touchstone.reference_impl.broker.control.cluster_controller import membership_rules
from touchstone.reference_impl.broker.effects import Ask, Close, Connection, Effect, Reply
from touchstone.reference_impl.cluster.membership import Membership
from touchstone.reference_impl.cluster.topology import Cluster, Node
from touchstone.reference_impl.io.links import Links, PeerConnection
from touchstone.reference_impl.wire.schema import Struct

BEGAN = 1_700_000_000_000
CONFIG = {
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "log.retention.bytes": "1048576",
    "log.segment.bytes": "1048576",
}


class InProcess(Link):
    """One broker of a release, with planted defects where `switches` name some."""

    def __init__(
        self,
        release: str = "4.3",
        *,
        config: Mapping[str, str] = CONFIG,
        switches: Iterable[str] = (),
    ) -> None:
        """Raises ValueError for a release or a switch that does not exist."""
        super().__init__("in process", 0, settle=lambda: None)
        self._parts = Assembly.of(release, dict(config), switches)
        self.now = BEGAN
        self._numbers = 0
        self.renew()

    def renew(self) -> None:
        """Another broker, that has nothing; time goes on."""
        parts = self._parts
        cluster = parts.cluster([Node(0, "127.0.0.1", 9092)], Cluster, random.Random(0))
        membership = Membership(
            parts.controller(cluster), membership_rules(parts.persona, parts.config)
        )
        membership.controller.register(0)
        self.broker = parts.broker(cluster, 0, parts.memory(cluster, 0))
        spread_defaults(self.broker)
        membership.began(self.now)
        self._links = Links(self._perform, lambda: self.now)
        self._links.add(self.broker)
        self._connection = self._connect()
        self._heard: list[bytes] = []
        self._end: str | None = None  # of the frame in work
        self._settle()

    def play(
        self, segments: Iterable[bytes], *, probe: bool = True, timeout_s: float | None = None,
        may_wait: bool = False,
    ) -> Outcome:  # fmt: skip
        """What these bytes come to. Behind what does not end a frame we close our half, `probe` or
        not. Whatever escapes from the broker's core is raised: over a socket it would have ended
        the loop that serves everybody.
        """
        wire = b"".join(segments)
        self.tally.cases += 1
        self.tally.sent += len(wire)
        self.now += 1
        self._heard = []
        frames, whole = frames_in(wire)
        patience_ms = int((timeout_s or (HELD_TIMEOUT_S if may_wait else self.timeout_s)) * 1000)
        end = KEPT
        for frame in frames:
            end = self._serve(frame, patience_ms)
            if end != KEPT:
                break
        if end == KEPT and not whole:
            end = CLOSED  # a size that no frame may have, or our own close behind half a frame
        if end != KEPT:
            self.broker.closed(self._connection)
            self._connection = self._connect()
        self._settle()
        return Outcome(tuple(self._heard), end)

    def ask_apart(self, questions: Sequence[Question]) -> list[Struct | None]:
        return [self.ask(*one) for one in questions]  # to wait for one costs nothing

    def rest(self) -> None:
        """Twenty milliseconds pass."""
        self.now += 20
        self._settle()

    def _connect(self) -> Connection:
        self._numbers += 1
        self.tally.connects += 1
        return Connection(self._numbers)

    def _serve(self, frame: bytes, patience_ms: int) -> str:
        """How the work on one frame ends; time passes until it does, or until patience ends."""
        self._end = None
        self._perform(self.broker.receive(self._connection, frame, self.now))
        if self._end is None:
            self._settle()
        until = self.now + patience_ms
        while self._end is None:
            due = self._due()
            if due is None or due > until:
                self.now = until
                return SILENT
            self.now = max(self.now, due)
            self._settle()
        return self._end

    def _due(self) -> int | None:
        known = [due for due in (self.broker.deadline(), self._links.deadline()) if due is not None]
        return min(known, default=None)

    def _settle(self) -> None:
        """All that is due by now."""
        while (due := self._due()) is not None and due <= self.now:
            self._links.deliver(self.now)
            self._perform(self.broker.tick(self.now))

    def _perform(self, effects: Iterable[Effect]) -> None:
        for effect in effects:
            if type(effect) is Ask:
                self._links.send(effect)
            elif effect.connection is self._connection:
                if type(effect) is Reply:
                    self._heard.append(b"".join(effect.parts))
                self._end = CLOSED if type(effect) is Close else KEPT
            elif type(effect.connection) is PeerConnection:
                parts = effect.parts if type(effect) is Reply else None
                self._links.answer(effect.connection, parts)


class OneByOne:
    """Plays cases on a broker in this process, each when the one before it is over."""

    def __init__(self, link: InProcess) -> None:
        self.link, self.tally = link, link.tally
        self.ring = Ring()  # empty: a broker in this process does not die

    def play(self, cases: Iterable[Planned]) -> Iterator[tuple[Planned, Outcome]]:
        """Each case with its outcome. A broker that an exception left is replaced by another."""
        for planned in cases:
            wire = planned.sent.wire
            try:
                outcome = self.link.play([wire], may_wait=may_wait(wire))
            except Exception as escaped:  # whatever it is: over a socket nobody would be served now
                outcome = Outcome((), f"{RAISED} {type(escaped).__name__}")
                self.link.renew()
            yield planned, outcome

    def in_flight(self) -> list[Planned]:
        return []
