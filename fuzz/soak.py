"""Hostile frames at brokers of this process, without sockets: nothing escapes, nothing stays.

A frame goes to `Broker.receive` as the event loop hands it over, on one of a few connections that
end as it would end them; what waits is given up after a while, as a peer gives up that leaves. Time
is virtual: it passes with every frame and leaps at times, so that sessions expire, logs are cleaned
and alarms go off. Every pair that the release lists is sent, of the client's listener and of the
controller's, those too that take a cluster out of service: nobody else uses this one.

What counts is what the log says. A fault of ours is a record of level ERROR there, whatever the
peer was answered, or an exception that comes out of the broker. Each kind of fault is kept once,
with the frame that showed it. Reports carry what a leak would make grow: bytes of objects
(`object_sizes`), bytes of logs, and what waits at the brokers.
"""

from __future__ import annotations

import heapq
import logging
import os
import random
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from touchstone.fuzz.generator import TOPICS, Generator, Pair, pairs_of
from touchstone.fuzz.mutators import mutators
from touchstone.fuzz.segments import frames_in
from touchstone.harness.driver.object_sizes import object_sizes
from touchstone.reference_impl.broker.assembly import Assembly
from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.configs.config_view import spread_defaults
from touchstone.reference_impl.broker.effects import Ask, Close, Connection, Effect, Reply
from touchstone.reference_impl.broker.personas import persona
from touchstone.reference_impl.cluster.topology import Cluster, Node

BEGAN = 1_700_000_000_000  # ms: the first frame's instant
CONFIG = {
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "log.cleaner.delete.retention.ms": "600000",
    "log.retention.bytes": "1048576",
    "log.retention.ms": "3600000",
    "log.roll.ms": "600000",
    "log.segment.bytes": "1048576",
    # What a broker remembers for days it forgets within an hour, and its logs are cleaned: what is
    # kept for good reason would hide what is not.
    "offsets.retention.check.interval.ms": "60000",
    "offsets.retention.minutes": "60",
    "producer.id.expiration.ms": "3600000",
    "transaction.remove.expired.transaction.cleanup.interval.ms": "60000",
    "transactional.id.expiration.ms": "3600000",
    "offsets.topic.segment.bytes": "1048576",
    "transaction.state.log.segment.bytes": "1048576",
    "share.coordinator.state.topic.segment.bytes": "1048576",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}
CONNECTIONS = 32
MOST_WAITING = 64  # connections whose request waits; the one that waits longest leaves
RESTORE_EVERY = 5_000  # frames: topics that frames deleted are made again, others deleted
LEAPS = (0, 0, 0, 1, 1, 5, 50)  # ms that pass after a frame
LEAP_EVERY, LEAP_MS = 2_000, 60_000
SLOWEST = 20
MOST_HOPS = 1_000  # of what follows from one frame
FAULTS = (0, 1, 1, 1, 2, 3)


@dataclass
class Report:
    """What a soak has seen so far."""

    frames: int = 0
    endings: Counter[str] = field(default_factory=Counter)  # answered, closed, unanswered, waiting
    faults: dict[str, bytes] = field(default_factory=dict)  # kind: the first frame that showed it
    logged: int = 0  # bytes of the log, as it would be written
    most_logged: tuple[int, bytes] = (0, b"")
    slowest: list[tuple[float, bytes]] = field(default_factory=list)  # seconds, the frame
    resident: int = 0  # bytes of this process
    object_bytes: Counter[str] = field(default_factory=Counter)  # bytes of its objects, by type
    stored: int = 0  # bytes of all logs
    waiting: int = 0  # requests in the purgatory

    def took(self, seconds: float, frame: bytes) -> None:
        if len(self.slowest) < SLOWEST:
            heapq.heappush(self.slowest, (seconds, frame))
        elif seconds > self.slowest[0][0]:
            heapq.heapreplace(self.slowest, (seconds, frame))


