"""A broker without sockets, and the two verbs its tests need: ask and tick."""

from __future__ import annotations

from typing import Any

from touchstone.reference_impl.broker.effects import Close, Connection, Reply, Unmute
from touchstone.reference_impl.log.partition_log import PartitionLog
from touchstone.reference_impl.tests.cores import cores
from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.headers import decode_response, encode_request
from touchstone.reference_impl.wire.records import build

NOW = 1_700_000_000_000
CLOSED, SILENT, WAITING = "closed", "silent", "waiting"


class OneBroker:
    """One broker (or some of one process) and a connection to the first."""

    def __init__(self, release: str = "4.3", *, brokers: int = 1, switches=(), **config: str):
        self.brokers = cores(release, brokers, config=config, switches=switches)
        self.cluster = self.brokers[0].cluster
        self.connection = Connection(1)
        self.now = NOW

    def topic(self, name: str = "t", partitions: int = 1, leader: int = 0, **configs: str):
        named = {key.replace("_", "."): value for key, value in configs.items()}
        return self.cluster.create(name, [[leader]] * partitions, named)

    def log(self, name: str = "t") -> PartitionLog:
        self.brokers[0].tick(self.now)  # so that it has heard of the topic
        return self.brokers[0].replicas.get(name, 0).log

    def store(self, *batches: bytes, name: str = "t") -> None:
        """Batches in the log and seen by all, as if a coordinator had written them."""
        log = self.log(name)
        for each in batches:
            log.append(each, now=self.now)
        log.advance_high_watermark(log.log_end_offset)

    def send(self, frame: bytes, *, broker: int = 0, connection: Connection | None = None):
        """The effects of one frame."""
        peer = connection or self.connection
        return self.brokers[broker].receive(peer, frame, self.now)

    def ask(self, api: str, version: int, body: dict[str, Any], **how: Any) -> Any:
        """The decoded answer, or CLOSED, SILENT or WAITING."""
        key = by_name(api).key
        effects = self.send(encode_request(key, version, 7, "test", body), **how)
        peer = how.get("connection") or self.connection
        mine = [each for each in effects if getattr(each, "connection", None) is peer]
        return self.read(mine, api, version)

    @staticmethod
    def read(effects: list, api: str, version: int) -> Any:
        if not effects:
            return WAITING
        (effect,) = effects
        if isinstance(effect, Reply):
            return decode_response(by_name(api).key, version, b"".join(effect.parts)).body
        return CLOSED if isinstance(effect, Close) else SILENT if isinstance(effect, Unmute) else ""

    def produce(self, records: bytes | None, *, version=12, acks=-1, name="t", partition=0, **how):
        """The one partition's row, or what became of the connection."""
        row = {"index": partition, "records": records}
        body = {
            "acks": acks,
            "timeout_ms": 1000,
            "transactional_id": None,
            "topic_data": [{"name": name, "partition_data": [row]}],
        }
        answer = self.ask("Produce", version, body, **how)
        return answer["responses"][0]["partition_responses"][0] if type(answer) is dict else answer

    def fetch(self, offset: int = 0, *, version: int = 12, wait: int = 0, name="t", **more):
        """The one partition's row, or what became of the connection."""
        how = {key: more.pop(key) for key in ("connection", "broker") if key in more}
        row = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1 << 20}
        for key in ("partition_max_bytes", "current_leader_epoch", "last_fetched_epoch"):
            if key in more:
                row[key] = more.pop(key)
        body = {
            "max_wait_ms": wait,
            "min_bytes": 1,
            "max_bytes": 1 << 20,
            "topics": [{"topic": name, "partitions": [row]}],
            **more,
        }
        answer = self.ask("Fetch", version, body, **how)
        return answer["responses"][0]["partitions"][0] if type(answer) is dict else answer


def batch(*values: bytes, **fields: Any) -> bytes:
    return build(2, list(values) or [b"a", b"b", b"c"], timestamp=NOW, **fields)
