"""Three brokers, a network made of a list, and a clock that a test moves.

All that an event loop has to do stands here: carry frames, hand back answers, tick when something
is due.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from touchstone.reference_impl.broker.effects import Ask, Close, Connection, Effect, Reply
from touchstone.reference_impl.cluster.replica import Replica
from touchstone.reference_impl.tests.cores import cores
from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.headers import decode_response, encode_request
from touchstone.reference_impl.wire.records import build

NOW = 1_700_000_000_000
WAITING = "waiting"
LAG = 10_000


class Peer(Connection):
    """One broker's connection to another; `ask` is in work there."""

    __slots__ = ("ask",)


class Wires:
    def __init__(
        self,
        release: str = "4.3",
        *,
        brokers: int = 3,
        racks: tuple[str | None, ...] = (),
        switches: tuple[str, ...] = (),
        **config: str,
    ) -> None:
        settings = {"replica.lag.time.max.ms": str(LAG)}
        settings |= {name.replace("_", "."): value for name, value in config.items()}
        self.brokers = cores(release, brokers, racks=racks, config=settings, switches=switches)
        self.cluster = self.brokers[0].cluster
        self.now = NOW
        self.cut: set[int] = set()  # brokers that nobody reaches and that reach nobody
        self.frames: list[tuple[int, int, bytes]] = []  # (sender, peer, frame), all that went
        self._peers: dict[tuple[int, int, str], Peer] = {}
        self._queue: deque[Ask] = deque()
        self._answers: dict[Connection, Any] = {}
        self._clients = 0

    # --- the cluster -------------------------------------------------------------------------

    def topic(self, name: str = "t", replicas=(0, 1, 2), **configs: str) -> None:
        named = {key.replace("_", "."): value for key, value in configs.items()}
        self.cluster.create(name, [list(replicas)], named)
        self.run()

    def elect(self, leader: int, isr: tuple[int, ...], name: str = "t") -> None:
        """As a controller would: another leader, in a new epoch."""
        partition = self.cluster.partition(name, 0)
        epoch = partition.leader_epoch + 1
        self.cluster.write(partition, leader=leader, leader_epoch=epoch, isr=list(isr))
        self.run()

    def replica(self, broker: int, name: str = "t") -> Replica:
        return self.brokers[broker].replicas.get(name, 0)

    def ends(self, name: str = "t") -> list[int]:
        return [self.replica(b.id, name).log.log_end_offset for b in self.brokers]

    def marks(self, name: str = "t") -> list[int]:
        return [self.replica(b.id, name).log.high_watermark for b in self.brokers]

    def values(self, broker: int, name: str = "t") -> bytes:
        log = self.replica(broker, name).log
        return log.read(log.log_start_offset, 1 << 20, isolation="log end").records

    # --- time and frames ---------------------------------------------------------------------

    def run(self, ms: int = 0, *, until: Connection | None = None) -> None:
        """Let that much time pass, and everything happen that does: at most until that client has
        its answer, and what happens at the same instant has happened.
        """
        end = self.now + ms
        while True:
            while self._queue or self._due(self.now):
                self._turn()
            if until in self._answers:
                return
            later = [at for b in self.brokers if (at := b.deadline()) is not None]
            if not later or min(later) > end:
                break
            self.now = max(self.now, min(later))
        self.now = end

    def _due(self, now: int) -> bool:
        return any((at := b.deadline()) is not None and at <= now for b in self.brokers)

    def _turn(self) -> None:
        for broker in self.brokers:
            at = broker.deadline()
            if at is not None and at <= self.now:
                self._perform(broker.tick(self.now))
        if self._queue:
            self._carry(self._queue.popleft())

    def _carry(self, ask: Ask) -> None:
        if ask.sender in self.cut or ask.peer in self.cut:
            self._perform(self.brokers[ask.sender].answered(ask.correlation_id, None, self.now))
            return
        place = ask.sender, ask.peer, ask.channel
        peer = self._peers.setdefault(place, Peer(len(self._peers)))
        peer.ask = ask
        frame = b"".join(ask.parts)
        self.frames.append((ask.sender, ask.peer, frame))
        self._perform(self.brokers[ask.peer].receive(peer, frame, self.now))

    def _perform(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Ask):
                self._queue.append(effect)
            elif isinstance(effect.connection, Peer):
                ask = effect.connection.ask
                lost = ask.sender in self.cut or ask.peer in self.cut
                whole = isinstance(effect, Reply) and not lost
                frame = b"".join(effect.parts) if whole else None
                sender = self.brokers[ask.sender]
                self._perform(sender.answered(ask.correlation_id, frame, self.now))
            elif isinstance(effect, Reply | Close):
                self._answers[effect.connection] = effect

    # --- clients -----------------------------------------------------------------------------

    def send(self, broker: int, api: str, version: int, body: dict[str, Any]) -> Connection:
        """A request of a client, on a connection of its own; `answer` gives what came."""
        self._clients += 1
        client = Connection(1000 + self._clients)
        frame = encode_request(by_name(api).key, version, 7, "test", body)
        self._perform(self.brokers[broker].receive(client, frame, self.now))
        return client

    def answer(self, client: Connection, api: str, version: int) -> Any:
        effect = self._answers.get(client)
        if not isinstance(effect, Reply):
            return effect or WAITING
        return decode_response(by_name(api).key, version, b"".join(effect.parts)).body

    def produce(self, broker: int, *values: bytes, acks: int = -1, **how: Any) -> Any:
        """(error, base offset), or WAITING; `how`: name, timeout, run (let the rest happen)."""
        client = self.produce_to(broker, *values, acks=acks, **how)
        if how.get("run", True):
            self.run()
        return self.produced(client)

    def produce_to(self, broker: int, *values: bytes, acks: int = -1, **how: Any) -> Connection:
        records = build(2, list(values) or [b"a", b"b", b"c"], timestamp=NOW)
        row = {"index": 0, "records": records}
        body = {
            "acks": acks,
            "timeout_ms": how.get("timeout", 60_000),
            "transactional_id": None,
            "topic_data": [{"name": how.get("name", "t"), "partition_data": [row]}],
        }
        return self.send(broker, "Produce", 3, body)

    def produced(self, client: Connection) -> Any:
        answer = self.answer(client, "Produce", 3)
        if not isinstance(answer, dict):
            return answer
        row = answer["responses"][0]["partition_responses"][0]
        return row["error_code"], row["base_offset"]

    def fetch(self, broker: int, offset: int = 0, *, version: int = 11, **more: Any) -> Any:
        """The one partition's row, or WAITING."""
        row = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1 << 20}
        for key in ("current_leader_epoch", "last_fetched_epoch", "log_start_offset"):
            if key in more:
                row[key] = more.pop(key)
        body = {
            "max_wait_ms": more.pop("wait", 0),
            "min_bytes": 1,
            "max_bytes": 1 << 20,
            "topics": [{"topic": more.pop("name", "t"), "partitions": [row]}],
            **more,
        }
        answer = self.answer(self.send(broker, "Fetch", version, body), "Fetch", version)
        return answer["responses"][0]["partitions"][0] if isinstance(answer, dict) else answer
