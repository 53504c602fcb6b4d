"""Which rights a scenario needs of a user whom an authorizer limits, and which names it may use.

Kafka checks an operation on a resource for each request: NEEDS says which, by API, as KafkaApis and
ControllerApis have it at 4.3.1. A right is on topics, groups and transactional ids (those of the
user's prefix) or on the cluster. Requests about configs and those of followers depend on what they
ask about. What no prefix can name (a topic of a fixed name, an internal one, the empty name) is no
matter of rights, and is said apart. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from touchstone.harness.model.placeholders import Frame
from touchstone.harness.model.scenario import Ask, Raw, Scenario, Send, asked

TOPICS, GROUPS, TRANSACTIONS = "topics", "groups", "transactional ids"
CLUSTER = "the cluster"
# Not an operation of Kafka's: a policy or a setting of the cluster refuses a topic of one replica.
ONE_REPLICA = "CREATE with 1 replica"
# Nor is this: where an authorizer is, 4.3.1 answers UNKNOWN_SERVER_ERROR to whoever names a topic
# by an id that does not exist (ResourcePattern, which is asked about its name, takes no null).
UNNAMED = "ShareAcknowledge by an unknown id"
# Kafka's numbers of operations, as answers give them in bits (AclOperation, KIP-430).
OPERATIONS = {
    "READ": 3, "WRITE": 4, "CREATE": 5, "DELETE": 6, "ALTER": 7, "DESCRIBE": 8,
    "CLUSTER_ACTION": 9, "DESCRIBE_CONFIGS": 10, "ALTER_CONFIGS": 11, "IDEMPOTENT_WRITE": 12,
}  # fmt: skip
# The operations that each kind of resource knows (AclEntry.supportedOperations).
KNOWN = {
    TOPICS: ("READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "DESCRIBE_CONFIGS",
             "ALTER_CONFIGS"),
    GROUPS: ("READ", "DELETE", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"),
    CLUSTER: ("ALTER", "ALTER_CONFIGS", "CLUSTER_ACTION", "DESCRIBE", "DESCRIBE_CONFIGS"),
}  # fmt: skip


@dataclass(frozen=True, slots=True, order=True)
class Right:
    """An operation on one kind of resource; its text is how a missing one is called."""

    operation: str
    resource: str

    def __str__(self) -> str:
        return f"no {self.operation} on {self.resource}"


def _on(resource: str, operation: str) -> tuple[Right, ...]:
    return (Right(operation, resource),)


_JOIN = _on(GROUPS, "READ")
_TOLD = _on(GROUPS, "DESCRIBE")
_SEEN = _on(TOPICS, "DESCRIBE")
_READ = _on(TOPICS, "READ")
_TXN = _on(TRANSACTIONS, "WRITE")
_BROKERS = _on(CLUSTER, "CLUSTER_ACTION")
_ALTER = _on(CLUSTER, "ALTER")
_DESCRIBE = _on(CLUSTER, "DESCRIBE")
NEEDS: Mapping[str, tuple[Right, ...]] = {
    "Produce": _on(TOPICS, "WRITE"), "Fetch": _READ, "ListOffsets": _SEEN, "Metadata": _SEEN,
    "LeaderAndIsr": _BROKERS, "StopReplica": _BROKERS, "UpdateMetadata": _BROKERS,
    "ControlledShutdown": _BROKERS, "OffsetCommit": (*_JOIN, *_READ),
    "OffsetFetch": (*_TOLD, *_SEEN), "JoinGroup": _JOIN, "Heartbeat": _JOIN, "LeaveGroup": _JOIN,
    "SyncGroup": _JOIN, "DescribeGroups": _TOLD, "CreateTopics": _on(TOPICS, "CREATE"),
    "DeleteTopics": _on(TOPICS, "DELETE"), "DeleteRecords": _on(TOPICS, "DELETE"),
    "OffsetForLeaderEpoch": _SEEN, "AddOffsetsToTxn": (*_TXN, *_JOIN), "EndTxn": _TXN,
    "WriteTxnMarkers": _BROKERS, "TxnOffsetCommit": (*_TXN, *_JOIN, *_READ),
    "DescribeAcls": _DESCRIBE, "CreateAcls": _ALTER, "DeleteAcls": _ALTER,
    "AlterReplicaLogDirs": _ALTER, "DescribeLogDirs": _DESCRIBE,
    "CreatePartitions": _on(TOPICS, "ALTER"), "DeleteGroups": _on(GROUPS, "DELETE"),
    "ElectLeaders": _ALTER, "AlterPartitionReassignments": _ALTER,
    "ListPartitionReassignments": _DESCRIBE, "OffsetDelete": (*_on(GROUPS, "DELETE"), *_READ),
    "DescribeClientQuotas": _on(CLUSTER, "DESCRIBE_CONFIGS"),
    "AlterClientQuotas": _on(CLUSTER, "ALTER_CONFIGS"),
    "DescribeUserScramCredentials": _DESCRIBE, "AlterUserScramCredentials": _ALTER,
    "DescribeQuorum": _DESCRIBE, "AlterPartition": _BROKERS, "UpdateFeatures": _ALTER,
    "UnregisterBroker": _ALTER, "DescribeProducers": _READ,
    "DescribeTransactions": _on(TRANSACTIONS, "DESCRIBE"),
    "ConsumerGroupHeartbeat": (*_JOIN, *_SEEN), "ConsumerGroupDescribe": (*_TOLD, *_SEEN),
    "ListConfigResources": _on(CLUSTER, "DESCRIBE_CONFIGS"), "DescribeTopicPartitions": _SEEN,
    "ShareGroupHeartbeat": (*_JOIN, *_SEEN), "ShareGroupDescribe": (*_TOLD, *_SEEN),
    "ShareFetch": (*_JOIN, *_READ), "ShareAcknowledge": (*_JOIN, *_READ),
    "AddRaftVoter": _ALTER, "RemoveRaftVoter": _ALTER,
    "InitializeShareGroupState": _BROKERS, "ReadShareGroupState": _BROKERS,
    "WriteShareGroupState": _BROKERS, "DeleteShareGroupState": _BROKERS,
    "ReadShareGroupStateSummary": _BROKERS,
    "StreamsGroupHeartbeat": (*_JOIN, *_SEEN, *_on(TOPICS, "CREATE")),
    "StreamsGroupDescribe": (*_TOLD, *_SEEN), "DescribeShareGroupOffsets": (*_TOLD, *_SEEN),
    "AlterShareGroupOffsets": (*_JOIN, *_READ),
    "DeleteShareGroupOffsets": (*_on(GROUPS, "DELETE"), *_READ),
}  # fmt: skip
_CONFIGS = {"DescribeConfigs": "DESCRIBE_CONFIGS", "AlterConfigs": "ALTER_CONFIGS",
            "IncrementalAlterConfigs": "ALTER_CONFIGS"}  # fmt: skip
_KINDS = {2: TOPICS, 32: GROUPS}  # of config resources; all others are the cluster's
# An answer that lists what a user may do is another one for each user.
_LISTING = {"include_cluster_authorized_operations": CLUSTER,
            "include_topic_authorized_operations": TOPICS}  # fmt: skip
_COORDINATED = {0: GROUPS, 1: TRANSACTIONS, 2: CLUSTER}  # by FindCoordinator's types of keys
_BY_NUMBER = 4  # the version of AddPartitionsToTxn since which brokers ask it for many
_NO_EPOCH = 0  # the lowest id of a follower
# Fields that name what a prefix must begin; of rows, by the list in which they stand.
_NAMES = frozenset({"group_id", "groups_names", "group_ids", "transactional_id",
                    "transactional_ids", "transactional_id_pattern", "topic", "topic_names",
                    "topic_name", "coordinator_keys", "subscribed_topic_names",
                    "source_topics", "repartition_sink_topics"})  # fmt: skip
_LISTS = frozenset({"topics", "groups", "topic_data", "transactions",
                    "repartition_source_topics", "state_changelog_topics"})  # fmt: skip
_SHORT = 40  # characters of a name that are shown


def needs(scenario: Scenario) -> Iterator[Right]:
    """Yield the rights that a scenario's requests need, in their order, as often as they do."""
    for api, version, body in _requests(scenario):
        yield from NEEDS.get(api, ())
        if api in _CONFIGS:
            for row in body.get("resources") or ():
                yield Right(_CONFIGS[api], _KINDS.get(row.get("resource_type"), CLUSTER))
        if api == "CreateTopics" and any(map(_has_one_replica, body.get("topics") or ())):
            yield Right(ONE_REPLICA, TOPICS)
        if api == "ShareAcknowledge" and any(
            isinstance(row.get("topic_id"), bytes) for row in body.get("topics") or ()
        ):
            yield Right(UNNAMED, TOPICS)
        if api == "AddPartitionsToTxn":
            yield from _BROKERS if version >= _BY_NUMBER else (*_TXN, *_on(TOPICS, "WRITE"))
        if api in ("InitProducerId", "Produce") and body.get("transactional_id"):
            yield from _TXN
        if api == "FindCoordinator":
            yield Right("DESCRIBE", _COORDINATED.get(body.get("key_type", 0), GROUPS))
        if api == "Fetch" and _is_follower(body):
            yield from _BROKERS
        for field, resource in _LISTING.items():
            if body.get(field):
                yield from (Right(operation, resource) for operation in KNOWN[resource])
        if api == "DescribeGroups" and body.get("include_authorized_operations"):
            yield from (Right(operation, GROUPS) for operation in KNOWN[GROUPS])


