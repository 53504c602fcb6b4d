"""What a client counts: recorded per request and per batch, never per record.

The network tells of every request and what came of it; a producer of batches that are tried again
or given up; a consumer of what it hands out. All faces of a client count together, under its id.

Sources: SenderMetrics, FetchMetricsManager, AbstractCoordinator.GroupCoordinatorMetrics at 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

from ..flow import Answer, Ask, Outcome, TopicPartition
from .names import METRICS
from .sampled import Sampled

_LAST_OFFSET_DELTA = slice(23, 27)  # of a record batch of magic 2: one less than its records
_PASSING = (ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED)  # of a join that goes on


class MetricName(NamedTuple):
    """`tags` are pairs in the order of their names."""

    group: str
    name: str
    tags: tuple[tuple[str, str], ...]


class ClientMetrics:
    """Instants and times are in ms, sizes in bytes, as Java's are."""

    def __init__(self, client_id: str = "") -> None:
        self.client_id = client_id
        self._kinds: list[str] = []
        self._sensors: dict[tuple[str, tuple[str, ...]], Sampled] = {}
        self._rebalance_began: int | None = None

    def serve(self, kind: str) -> None:
        """Have the metrics of a kind of client (`names`), from now on."""
        if kind not in self._kinds:
            self._kinds.append(kind)

    def record(self, sensor: str, value: float, now: int, *of: str) -> None:
        """`of` names a topic, or a topic and a partition; nothing is all together."""
        key = sensor, of
        found = self._sensors.get(key)
        if found is None:
            found = self._sensors[key] = Sampled()
        found.record(value, now)

    def by_topic(self, sensor: str, value: float, now: int, topic: str) -> None:
        """For the client, and for the topic."""
        self.record(sensor, value, now)
        self.record(sensor, value, now, topic)

    def consumed(self, place: TopicPartition, records: int, lag: int | None, now: int) -> None:
        """So many records were handed out, and so many are left in the partition."""
        topic, partition = place
        self.by_topic("records-consumed", records, now, topic)
        if lag is not None:
            self.record("records-lag", lag, now)
            self.record("records-lag", lag, now, topic, str(partition))

    # --- requests ------------------------------------------------------------------------------

    def asked(self, ask: Ask, now: int) -> None:
        if ask.api == "Produce" and not callable(ask.body):
            self._produced(ask.body, now)
        elif ask.api == "JoinGroup" and self._rebalance_began is None:
            self._rebalance_began = now

    def ended(self, outcome: Outcome, began: int, now: int) -> None:
        """What came of a request that was asked at `began`."""
        taken = _TAKEN.get(outcome.ask.api)
        if taken is not None:
            taken(self, outcome, now - began, now)

    def _produced(self, body: Struct, now: int) -> None:
        records = 0
        for topic in body["topic_data"]:
            for part in topic["partition_data"]:
                batch = part["records"]
                count = int.from_bytes(batch[_LAST_OFFSET_DELTA], "big") + 1
                records += count
                self.record("batch-size", len(batch), now)
                self.by_topic("record-send", count, now, topic["name"])
                self.record("byte", len(batch), now, topic["name"])
        self.record("records-per-request", records, now)

    def _answered_produce(self, outcome: Outcome, latency: int, now: int) -> None:
        if isinstance(outcome, Answer):
            self.record("request-latency", latency, now)
            throttle = outcome.body.get("throttle_time_ms", 0)
            self.record("produce-throttle-time", throttle, now)

    def _fetched(self, outcome: Outcome, latency: int, now: int) -> None:
        if not isinstance(outcome, Answer):
            return
        self.record("fetch-latency", latency, now)
        self.record("fetch-throttle-time", outcome.body.get("throttle_time_ms", 0), now)
        parts = (part for topic in outcome.body["responses"] for part in topic["partitions"])
        self.record("fetch-size", sum(len(part["records"] or b"") for part in parts), now)

    def _committed(self, outcome: Outcome, latency: int, now: int) -> None:
        if isinstance(outcome, Answer):
            self.record("commit-latency", latency, now)

    def _beaten(self, outcome: Outcome, latency: int, now: int) -> None:
        if isinstance(outcome, Answer):
            self.record("heartbeat", latency, now)

    def _joined(self, outcome: Outcome, latency: int, now: int) -> None:
        code = _code(outcome)
        if code == ErrorCode.NONE:
            self.record("join", latency, now)
        elif code not in _PASSING:
            self.record("failed-rebalance", 1, now)

    def _synced(self, outcome: Outcome, latency: int, now: int) -> None:
        if _code(outcome) != ErrorCode.NONE:
            self.record("failed-rebalance", 1, now)
            return
        self.record("sync", latency, now)
        began = now - latency if self._rebalance_began is None else self._rebalance_began
        self.record("rebalance", now - began, now)
        self._rebalance_began = None

    # --- reading -------------------------------------------------------------------------------

    def read(self, now: int) -> Mapping[MetricName, float]:
        """Every metric and its value; NaN for an average or maximum of nothing."""
        return dict(self._read(now))

    def _read(self, now: int) -> Iterator[tuple[MetricName, float]]:
        nothing = Sampled()
        for kind in self._kinds:
            for metric in METRICS[kind]:
                if not metric.tags:
                    found = self._sensors.get((metric.sensor, ()), nothing)
                    yield self._name(metric.group, metric.name, {}), metric.read(found, now)
                    continue
                for (sensor, of), found in self._sensors.items():
                    if sensor == metric.sensor and len(of) == len(metric.tags):
                        tags = dict(zip(metric.tags, of, strict=True))
                        name = self._name(metric.group, metric.name, tags)
                        yield name, metric.read(found, now)

    def _name(self, group: str, name: str, tags: dict[str, str]) -> MetricName:
        return MetricName(
            group, name, tuple(sorted((tags | {"client-id": self.client_id}).items()))
        )


def _code(outcome: Outcome) -> int:
    """The error of an answer; of none, one that is no join's."""
    if isinstance(outcome, Answer):
        code: int = outcome.body["error_code"]
        return code
    return ErrorCode.NETWORK_EXCEPTION


_TAKEN: dict[str, Callable[[ClientMetrics, Outcome, int, int], None]] = {
    "Produce": ClientMetrics._answered_produce,
    "Fetch": ClientMetrics._fetched,
    "OffsetCommit": ClientMetrics._committed,
    "Heartbeat": ClientMetrics._beaten,
    "ConsumerGroupHeartbeat": ClientMetrics._beaten,
    "JoinGroup": ClientMetrics._joined,
    "SyncGroup": ClientMetrics._synced,
}
