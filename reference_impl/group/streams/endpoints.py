"""Members with an endpoint are told to the others: which partitions are answered where.

Sources: KIP-1071; EndpointToPartitionsManager, StreamsGroup.buildEndpointToPartitions@4.3.1;
observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.group.java_maps import java_order
from touchstone.reference_impl.group.streams.configured import ConfiguredTopology
from touchstone.reference_impl.group.streams.group import StreamsMember
from touchstone.reference_impl.group.streams.heartbeat import EndpointTasks
from touchstone.reference_impl.group.streams.tasks import Task, by_subtopology
from touchstone.reference_impl.wire.errors import ErrorCode as E


def endpoints_of(
    members: Iterable[StreamsMember], configured: ConfiguredTopology, existing: Mapping[str, int]
) -> tuple[EndpointTasks, ...]:
    """One for each member that has an endpoint.

    Raises ApiError where the partitions of a topology cannot be counted, as Kafka does: who has an
    endpoint and joins while a source topic is missing is answered UNKNOWN_SERVER_ERROR.
    """
    found = []
    for member in members:
        if member.endpoint is not None:
            active = _partitions(member.assigned.active, configured, existing)
            standby = _partitions(member.assigned.standby, configured, existing)
            found.append(EndpointTasks(member.endpoint, active, standby))
    return tuple(found)


def _partitions(
    tasks: Iterable[Task], configured: ConfiguredTopology, existing: Mapping[str, int]
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    if configured.subtopologies is None:
        raise ApiError(E.UNKNOWN_SERVER_ERROR)
    rows = []
    for subtopology, indexes in by_subtopology(tasks).items():
        for topic in java_order(set(configured.subtopologies[subtopology].told.inputs())):
            if topic not in existing:
                raise ApiError(E.UNKNOWN_SERVER_ERROR)
            # A narrower topic than the widest: Kafka shows as many as it has, whichever they are.
            rows.append((topic, tuple(indexes[: existing[topic]])))
    return tuple(rows)
