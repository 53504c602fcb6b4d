"""Topics as a KRaft controller makes, grows and deletes them, in its words.

A request that gives no time (timeout 0 or less) is over before the controller looks at it: every
entry answers REQUEST_TIMED_OUT and nothing is done. Names are checked for the whole request before
anything is placed, so two new topics of one request may collide with each other.

Sources: ReplicationControlManager and ControllerApis@3.9.2, 4.3.1; observed on both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from functools import partial
from typing import TYPE_CHECKING

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.configs.config_values import ValueRefused, is_true
from touchstone.reference_impl.broker.configs.topic_settings import TopicSettings
from touchstone.reference_impl.broker.control.mutation_quotas import Permit
from touchstone.reference_impl.broker.control.topic_names import TopicNames
from touchstone.reference_impl.broker.control.topic_outcomes import (
    UNSET,
    NewTopic,
    Outcome,
    default_partitions,
    default_replication,
    grow,
)
from touchstone.reference_impl.cluster.racks import PlacementError, StripedPlacer
from touchstone.reference_impl.cluster.topology import METADATA_TOPIC, NO_TOPIC_ID, Cluster
from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

MAX_RECORDS = 10_000  # of one operation on the metadata log


# ------------------------------------------------------------------------------------- create


def create_topics(
    broker: Broker,
    topics: Sequence[NewTopic],
    *,
    timeout: int,
    validate_only: bool,
    client: str,
    permit: Permit,
) -> list[Outcome]:
    if timeout <= 0:
        return [Outcome(topic.name).timed_out() for topic in topics]
    names = [topic.name for topic in topics]
    repeated = {name for name, times in Counter(names).items() if times > 1}
    once = [topic for topic in topics if topic.name not in repeated]
    size = sum(_size(broker, topic) for topic in once)
    if size > MAX_RECORDS:
        message = "Excessively large number of partitions per request."
        return [Outcome(topic.name, ErrorCode.POLICY_VIOLATION, message) for topic in topics]
    if size + sum(1 + len(topic.configs) for topic in once) > MAX_RECORDS:
        message = "Unable to perform excessively large batch operation."
        return [Outcome(topic.name, ErrorCode.POLICY_VIOLATION, message) for topic in topics]
    fresh = {topic.name for topic in once} - set(broker.cluster.topics)
    outcomes = [
        _create(broker, topic, fresh, permit, validate_only=validate_only) for topic in once
    ]
    outcomes += [
        Outcome(name, ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
        for name in dict.fromkeys(names)
        if name in repeated
    ]
    return outcomes


def _size(broker: Broker, topic: NewTopic) -> int:
    """The number of partitions that an entry asks for."""
    if topic.assignments:
        return len(topic.assignments)
    return default_partitions(broker) if topic.partitions == UNSET else max(topic.partitions, 0)


def _create(
    broker: Broker, topic: NewTopic, fresh: Set[str], permit: Permit, *, validate_only: bool
) -> Outcome:
    """With validate_only it takes its permits all the same."""
    try:
        if topic.name == METADATA_TOPIC:
            raise ApiError(
                ErrorCode.INVALID_REQUEST,
                f"Creation of internal topic {METADATA_TOPIC} is prohibited.",
            )
        check_name(broker, topic.name, fresh)
        configs = _configs(broker, topic)
        table = placement(broker, topic)
        permit(len(table))
    except ApiError as refused:
        return Outcome.refused(topic.name, refused)
    cluster = broker.cluster
    if validate_only:
        topic_id = cluster.fresh_id()
    else:
        topic_id = cluster.create(topic.name, table, configs).id
    return Outcome(
        topic.name,
        topic_id=topic_id,
        partitions=len(table),
        replication=len(table[0]),
        configs=configs,
    )


def check_name(broker: Broker, name: str, fresh: Set[str] = frozenset()) -> None:
    """`fresh` are the names of the same request: they are not there yet, whatever is made."""
    cluster = broker.cluster
    broker.room(TopicNames).check(name)
    if name in cluster.topics:
        raise ApiError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    colliding = [other for other in cluster.colliding(name) if other not in fresh]
    if colliding:
        raise ApiError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"Topic '{name}' collides with existing topic: {colliding[0]}",
        )


def _configs(broker: Broker, topic: NewTopic) -> dict[str, str]:
    nulls = [name for name, value in topic.configs if value is None]
    if nulls:
        raise ApiError(
            ErrorCode.INVALID_CONFIG,
            f"Null value not supported for topic configs: {','.join(nulls)}",
        )
    configs = {name: value for name, value in topic.configs if value is not None}
    try:
        broker.room(TopicSettings).check(configs)
    except ValueRefused as refused:
        raise ApiError(ErrorCode.INVALID_CONFIG, refused.message) from None
    return configs


def placement(broker: Broker, topic: NewTopic) -> list[list[int]]:
    if topic.assignments:
        return _manual(broker, topic)
    if topic.replication < UNSET or topic.replication == 0:
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if topic.partitions < UNSET or topic.partitions == 0:
        raise ApiError(
            ErrorCode.INVALID_PARTITIONS,
            "Number of partitions was set to an invalid non-positive value.",
        )
    partitions = default_partitions(broker) if topic.partitions == UNSET else topic.partitions
    factor = default_replication(broker) if topic.replication == UNSET else topic.replication
    try:
        return _place(broker, partitions, factor)
    except PlacementError as refused:
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {factor} time(s): {refused.message}",
        ) from None


def _place(broker: Broker, partitions: int, factor: int) -> list[list[int]]:
    cluster = broker.cluster
    cordons = broker.persona.quirk("placement.mentions-cordoned-directories")
    placer = StripedPlacer(cluster.eligible_brokers() + cluster.fenced_brokers(), cluster.random)
    return placer.place(partitions, factor, cordons=cordons)


def _manual(broker: Broker, topic: NewTopic) -> list[list[int]]:
    for value, what in ((topic.replication, "replication factor"), (topic.partitions, None)):
        if value != UNSET:
            raise ApiError(
                ErrorCode.INVALID_REQUEST,
                "A manual partition assignment was specified, but "
                f"{what or 'numPartitions'} was not set to -1.",
            )
    table: dict[int, list[int]] = {}
    factor: int | None = None
    for partition, replicas in topic.assignments:
        if partition in table:
            raise ApiError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Found multiple manual partition assignments for partition {partition}",
            )
        check_manual(broker.cluster, replicas, factor)
        _check_living(broker, partition, replicas)
        table[partition] = list(replicas)
        factor = len(replicas)
    if set(table) != set(range(len(table))):
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "partitions should be a consecutive 0-based integer sequence",
        )
    return [table[partition] for partition in range(len(table))]


def check_manual(cluster: Cluster, replicas: Sequence[int], factor: int | None) -> None:
    """Brokers in ascending order, so that the lowest unknown or repeated one is named."""
    start = "The manual partition assignment includes"
    if not replicas:
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"{start} an empty replica list.")
    seen: set[int] = set()
    for replica in sorted(replicas):
        if replica not in cluster.brokers:
            raise ApiError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"{start} broker {replica}, but no such broker is registered.",
            )
        if replica in seen:
            raise ApiError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"{start} the broker {replica} more than once.",
            )
        seen.add(replica)
    if factor is not None and len(replicas) != factor:
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"{start} a partition with {len(replicas)} replica(s), but this is not consistent "
            f"with previous partitions, which have {factor} replica(s).",
        )


def _check_living(broker: Broker, partition: int, replicas: Sequence[int]) -> None:
    """A partition that nobody could lead is not made (CTL-12 is ZooKeeper's)."""
    nodes = [broker.cluster.brokers[replica] for replica in replicas]
    if not any(node.alive and not node.stopping for node in nodes):
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "All brokers specified in the manual partition assignment for partition "
            f"{partition} are fenced or in controlled shutdown.",
        )