def lacking(scenario: Scenario, missing: frozenset[Right]) -> Right | None:
    """Return the first right that a scenario needs and its user does not have."""
    return next((one for one in needs(scenario) if one in missing), None)


def unnamed(scenario: Scenario, prefix: str) -> str | None:
    """Return why the names of a scenario cannot all begin with a prefix; None if they do."""
    for api, _, body in _requests(scenario):
        key = body.get("key") if api == "FindCoordinator" else None
        for name in _written([body, {"group_id": key}]):
            if not name.startswith(prefix):
                shown = name if len(name) <= _SHORT else f"{name[:_SHORT]}..."
                word = f"the name {shown!r}" if name else "the empty name"
                return f"{api} asks about {word}, which cannot begin with {prefix!r}"
    return None


def _requests(scenario: Scenario) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    for step in map(asked, scenario.steps):
        if isinstance(step, Ask | Send):
            yield step.api, step.version, step.body
        elif isinstance(step, Raw) and isinstance(step.data, Frame):
            yield step.data.api, step.data.version, step.data.body


def _has_one_replica(topic: Mapping[str, Any]) -> bool:
    rows = topic.get("assignments") or ()
    return topic.get("replication_factor") == 1 or any(len(row["broker_ids"]) == 1 for row in rows)


def _is_follower(body: Mapping[str, Any]) -> bool:
    state = body.get("replica_state") or {}
    ids = (body.get("replica_id"), state.get("replica_id"))
    return any(isinstance(node, int) and node >= _NO_EPOCH for node in ids)


def _written(value: Any, field: str = "") -> Iterator[str]:
    """Yield the names of topics, groups and transactional ids that are written out in a body."""
    if isinstance(value, Mapping):
        if value.get("resource_type") in _KINDS and isinstance(value.get("resource_name"), str):
            yield value["resource_name"]
        for name, inner in value.items():
            yield from _written(inner, field if name == "name" and field in _LISTS else name)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _written(inner, field)
    elif isinstance(value, str) and field in (_NAMES | _LISTS):
        yield value


def words(missing: Iterable[Right]) -> str:
    """Return what a user may not do, in one line; nothing of what nobody may."""
    by_resource: dict[str, list[str]] = {}
    own = (right for right in missing if right.operation != UNNAMED)
    for one in sorted(own, key=lambda right: (right.resource, right.operation)):
        by_resource.setdefault(one.resource, []).append(one.operation)
    return "; ".join(f"{', '.join(names)} on {where}" for where, names in by_resource.items())
