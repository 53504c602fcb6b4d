"""Topics as the controller of a ZooKeeper release makes, grows and deletes them, in its words.

Only the controller serves these requests; every other broker answers NOT_CONTROLLER per topic. A
plan is written and then waited for, so a request without time (timeout 0 or less) has its effect
and answers REQUEST_TIMED_OUT, while what was refused keeps its own error (TOPIC-32, TOPIC-34).
1.0 and 2.2 look at the configs before anything else, 2.8 last; brokers that a manual assignment
names need not exist (TOPIC-10).

Sources: TOPIC-06..17, TOPIC-33..35; AdminManager and AdminUtils@1.0.2, AdminManager and
AdminZkClient@2.2.1, ZkAdminManager@2.8.2; observed on all three.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.configs.config_values import ValueRefused, is_true
from touchstone.reference_impl.broker.configs.topic_settings import TopicSettings
from touchstone.reference_impl.broker.control import zookeeper_paths
from touchstone.reference_impl.broker.control.cluster_controller import ClusterController
from touchstone.reference_impl.broker.control.mutation_quotas import Permit, unbounded
from touchstone.reference_impl.broker.control.topic_names import TopicNames
from touchstone.reference_impl.broker.control.topic_outcomes import (
    UNSET,
    NewTopic,
    Outcome,
    Rows,
    default_partitions,
    default_replication,
    grow,
)
from touchstone.reference_impl.cluster import racks
from touchstone.reference_impl.cluster.racks import PlacementError
from touchstone.reference_impl.cluster.topology import NO_TOPIC_ID
from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

PLACEMENT_CODES = {
    "partitions": ErrorCode.INVALID_PARTITIONS,
    "replication": ErrorCode.INVALID_REPLICATION_FACTOR,
    "racks": ErrorCode.UNKNOWN_SERVER_ERROR,  # AdminOperationException has no code of its own
}
# ZooKeeper's controllers try whatever is asked, until the heap or a znode's size stops them. This
# broker stops here, so that one request cannot take the memory of the process: a known difference.
MOST_PARTITIONS = 10_000
# Brokers act on these when a change is announced, and a new topic is not (observed on 2.8.2).
UNANNOUNCED = frozenset(f"{side}.replication.throttled.replicas" for side in ("leader", "follower"))
MIXED_RACKS = (
    "Not all brokers have rack information. Add --disable-rack-aware in command line to make "
    "replica assignment without rack information."
)
Table = dict[int, list[int]]


def _not_controller(broker: Broker) -> bool:
    return broker.id != broker.cluster.controller_id


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
    names = [topic.name for topic in topics]
    if _not_controller(broker):
        message = broker.persona.quirk("topics.not-controller-message")
        return [Outcome(n, ErrorCode.NOT_CONTROLLER, message) for n in _answered(broker, names)]
    times = Counter(names)
    once = [topic for topic in topics if times[topic.name] == 1]
    asked = unbounded if validate_only else permit
    outcomes = [_create(broker, topic, asked, validate_only=validate_only) for topic in once]
    if timeout <= 0 and not validate_only:
        outcomes = [o.timed_out() if o.code == ErrorCode.NONE else o for o in outcomes]
    return _with_repeated(broker, names, outcomes, client)


def _answered(broker: Broker, names: Sequence[str]) -> Sequence[str]:
    """The names in the order of the answer; before 2.8 requests were sets of names."""
    if broker.persona.quirk("topics.each-repeated-entry-is-answered"):
        return names
    return list(dict.fromkeys(names))


def _with_repeated(
    broker: Broker, names: Sequence[str], outcomes: list[Outcome], client: str
) -> list[Outcome]:
    """2.8 refuses every entry where it stands; before, each name once and at the end."""
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if broker.persona.quirk("topics.each-repeated-entry-is-answered"):
        by_name = {outcome.name: outcome for outcome in outcomes}
        message = "Found multiple entries for this topic."
        refusal = ApiError(ErrorCode.INVALID_REQUEST, message)
        return [by_name.get(name) or Outcome.refused(name, refusal) for name in names]
    message = (
        f"Create topics request from client `{client}` contains multiple entries for the "
        f"following topics: {','.join(repeated)}"
    )
    refusal = ApiError(ErrorCode.INVALID_REQUEST, message)
    return outcomes + [Outcome.refused(name, refusal) for name in repeated]


def _create(broker: Broker, topic: NewTopic, permit: Permit, *, validate_only: bool) -> Outcome:
    cluster = broker.cluster
    try:
        table, configs = _plan(broker, topic)
        permit(len(table))
    except ApiError as refused:
        return Outcome.refused(topic.name, refused)
    made = Outcome(
        topic.name,
        partitions=len(table),
        replication=len(next(iter(table.values()))),
        configs=configs,
    )
    if not validate_only:
        indexes = sorted(table)
        rows = [table[index] for index in indexes]
        created = cluster.create(topic.name, rows, configs, indexes=indexes)
        created.left_out = UNANNOUNCED & configs.keys()
        made.topic_id = created.id
    return made


def _plan(broker: Broker, topic: NewTopic) -> tuple[Table, dict[str, str]]:
    """The checks in the order of the release: which of two faults is named depends on it."""
    if broker.persona.quirk("topics.configs-are-checked-first"):
        configs = _configs(broker, topic)
        table = placement(broker, topic)
        check_name(broker, topic.name)
        _check_table(broker, table)
        return table, configs
    if _taken(broker, topic.name):
        raise _exists(topic.name)
    nulls = [name for name, value in topic.configs if value is None]
    if nulls:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"Null value not supported for topic configs : {','.join(nulls)}",
        )
    table = placement(broker, topic)
    check_name(broker, topic.name)
    _check_table(broker, table)
    return table, _configs(broker, topic)


def _taken(broker: Broker, name: str) -> bool:
    """Whether the name is taken, also while a deletion waits for a broker that is down (CTL-21)."""
    return name in broker.cluster.topics or broker.room(ClusterController).active.being_deleted(
        name
    )


def _exists(name: str) -> ApiError:
    return ApiError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")


def _configs(broker: Broker, topic: NewTopic) -> dict[str, str]:
    """A null value breaks the properties object before anything can be said about it."""
    if any(value is None for _, value in topic.configs):
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
    configs = {name: value for name, value in topic.configs if value is not None}
    try:
        broker.room(TopicSettings).check(configs)
    except ValueRefused as refused:
        unknown_name = refused.message.startswith("Unknown topic config name")
        coded = unknown_name or broker.persona.quirk("topics.bad-config-values-have-a-code")
        code = ErrorCode.INVALID_CONFIG if coded else ErrorCode.UNKNOWN_SERVER_ERROR
        raise ApiError(code, refused.message) from None
    return configs


def placement(broker: Broker, topic: NewTopic) -> Table:
    if topic.assignments:
        if topic.partitions != UNSET or topic.replication != UNSET:
            raise ApiError(
                ErrorCode.INVALID_REQUEST,
                "Both numPartitions or replicationFactor and replicasAssignments were set. "
                "Both cannot be used at the same time.",
            )
        return {partition: list(replicas) for partition, replicas in topic.assignments}
    partitions, factor = topic.partitions, topic.replication
    if broker.persona.quirk("topics.minus-one-means-the-default"):
        partitions = default_partitions(broker) if partitions == UNSET else partitions
        factor = default_replication(broker) if factor == UNSET else factor
    cluster = broker.cluster
    if partitions > MOST_PARTITIONS and 0 < factor <= len(cluster.alive):
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return placed(
        broker,
        lambda: racks.assign(cluster.eligible_brokers(), partitions, factor, random=cluster.random),
    )


def placed(broker: Broker, place: Callable[[], racks.Assignment], first: int = 0) -> Table:
    """The replicas that `place` gives, by partition; its refusal gets the code of its kind."""
    try:
        return dict(enumerate(place(), first))
    except PlacementError as refused:
        code = PLACEMENT_CODES[refused.kind]
        if code == ErrorCode.UNKNOWN_SERVER_ERROR:
            raise unknown_error(broker, refused.message) from None
        raise ApiError(code, refused.message) from None


def unknown_error(broker: Broker, message: str) -> ApiError:
    worded = broker.persona.quirk("topics.unknown-errors-have-a-message")
    return ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, message if worded else None)


def check_name(broker: Broker, name: str) -> None:
    cluster = broker.cluster
    broker.room(TopicNames).check(name)
    if _taken(broker, name):
        raise _exists(name)
    colliding = cluster.colliding(name)
    if colliding:
        raise ApiError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"Topic '{name}' collides with existing topics: {', '.join(colliding)}",
        )


def _check_table(broker: Broker, table: Table) -> None:
    """1.0 and 2.2 keep gaps between partition ids; 2.8 wants them from 0 on."""
    if not broker.persona.quirk("topics.partition-ids-may-have-gaps"):
        if min(table) < 0:
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
        if set(table) != set(range(len(table))):
            raise ApiError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "partitions should be a consecutive 0-based integer sequence",
            )
    if len({len(replicas) for replicas in table.values()}) != 1:
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "All partitions should have the same number of replicas",
        )
    if any(len(set(replicas)) != len(replicas) for replicas in table.values()):
        rows = (f"{i} -> ArrayBuffer({', '.join(map(str, r))})" for i, r in table.items())
        kind = broker.persona.quirk("topics.assignments-print-as")
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Duplicate replica assignment found: {kind}({', '.join(rows)})",
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
    """In the order of the request; what came twice is refused at the end."""
    names = [name for name, _, _ in rows]
    if _not_controller(broker):
        return [Outcome(n, ErrorCode.NOT_CONTROLLER) for n in dict.fromkeys(names)]
    if len({node.rack is None for node in broker.cluster.eligible_brokers()}) > 1:
        refusal = unknown_error(broker, MIXED_RACKS)
        return [Outcome.refused(name, refusal) for name in dict.fromkeys(names)]
    asked = unbounded if validate_only else permit

    def grown(broker: Broker, name: str, count: int, assignments: Rows | None) -> Rows:
        added = _grown(broker, name, count, assignments)
        asked(len(added))
        return added

    times = Counter(names)
    if ended := _no_node(broker, times):
        once = (row for row in rows if times[row[0]] == 1)
        before = list(takewhile(lambda row: row[0] != ended.by, once))
        grow(broker, before, grown, validate_only=validate_only)
        return [Outcome.refused(name, ended.refusal) for name in _answered(broker, names)]
    outcomes, twice = grow(broker, rows, grown, validate_only=validate_only)
    if timeout <= 0 and not validate_only:
        outcomes = [each if each.code else each.timed_out() for each in outcomes]
    return outcomes + [
        Outcome(name, ErrorCode.INVALID_REQUEST, "Duplicate topic in request.") for name in twice
    ]


class _Ended(NamedTuple):
    """The name that ends a request, and what all its rows are told."""

    by: str
    refusal: ApiError


def _no_node(broker: Broker, times: Counter[str]) -> _Ended | None:
    """The first name that no node of ZooKeeper can have; those that come twice are not looked for.
    The topics before it have grown by then: in the order of the request as of 2.8, of a hash map
    in Kafka before that, which is not followed here.
    """
    for name, count in times.items():
        said = zookeeper_paths.refusal(f"/brokers/topics/{name}", broker.persona)
        if said and count == 1:
            return _Ended(name, unknown_error(broker, said))
    return None


def _grown(
    broker: Broker, name: str, count: int, assignments: list[list[int]] | None
) -> list[list[int]]:
    topic = broker.cluster.topics.get(name)
    if broker.room(ClusterController).active.being_deleted(name):
        message = "The topic is queued for deletion."
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)
    if topic is None:
        message = f"The topic '{name}' does not exist."
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    now = len(topic.partitions)
    if count < now:
        raise ApiError(
            ErrorCode.INVALID_PARTITIONS,
            f"Topic currently has {now} partitions, which is higher than the requested {count}.",
        )
    if count == now:
        raise ApiError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {now} partitions.")
    if count > MOST_PARTITIONS:
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
    existing = [p.replicas for p in topic.partitions]
    cluster = broker.cluster
    if assignments is None:
        if not existing[0]:
            raise unknown_error(broker, "empty.head")
        table = placed(
            broker,
            lambda: racks.continue_assignment(cluster.eligible_brokers(), existing, count),
            now,
        )
        return list(table.values())
    living = {node.id for node in cluster.alive}
    unknown = sorted({b for row in assignments for b in row} - living)
    if unknown:
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Unknown broker(s) in replica assignment: {', '.join(map(str, unknown))}.",
        )
    if len(assignments) != count - now:
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Increasing the number of partitions by {count - now} but {len(assignments)} "
            "assignments provided.",
        )
    _check_added(assignments, now, len(existing[0]))
    return assignments


def _check_added(assignments: list[list[int]], first: int, factor: int) -> None:
    for partition, replicas in enumerate(assignments, first):
        if not replicas:
            raise ApiError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Cannot have replication factor of 0 for partition id {partition}.",
            )
        if len(set(replicas)) != len(replicas):
            raise ApiError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "Duplicate brokers not allowed in replica assignment: "
                f"{', '.join(map(str, replicas))} for partition id {partition}.",
            )
    bad = [(p, len(r)) for p, r in enumerate(assignments, first) if len(r) != factor]
    if bad:
        partitions = ", ".join(str(partition) for partition, _ in bad)
        factors = ", ".join(str(size) for _, size in bad)
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "Inconsistent replication factor between partitions, partition 0 has "
            f"{factor} while partitions [{partitions}] have replication factors "
            f"[{factors}], respectively.",
        )


# ------------------------------------------------------------------------------------- delete


def delete_topics(
    broker: Broker,
    rows: Sequence[tuple[str | None, bytes]],
    *,
    timeout: int,
    version: int,
    permit: Permit,
) -> list[Outcome]:
    """2.8 answers a repeated entry as often as it came; before, requests are sets."""
    cluster = broker.cluster
    if not broker.persona.quirk("topics.each-repeated-entry-is-answered"):
        rows = list(dict.fromkeys(rows))
    if _not_controller(broker):
        return [Outcome(n, ErrorCode.NOT_CONTROLLER, topic_id=i) for n, i in rows]
    if not is_true(broker.config.get("delete.topic.enable", "true")):
        if broker.persona.quirk("topics.disabled-deletion-times-out"):
            return [_undeleted(_named(broker, *row)) for row in rows]
        code = ErrorCode.INVALID_REQUEST if version < 3 else ErrorCode.TOPIC_DELETION_DISABLED
        return [Outcome(n, code, topic_id=i) for n, i in rows]
    outcomes = [_named(broker, name, topic_id) for name, topic_id in rows]
    for name in {outcome.name for outcome in outcomes if outcome.code == ErrorCode.NONE}:
        topic = cluster.topics[name or ""]
        try:
            permit(len(topic.partitions))
        except ApiError as refused:
            outcomes = [_refused(o, refused) if o.name == name else o for o in outcomes]
            continue
        broker.room(ClusterController).active.delete(topic.name)
        if topic.id != NO_TOPIC_ID:  # this controller never forgets whose an id was
            cluster.retired_ids[topic.id] = topic.name
    if timeout <= 0:
        outcomes = [o.timed_out() if o.code == ErrorCode.NONE else o for o in outcomes]
    return outcomes


def _refused(outcome: Outcome, refused: ApiError) -> Outcome:
    return outcome if outcome.code else Outcome(outcome.name, refused.code, None, outcome.topic_id)


def _undeleted(outcome: Outcome) -> Outcome:
    return outcome.timed_out() if outcome.code == ErrorCode.NONE else outcome


def _named(broker: Broker, name: str | None, topic_id: bytes) -> Outcome:
    cluster = broker.cluster
    if name is not None and topic_id != NO_TOPIC_ID:
        return Outcome(name, ErrorCode.INVALID_REQUEST, topic_id=topic_id)
    if name is None and topic_id == NO_TOPIC_ID:
        return Outcome(name, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    if name is None:
        topic = cluster.by_id.get(topic_id)
        if topic_id in cluster.retired_ids:
            retired = cluster.retired_ids[topic_id]
            return Outcome(retired, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, topic_id=topic_id)
        if topic is None:
            return Outcome(None, ErrorCode.UNKNOWN_TOPIC_ID, topic_id=topic_id)
        return Outcome(topic.name, topic_id=topic_id)
    topic = cluster.topics.get(name)
    if topic is None or not any(p.leader >= 0 or p.isr for p in topic.partitions):
        return Outcome(name, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)  # or nobody ever led it
    return Outcome(name)