# --------------------------------------------------------------------------------------- grow


def create_partitions(
    broker: Broker,
    rows: Sequence[tuple[str, int, list[list[int]] | None]],
    *,
    timeout: int,
    validate_only: bool,
    permit: Permit,
) -> list[Outcome]:
    """Repeated names are refused first, then the others in the order of the request."""
    if timeout <= 0:
        return [Outcome(name).timed_out() for name, _, _ in rows]
    outcomes, twice = grow(broker, rows, partial(_grown, permit), validate_only=validate_only)
    return [
        Outcome(name, ErrorCode.INVALID_REQUEST, "Duplicate topic name.") for name in twice
    ] + outcomes


def _grown(
    permit: Permit, broker: Broker, name: str, count: int, assignments: list[list[int]] | None
) -> list[list[int]]:
    """Permits are taken before brokers are looked at: a wrong one does not give them back."""
    topic = broker.cluster.topics.get(name)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    now = len(topic.partitions)
    if count == now:
        message = f"Topic already has {now} partition(s)."
        raise ApiError(ErrorCode.INVALID_PARTITIONS, message)
    if count < now:
        raise ApiError(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic {name} currently has {now} partition(s); {count} would not be an increase.",
        )
    added, factor = count - now, len(topic.partitions[0].replicas)
    if added > MAX_RECORDS:
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
    if assignments is not None and len(assignments) != added:
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {added} additional partition(s), but only {len(assignments)} "
            "assignment(s) were specified.",
        )
    permit(added)
    if assignments is None:
        try:
            return _place(broker, added, factor)
        except PlacementError as refused:
            raise ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, refused.message) from None
    for partition, replicas in enumerate(assignments, now):
        check_manual(broker.cluster, replicas, factor)
        _check_living(broker, partition, replicas)
    return assignments