class _Listener(logging.Handler):
    """Hears all that the brokers log while a frame is served."""

    def __init__(self, report: Report) -> None:
        super().__init__(logging.WARNING)
        self._report = report
        self.frame = b""
        self.bytes = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.bytes += len(self.format(record)) + 1
        if record.levelno >= logging.ERROR:
            self._report.faults.setdefault(kind_of(record), self.frame)


def kind_of(record: logging.LogRecord) -> str:
    """A fault's class and the line that raised it, or the words where nothing was raised."""
    if not record.exc_info or record.exc_info[1] is None:
        return str(record.msg)
    return place_of(record.exc_info[1])


def place_of(fault: BaseException) -> str:
    trace = fault.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return f"{type(fault).__name__}: {fault}"[:200]
    name = Path(trace.tb_frame.f_code.co_filename).name
    return f"{type(fault).__name__} at {name}:{trace.tb_lineno}"


def hostile(
    pairs: list[Pair], seed: int, known: list[bytes] | None = None
) -> Iterator[tuple[bool, bytes]]:
    """Frames without size, for ever: (for the controller's listener?, frame)."""
    table = list(mutators().values())
    index = 0
    while True:
        draw = random.Random(f"{seed}/soak/{index}")
        index += 1
        if known and not draw.randrange(50):
            wire = draw.choice(known)
        else:
            _, wire = Generator(pairs, draw).frame(index & 0x7FFFFFFF)
        for _ in range(draw.choice(FAULTS)):
            wire = draw.choice(table)(wire, draw)
        controller = not draw.randrange(10)
        for frame in frames_in(wire)[0]:
            yield controller, frame


class _Peer(Connection):
    """What a broker's request to another comes by; `ask` is what is under way."""

    __slots__ = ("ask",)
    ask: Ask


