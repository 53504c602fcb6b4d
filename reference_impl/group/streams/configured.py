"""A topology is configured against the topics there are: how many tasks, which topics are missing.

It is ready when every topic exists in the right size. Else a status says why not; where only
internal topics are missing they are listed, and the broker that answers makes them.

Sources: KIP-1071; InternalTopicManager, ConfiguredTopology@4.3.1; observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.group.java_maps import java_order
from touchstone.reference_impl.group.streams.partition_counts import (
    KnownCounts,
    decided,
    task_count,
)
from touchstone.reference_impl.group.streams.status import (
    INCORRECTLY_PARTITIONED,
    MISSING_INTERNAL,
    MISSING_SOURCES,
    Status,
    TopicsUnfit,
)
from touchstone.reference_impl.group.streams.topology import InternalTopic, Subtopology, Topology
from touchstone.reference_impl.wire.errors import ErrorCode as E

_SHOWN = 3  # topics that a status names


@dataclass(frozen=True, slots=True)
class ConfiguredSubtopology:
    tasks: int
    told: Subtopology  # as the member said it, its internal topics counted

    @property
    def stateful(self) -> bool:
        return bool(self.told.changelogs)


@dataclass(frozen=True, slots=True)
class ConfiguredTopology:
    epoch: int
    subtopologies: Mapping[str, ConfiguredSubtopology] | None  # by id, sorted; None: not counted
    missing: tuple[InternalTopic, ...] = ()
    status: Status | None = None

    @property
    def ready(self) -> bool:
        return self.status is None


def configure(topology: Topology, existing: Mapping[str, int]) -> ConfiguredTopology:
    """`existing` are the partitions of every topic. Raises ApiError for what can never work."""
    for one in topology.subtopologies.values():
        one.copartitioned()
    try:
        _check_sources(topology, existing)
        counts = decided(topology, existing)
        found = _counted(topology, existing, counts)
        missing = _missing(topology, found, existing)
    except TopicsUnfit as unfit:
        return ConfiguredTopology(topology.epoch, None, status=unfit.status)
    status = None
    if missing:
        words = f"Internal topics are missing: {_listed([topic.name for topic in missing])}"
        status = Status(MISSING_INTERNAL, words)
    return ConfiguredTopology(topology.epoch, found, missing, status)


def _check_sources(topology: Topology, existing: Mapping[str, int]) -> None:
    wanted = {name for one in topology.subtopologies.values() for name in one.sources}
    absent = sorted(wanted - existing.keys())
    if absent:
        raise TopicsUnfit(MISSING_SOURCES, f"Source topics {_listed(absent)} are missing.")


def _counted(
    topology: Topology, existing: Mapping[str, int], counts: Mapping[str, int]
) -> dict[str, ConfiguredSubtopology]:
    known = KnownCounts(existing, counts)
    found = {}
    for name in sorted(topology.subtopologies):
        one = topology.subtopologies[name]
        told = Subtopology(
            one.id,
            one.sources,
            (),
            tuple(_sized(topic, counts) for topic in one.changelogs),
            one.repartition_sinks,
            tuple(_sized(topic, counts) for topic in one.repartition_sources),
        )
        found[name] = ConfiguredSubtopology(task_count(one, known), told)
    return found


def _sized(topic: InternalTopic, counts: Mapping[str, int]) -> InternalTopic:
    partitions = topic.partitions or counts[topic.name]
    configs = dict(topic.configs)
    if partitions < 1 or len(configs) < len(topic.configs):
        raise ApiError(E.UNKNOWN_SERVER_ERROR)  # Java refuses the number, or the key that is twice
    ordered = tuple((key, configs[key]) for key in java_order(configs))
    return topic._replace(partitions=partitions, configs=ordered)


def _missing(
    topology: Topology, found: Mapping[str, ConfiguredSubtopology], existing: Mapping[str, int]
) -> tuple[InternalTopic, ...]:
    """Internal topics that do not exist. Raises TopicsUnfit for one that exists in another size."""
    wanted = {
        topic.name: topic
        for one in found.values()
        for topic in (*one.told.repartition_sources, *one.told.changelogs)
    }
    for name in java_order(topology.required):
        if name not in existing or name not in wanted:
            continue
        expected = wanted.pop(name).partitions
        if existing[name] != expected:
            words = f"Existing topic {name} has different number of partitions: expected {expected}"
            raise TopicsUnfit(INCORRECTLY_PARTITIONED, f"{words}, found {existing[name]}")
    return tuple(wanted[name] for name in java_order(wanted))


def _listed(names: Collection[str]) -> str:
    shown = ", ".join(list(names)[:_SHOWN])
    more = len(names) - _SHOWN
    return f"{shown} and {more} additional topics" if more > 0 else shown