# ------------------------------------------------------------------------------------- delete


def delete_topics(
    broker: Broker,
    rows: Sequence[tuple[str | None, bytes]],
    *,
    timeout: int,
    version: int,
    permit: Permit,
) -> list[Outcome]:
    """Delete by name or by id, never both; Kafka shuffles its answers, ours keep order."""
    if not _may_delete(broker):
        code = ErrorCode.INVALID_REQUEST if version < 3 else ErrorCode.TOPIC_DELETION_DISABLED
        return [Outcome(name, code, topic_id=topic_id) for name, topic_id in rows]
    cluster = broker.cluster
    ids = {topic_id for name, topic_id in rows if name is None and topic_id != NO_TOPIC_ID}
    repeated = {row for row, times in Counter(rows).items() if times > 1}
    named = {cluster.topics[name].id for name, _ in rows if name in cluster.topics}
    outcomes: list[Outcome | None] = []
    for row in dict.fromkeys(rows):
        if timeout <= 0 and row not in repeated:  # that is found before the controller is asked
            outcomes.append(Outcome(row[0], topic_id=row[1]).timed_out())
            continue
        try:
            outcomes.append(_delete(broker, row, ids, repeated, named, permit))
        except ApiError as refused:
            outcomes.append(Outcome.refused(row[0], refused, row[1]))
    return [outcome for outcome in outcomes if outcome]


def _may_delete(broker: Broker) -> bool:
    return is_true(broker.config.get("delete.topic.enable", "true"))


def _delete(
    broker: Broker,
    row: tuple[str | None, bytes],
    ids: set[bytes],
    repeated: set[tuple[str | None, bytes]],
    named: set[bytes],
    permit: Permit,
) -> Outcome | None:
    cluster, (name, topic_id) = broker.cluster, row
    if name is None and topic_id == NO_TOPIC_ID:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Neither topic name nor id were specified.")
    if name is not None and topic_id != NO_TOPIC_ID:
        message = "You may not specify both topic name and topic id."
        raise ApiError(ErrorCode.INVALID_REQUEST, message)
    if row in repeated:
        what = "id" if name is None else "name"
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Duplicate topic {what}.")
    if name is None:
        found = cluster.by_id.get(topic_id)
        if found is None:
            message = "This server does not host this topic ID."
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID, message)
        if topic_id in named:
            return None  # the entry with the name answers for both
    else:
        found = cluster.topics.get(name)
        if found is None:
            message = "This server does not host this topic-partition."
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
        if found.id in ids:
            message = "The provided topic name maps to an ID that was already supplied."
            return Outcome(name, ErrorCode.INVALID_REQUEST, message, found.id)
    try:
        permit(len(found.partitions))
    except ApiError as refused:
        return Outcome.refused(found.name, refused, found.id)
    cluster.delete(found.name)
    return Outcome(found.name, topic_id=found.id)