class Soak:
    """Brokers of one cluster, their links to each other, and peers that mean them ill.

    `clock` gives seconds of the processor; `now`, ms, passes with each frame.
    """

    def __init__(self, release: str, brokers: int, clock: Callable[[], float]) -> None:
        parts = Assembly.of(release, CONFIG, ())
        nodes = [Node(i, "127.0.0.1", 9092 + i, None) for i in range(brokers)]
        self._cluster = parts.cluster(nodes, Cluster, random.Random(0))
        self._controller = parts.controller(self._cluster)
        self.brokers = [
            parts.broker(self._cluster, i, parts.memory(self._cluster, i)) for i in range(brokers)
        ]
        for node in nodes:
            self._controller.register(node.id)
        spread_defaults(self.brokers[0])
        self._kraft = parts.persona.kraft
        self._clock = clock
        self._draw = random.Random(0)
        self._peers: dict[tuple[int, int, str], _Peer] = {}
        self._free: list[Connection] = []
        self._waiting: deque[tuple[Broker, Connection]] = deque()
        self._numbers = 0
        self.now = BEGAN
        self.report = Report()
        self._listener = _Listener(self.report)

    def run(self, frames: Iterator[tuple[bool, bytes]], count: int) -> Report:
        """Serve so many frames more."""
        log = logging.getLogger("touchstone")
        stands, log.propagate = log.propagate, False
        log.addHandler(self._listener)
        try:
            for _ in range(count):
                controller, frame = next(frames)
                if self.report.frames % RESTORE_EVERY == 0:
                    self._restore()
                self._serve(frame, controller=controller and self._kraft)
        finally:
            log.removeHandler(self._listener)
            log.propagate = stands
        return self._measured()

    def _serve(self, frame: bytes, *, controller: bool) -> None:
        broker = self._draw.choice(self.brokers)
        connection = self._connection(controller=controller)
        report, heard = self.report, self._listener
        heard.frame, heard.bytes = frame, 0
        began = self._clock()
        try:
            effects = broker.receive(connection, frame, self.now)
            report.took(self._clock() - began, frame)
            ending = _ending(effects, connection)
            self._carry(effects)
            self._pass_time()
        except Exception as fault:
            ending = "escaped"
            report.faults.setdefault(f"escaped: {place_of(fault)}", frame)
        report.frames += 1
        report.endings[ending] += 1
        report.logged += heard.bytes
        report.most_logged = max(report.most_logged, (heard.bytes, frame))
        if ending in ("answered", "unanswered"):
            self._free.append(connection)
        elif ending == "waiting":
            self._waiting.append((broker, connection))
            if len(self._waiting) > MOST_WAITING:
                gone, peer = self._waiting.popleft()
                gone.closed(peer)
        else:
            broker.closed(connection)

    def _connection(self, *, controller: bool) -> Connection:
        if len(self._free) >= CONNECTIONS:
            found = self._free.pop(self._draw.randrange(len(self._free)))
            found.controller = controller
            return found
        self._numbers += 1
        return Connection(self._numbers, controller=controller)

    def _carry(self, effects: Iterable[Effect]) -> None:
        """Take requests of brokers to their peers, answers back, and what follows from both."""
        left = deque(effects)
        for _ in range(MOST_HOPS):
            if not left:
                return
            effect = left.popleft()
            if isinstance(effect, Ask) and effect.peer not in range(len(self.brokers)):
                sender = self.brokers[effect.sender]  # a forged request has it know that peer
                left += sender.answered(effect.correlation_id, None, self.now)
            elif isinstance(effect, Ask):
                place = effect.sender, effect.peer, effect.channel
                peer = self._peers.setdefault(place, _Peer(-1 - len(self._peers), controller=True))
                peer.ask = effect
                frame = b"".join(effect.parts)
                left += self.brokers[effect.peer].receive(peer, frame, self.now)
            elif isinstance(effect.connection, _Peer):
                ask = effect.connection.ask
                answer = b"".join(effect.parts) if isinstance(effect, Reply) else None
                sender = self.brokers[ask.sender]
                left += sender.answered(ask.correlation_id, answer, self.now)

    def _pass_time(self) -> None:
        leaps = not self._draw.randrange(LEAP_EVERY)
        self.now += LEAP_MS if leaps else self._draw.choice(LEAPS)
        for broker in self.brokers:
            due = broker.deadline()
            if due is not None and due <= self.now:
                self._carry(broker.tick(self.now))

    def _restore(self) -> None:
        """Brokers that frames unregistered start again; the topics that frames name are there, and
        no others.
        """
        for number in [*self._cluster.forgotten]:
            self._controller.register(number)
            self._controller.joined(number)
        topics = self._cluster.topics
        for name in [*topics]:
            if name not in TOPICS and not name.startswith("__"):
                self._cluster.delete(name)
        everywhere = [broker.id for broker in self.brokers]
        for name in TOPICS:
            if name not in topics:
                self._cluster.create(name, [everywhere], {})

    def _measured(self) -> Report:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        self.report.resident = pages * os.sysconf("SC_PAGE_SIZE")
        self.report.object_bytes = object_sizes()
        self.report.stored = sum(
            log.size
            for broker in self.brokers
            for directory in broker.replicas.logs.directories()
            for log in directory.logs.values()
        )
        self.report.waiting = sum(len(broker.purgatory) for broker in self.brokers)
        return self.report


def _ending(effects: list[Effect], connection: Connection) -> str:
    for effect in effects:
        if not isinstance(effect, Ask) and effect.connection is connection:
            if isinstance(effect, Reply):
                return "answered"
            return "closed" if isinstance(effect, Close) else "unanswered"
    return "waiting"


def pairs_for(release: str) -> list[Pair]:
    """Every pair that this release lists, on either listener, or serves unlisted."""
    known = persona(release)
    both = (known.listed(), known.listed(controller=True), known.unlisted_but_served)
    return [*{pair: None for table in both for pair in pairs_of(table)}]
