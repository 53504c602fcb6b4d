"""A coordinator counts the partitions of internal topics from the topics that exist.

A repartition topic has as many as the widest input of whoever writes into it, unless the
application says a number; topics that are joined must have equally many; a changelog has as many as
its subtopology has tasks. What does not work out is a status (`TopicsUnfit`), what could never work
out an error.

Sources: KIP-1071; RepartitionTopics, CopartitionedTopicsEnforcer, ChangelogTopics@4.3.1.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.group.streams.status import INCORRECTLY_PARTITIONED, TopicsUnfit
from touchstone.reference_impl.group.streams.topology import Subtopology, Topology
from touchstone.reference_impl.wire.errors import ErrorCode as E

Counts = dict[str, int]  # topic -> partitions
_LOOPS = (
    "Failed to compute number of partitions for all repartition topics. There may be loops in the "
    "topology that cannot be resolved."
)
_NO_SINK = (
    "Failed to compute number of partitions for all repartition topics, because a repartition "
    "source topic is never used as a sink topic."
)


def decided(topology: Topology, existing: Mapping[str, int]) -> Counts:
    """Partitions of the internal topics. Raises ApiError and TopicsUnfit."""
    counts = _repartition_counts(topology, existing)
    known = KnownCounts(existing, counts)
    asked = {
        topic.name: topic.partitions
        for one in topology.subtopologies.values()
        for topic in one.repartition_sources
    }
    fixed = {name for name, partitions in asked.items() if partitions}
    groups = {one.id: one.copartitioned() for one in topology.walk()}
    for one in topology.walk():
        for names in groups[one.id]:
            if names:
                counts.update(_copartitioned(names, known, asked.keys(), fixed))
    for one in topology.walk():
        tasks = task_count(one, known)
        counts.update({topic.name: tasks for topic in one.changelogs})
    return counts


class KnownCounts:
    """Partitions of a topic: of one that exists as they are, else as decided so far."""

    def __init__(self, existing: Mapping[str, int], decided: Mapping[str, int]) -> None:
        self._existing, self._decided = existing, decided

    def __getitem__(self, name: str) -> int:
        """Raises ApiError for a topic that nobody could count."""
        count = self._existing.get(name, self._decided.get(name))
        if count is None:
            raise ApiError(E.UNKNOWN_SERVER_ERROR)
        return count


def task_count(one: Subtopology, known: KnownCounts) -> int:
    counts = [known[name] for name in one.inputs()]
    if not counts:
        words = f"No source topics found for subtopology {one.id}"
        raise ApiError(E.STREAMS_INVALID_TOPOLOGY, words)
    return max(counts)


def _repartition_counts(topology: Topology, existing: Mapping[str, int]) -> Counts:
    """Each round looks at every subtopology with what the rounds before found out."""
    walk = topology.walk()
    counts = {
        topic.name: topic.partitions
        for one in walk
        for topic in one.repartition_sources
        if topic.partitions
    }
    while True:
        waiting, progress = False, False
        for one in walk:
            for sink in one.repartition_sinks:
                if sink in counts:
                    continue
                widest = _widest(one, counts, existing)
                if widest is None:
                    waiting = True
                else:
                    counts[sink], progress = widest, True
        if not waiting:
            break
        if not progress:
            raise ApiError(E.STREAMS_INVALID_TOPOLOGY, _LOOPS)
    if any(topic.name not in counts for one in walk for topic in one.repartition_sources):
        raise ApiError(E.STREAMS_INVALID_TOPOLOGY, _NO_SINK)
    return counts


def _widest(one: Subtopology, counts: Counts, existing: Mapping[str, int]) -> int | None:
    found = [counts.get(topic.name) for topic in one.repartition_sources]
    found += [existing.get(name) for name in one.sources]
    return max((count for count in found if count is not None), default=None)


def _copartitioned(
    names: frozenset[str], known: KnownCounts, repartition: Collection[str], fixed: set[str]
) -> Counts:
    """The counts of the repartition topics of one group. Raises TopicsUnfit."""
    ours = {name: known[name] for name in names if name in repartition}
    others = {name: known[name] for name in names if name not in ours}
    if others:
        count = next(iter(others.values()))
        if len(set(others.values())) > 1:
            raise _not_the_same(others)
    elif fixed:
        counts = {known[name] for name in fixed}
        if len(counts) > 1:
            raise _not_the_same(ours)
        count = counts.pop()
    else:
        count = max(ours.values())
    for name, had in ours.items():
        if name in fixed and had != count:
            words = f"Number of partitions [{had}] of repartition topic [{name}] doesn't match"
            words = f"{words} number of partitions [{count}] of the source topic."
            raise TopicsUnfit(INCORRECTLY_PARTITIONED, words)
    return dict.fromkeys(ours, count)


def _not_the_same(counts: Counts) -> TopicsUnfit:
    listed = ", ".join(f"{name}={counts[name]}" for name in sorted(counts))
    words = f"Following topics do not have the same number of partitions: [{{{listed}}}]"
    return TopicsUnfit(INCORRECTLY_PARTITIONED, words)
