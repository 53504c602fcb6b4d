"""A member brings the topology of its application: subtopologies, and the topics between them.

A group has one topology, that of the first member to join; who joins with an older epoch is told
that it is stale, and 4.3.1 takes no newer one.

Sources: KIP-1071; StreamsTopology@4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.group.java_maps import java_order
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

UNDECIDED = 0  # partitions of an internal topic that the coordinator counts
NAMES = ("source_topics", "source_topic_regex", "repartition_sink_topics")
INDEXES = ("source_topics", "source_topic_regex", "repartition_source_topics")


class InternalTopic(NamedTuple):
    """A repartition or changelog topic, which the coordinator makes where it does not exist."""

    name: str
    partitions: int = UNDECIDED
    replication: int = 0  # 0: the broker's default
    configs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, row: Struct) -> InternalTopic:
        configs = tuple((each["key"], each["value"]) for each in row["topic_configs"])
        return cls(row["name"], row["partitions"], row["replication_factor"], configs)

    def row(self) -> Struct:
        return {
            "name": self.name,
            "partitions": self.partitions,
            "replication_factor": self.replication,
            "topic_configs": [{"key": key, "value": value} for key, value in self.configs],
        }


class CopartitionGroup(NamedTuple):
    """Topics that must have equally many partitions, as indexes into their subtopology's lists."""

    sources: tuple[int, ...]
    regexes: tuple[int, ...]
    repartition_sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Subtopology:
    id: str
    sources: tuple[str, ...] = ()
    regexes: tuple[str, ...] = ()
    changelogs: tuple[InternalTopic, ...] = ()
    repartition_sinks: tuple[str, ...] = ()
    repartition_sources: tuple[InternalTopic, ...] = ()
    copartition_groups: tuple[CopartitionGroup, ...] = ()

    @classmethod
    def of(cls, row: Struct) -> Subtopology:
        sources, regexes, sinks = (tuple(row[name]) for name in NAMES)
        return cls(
            row["subtopology_id"],
            sources,
            regexes,
            tuple(map(InternalTopic.of, row["state_changelog_topics"])),
            sinks,
            tuple(map(InternalTopic.of, row["repartition_source_topics"])),
            tuple(
                CopartitionGroup(*(tuple(group[name]) for name in INDEXES))
                for group in row["copartition_groups"]
            ),
        )

    def row(self) -> Struct:
        return {
            "subtopology_id": self.id,
            "state_changelog_topics": [each.row() for each in self.changelogs],
            "repartition_source_topics": [each.row() for each in self.repartition_sources],
            "copartition_groups": [
                dict(zip(INDEXES, map(list, group), strict=True))
                for group in self.copartition_groups
            ],
        } | {
            name: list(each)
            for name, each in zip(
                NAMES, (self.sources, self.regexes, self.repartition_sinks), strict=True
            )
        }

    def inputs(self) -> Iterator[str]:
        """The topics that it reads, of others and of the application."""
        return chain(self.sources, (topic.name for topic in self.repartition_sources))

    def copartitioned(self) -> list[frozenset[str]]:
        """The topics of each group; ApiError where an index points at nothing."""
        repartition = [topic.name for topic in self.repartition_sources]
        return [
            frozenset(
                _picked(self.sources, group.sources)
                + _picked(repartition, group.repartition_sources)
            )
            for group in self.copartition_groups
        ]


@dataclass(frozen=True)
class Topology:
    epoch: int
    subtopologies: dict[str, Subtopology] = field(default_factory=dict)  # by id

    @classmethod
    def of(cls, row: Struct) -> Topology:
        """Raises ApiError where no topology could be like this."""
        found = {each["subtopology_id"]: Subtopology.of(each) for each in row["subtopologies"]}
        if len(found) < len(row["subtopologies"]) or row["epoch"] < 0:
            raise ApiError(E.UNKNOWN_SERVER_ERROR)  # a Java map, and a Java record, refuse it
        return cls(row["epoch"], found)

    @cached_property
    def reader_of(self) -> dict[str, str]:
        """Source topic -> id of the subtopology that reads it."""
        return {name: one.id for one in self.subtopologies.values() for name in one.inputs()}

    @cached_property
    def required(self) -> frozenset[str]:
        """Every topic that must exist, but for those that are only written."""
        return frozenset(
            name
            for one in self.subtopologies.values()
            for name in chain(one.inputs(), (topic.name for topic in one.changelogs))
        )

    def walk(self) -> list[Subtopology]:
        """In the order in which Kafka goes through them, a HashMap's."""
        return [self.subtopologies[each] for each in java_order(self.subtopologies)]

    def row(self) -> Struct:
        return {
            "epoch": self.epoch,
            "subtopologies": [each.row() for each in self.subtopologies.values()],
        }


def _picked(names: Sequence[str], indexes: Iterable[int]) -> list[str]:
    if any(not 0 <= at < len(names) for at in indexes):
        raise ApiError(E.UNKNOWN_SERVER_ERROR)  # Java's list has no such element
    return [names[at] for at in indexes]
