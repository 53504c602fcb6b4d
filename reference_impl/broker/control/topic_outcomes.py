"""A controller is asked for one topic at a time, and each topic has its own outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.cluster.topology import NO_TOPIC_ID, Cluster
from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

Rows = list[list[int]]  # of replicas, one for each partition
Growth = tuple[str, int, Rows | None]  # a topic, how many partitions, where new ones are to be
Grown = Callable[["Broker", str, int, "Rows | None"], Rows]  # where it may; raises ApiError
UNSET = -1  # partitions or replication factor: use the broker's default (KIP-464)


@dataclass(frozen=True, slots=True)
class NewTopic:
    """An entry of CreateTopics; a config or a partition that comes twice keeps its last value."""

    name: str
    partitions: int
    replication: int
    assignments: tuple[tuple[int, tuple[int, ...]], ...] = ()
    configs: tuple[tuple[str, str | None], ...] = ()

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> NewTopic:
        return cls(
            row["name"],
            row["num_partitions"],
            row["replication_factor"],
            tuple((a["partition_index"], tuple(a["broker_ids"])) for a in row["assignments"]),
            tuple((c["name"], c["value"]) for c in row["configs"]),
        )


@dataclass(slots=True)
class Outcome:
    name: str | None
    code: int = ErrorCode.NONE
    message: str | None = None
    topic_id: bytes = NO_TOPIC_ID
    partitions: int = -1
    replication: int = -1
    configs: Mapping[str, str] | None = None  # the overrides, where the topic was made

    @classmethod
    def refused(cls, name: str | None, refusal: ApiError, topic_id: bytes = NO_TOPIC_ID) -> Outcome:
        return cls(name, refusal.code, refusal.message, topic_id)

    def timed_out(self) -> Outcome:
        """The request is carried out, but nobody waited for it (TOPIC-34)."""
        return Outcome(self.name, ErrorCode.REQUEST_TIMED_OUT, None, self.topic_id)


def grow(
    broker: Broker, asked: Sequence[Growth], grown: Grown, *, validate_only: bool
) -> tuple[list[Outcome], list[str]]:
    """Topics that are named once get their partitions where `grown` says; names that came twice."""
    times = Counter(name for name, _, _ in asked)
    outcomes = []
    for name, count, assignments in asked:
        if times[name] > 1:
            continue
        try:
            added = grown(broker, name, count, assignments)
        except ApiError as refused:
            outcomes.append(Outcome.refused(name, refused))
            continue
        if not validate_only:
            broker.cluster.grow(name, added)
        outcomes.append(Outcome(name))
    return outcomes, [name for name in times if times[name] > 1]


def has_leaders(cluster: Cluster, name: str | None) -> bool:
    """Whether every partition of a topic that was just made has somebody to lead it."""
    topic = cluster.topics.get(name or "")
    return topic is None or all(p.leader >= 0 for p in topic.partitions)


def default_partitions(broker: Broker) -> int:
    return broker.number("num.partitions", 1)


def default_replication(broker: Broker) -> int:
    return broker.number("default.replication.factor", 1)
