"""Who sends each request, who reads each field of its answer, which nulls make them raise. Pure.

The one table behind the order in which causes are told: what an application meets comes before what
an operator's tool meets, that before what only brokers ask each other, and what nobody reads is a
note. It is about Kafka 4.3.1's own classes, found in the bytecode of its jars (kafka-clients,
kafka-tools, kafka-streams, connect-runtime, and those of the server): the sender of a request is
the class that makes its builder; a field is read where a class outside `common.message` calls its
accessor, directly or through the wrappers of `common.requests`, but for toString, equals and
errorCounts. Other clients may read more. APIs that 4.3 no longer has: of the release named beside
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

CLIENT, ADMIN, BROKERS, NOBODY = "a client", "an admin tool", "other brokers", "nobody"
WHO = (CLIENT, ADMIN, BROKERS, NOBODY)  # from those whom it hits hardest

# API -> who sends it, and the class that does. Where several do, the first of WHO.
SENDERS: dict[str, tuple[str, str]] = {
    # what every application does
    "AddOffsetsToTxn": (CLIENT, "producer.internals.TransactionManager"),
    "AddPartitionsToTxn": (CLIENT, "producer.internals.TransactionManager"),
    "ApiVersions": (CLIENT, "NetworkClient"),
    "ConsumerGroupHeartbeat": (CLIENT, "consumer.internals.ConsumerHeartbeatRequestManager"),
    "EndTxn": (CLIENT, "producer.internals.TransactionManager"),
    "Fetch": (CLIENT, "consumer.internals.AbstractFetch"),
    "FindCoordinator": (CLIENT, "consumer.internals.AbstractCoordinator"),
    "GetTelemetrySubscriptions": (CLIENT, "common.telemetry.internals.ClientTelemetryReporter"),
    "Heartbeat": (CLIENT, "consumer.internals.AbstractCoordinator"),
    "InitProducerId": (CLIENT, "producer.internals.TransactionManager"),
    "JoinGroup": (CLIENT, "consumer.internals.AbstractCoordinator"),
    "LeaveGroup": (CLIENT, "consumer.internals.AbstractCoordinator"),
    "ListOffsets": (CLIENT, "consumer.internals.OffsetFetcher"),
    "Metadata": (CLIENT, "Metadata"),
    "OffsetCommit": (CLIENT, "consumer.internals.ConsumerCoordinator"),
    "OffsetFetch": (CLIENT, "consumer.internals.ConsumerCoordinator"),
    "OffsetForLeaderEpoch": (CLIENT, "consumer.internals.OffsetsForLeaderEpochUtils"),
    "Produce": (CLIENT, "producer.internals.Sender"),
    "PushTelemetry": (CLIENT, "common.telemetry.internals.ClientTelemetryReporter"),
    "SaslAuthenticate": (CLIENT, "common.security.authenticator.SaslClientAuthenticator"),
    "SaslHandshake": (CLIENT, "common.security.authenticator.SaslClientAuthenticator"),
    "ShareAcknowledge": (CLIENT, "consumer.internals.ShareConsumeRequestManager"),
    "ShareFetch": (CLIENT, "consumer.internals.ShareConsumeRequestManager"),
    "ShareGroupHeartbeat": (CLIENT, "consumer.internals.ShareHeartbeatRequestManager"),
    "StreamsGroupHeartbeat": (CLIENT, "consumer.internals.StreamsGroupHeartbeatRequestManager"),
    "SyncGroup": (CLIENT, "consumer.internals.AbstractCoordinator"),
    "TxnOffsetCommit": (CLIENT, "producer.internals.TransactionManager"),
    # what Kafka's Admin, and the tools that are made of it, ask
    "AddRaftVoter": (ADMIN, "admin.KafkaAdminClient"),
    "AlterClientQuotas": (ADMIN, "admin.KafkaAdminClient"),
    "AlterConfigs": (ADMIN, "admin.KafkaAdminClient of 3.9.2"),
    "AlterPartitionReassignments": (ADMIN, "admin.KafkaAdminClient"),
    "AlterReplicaLogDirs": (ADMIN, "admin.KafkaAdminClient"),
    "AlterShareGroupOffsets": (ADMIN, "admin.internals.AlterShareGroupOffsetsHandler"),
    "AlterUserScramCredentials": (ADMIN, "admin.KafkaAdminClient"),
    "ConsumerGroupDescribe": (ADMIN, "admin.internals.DescribeConsumerGroupsHandler"),
    "CreateAcls": (ADMIN, "admin.KafkaAdminClient"),
    "CreateDelegationToken": (ADMIN, "admin.KafkaAdminClient"),
    "CreatePartitions": (ADMIN, "admin.KafkaAdminClient"),
    "CreateTopics": (ADMIN, "admin.KafkaAdminClient"),
    "DeleteAcls": (ADMIN, "admin.KafkaAdminClient"),
    "DeleteGroups": (ADMIN, "admin.internals.DeleteGroupsHandler"),
    "DeleteRecords": (ADMIN, "admin.internals.DeleteRecordsHandler"),
    "DeleteShareGroupOffsets": (ADMIN, "admin.internals.DeleteShareGroupOffsetsHandler"),
    "DeleteTopics": (ADMIN, "admin.KafkaAdminClient"),
    "DescribeAcls": (ADMIN, "admin.KafkaAdminClient"),
    "DescribeClientQuotas": (ADMIN, "admin.KafkaAdminClient"),
    "DescribeCluster": (ADMIN, "admin.KafkaAdminClient"),
    "DescribeConfigs": (ADMIN, "admin.KafkaAdminClient"),
    "DescribeDelegationToken": (ADMIN, "admin.KafkaAdminClient"),
    "DescribeGroups": (ADMIN, "admin.internals.DescribeClassicGroupsHandler"),
    "DescribeLogDirs": (ADMIN, "admin.KafkaAdminClient"),
    "DescribeProducers": (ADMIN, "admin.internals.DescribeProducersHandler"),
    "DescribeQuorum": (ADMIN, "admin.KafkaAdminClient"),
    "DescribeShareGroupOffsets": (ADMIN, "admin.internals.ListShareGroupOffsetsHandler"),
    "DescribeTopicPartitions": (ADMIN, "admin.KafkaAdminClient"),
    "DescribeTransactions": (ADMIN, "admin.internals.DescribeTransactionsHandler"),
    "DescribeUserScramCredentials": (ADMIN, "admin.KafkaAdminClient"),
    "ElectLeaders": (ADMIN, "admin.KafkaAdminClient"),
    "ExpireDelegationToken": (ADMIN, "admin.KafkaAdminClient"),
    "IncrementalAlterConfigs": (ADMIN, "admin.KafkaAdminClient"),
    "ListConfigResources": (ADMIN, "admin.KafkaAdminClient"),
    "ListGroups": (ADMIN, "admin.KafkaAdminClient"),
    "ListPartitionReassignments": (ADMIN, "admin.KafkaAdminClient"),
    "ListTransactions": (ADMIN, "admin.internals.ListTransactionsHandler"),
    "OffsetDelete": (ADMIN, "admin.internals.DeleteConsumerGroupOffsetsHandler"),
    "RemoveRaftVoter": (ADMIN, "admin.KafkaAdminClient"),
    "RenewDelegationToken": (ADMIN, "admin.KafkaAdminClient"),
    "ShareGroupDescribe": (ADMIN, "admin.internals.DescribeShareGroupsHandler"),
    "StreamsGroupDescribe": (ADMIN, "admin.internals.DescribeStreamsGroupsHandler"),
    "UnregisterBroker": (ADMIN, "admin.KafkaAdminClient"),
    "UpdateFeatures": (ADMIN, "admin.KafkaAdminClient"),
    # what brokers ask each other; AbortTransactionHandler of the admin client does so to repair
    "WriteTxnMarkers": (BROKERS, "coordinator.transaction.TransactionMarkerChannelManager"),
    "AllocateProducerIds": (BROKERS, "coordinator.transaction.RPCProducerIdManager"),
    "AlterPartition": (BROKERS, "server.DefaultAlterPartitionManager"),
    "AssignReplicasToDirs": (BROKERS, "server.AssignmentsManager"),
    "BeginQuorumEpoch": (BROKERS, "raft.KafkaNetworkChannel"),
    "BrokerHeartbeat": (BROKERS, "server.BrokerLifecycleManager"),
    "BrokerRegistration": (BROKERS, "server.BrokerLifecycleManager"),
    "ControlledShutdown": (BROKERS, "server.KafkaServer of 3.9.2"),
    "ControllerRegistration": (BROKERS, "server.ControllerRegistrationManager"),
    "DeleteShareGroupState": (BROKERS, "server.share.persister.PersisterStateManager"),
    "EndQuorumEpoch": (BROKERS, "raft.KafkaNetworkChannel"),
    "Envelope": (BROKERS, "server.ForwardingManagerUtil"),
    "FetchSnapshot": (BROKERS, "raft.KafkaNetworkChannel"),
    "InitializeShareGroupState": (BROKERS, "server.share.persister.PersisterStateManager"),
    "LeaderAndIsr": (BROKERS, "controller.ControllerChannelManager of 3.9.2"),
    "ReadShareGroupState": (BROKERS, "server.share.persister.PersisterStateManager"),
    "ReadShareGroupStateSummary": (BROKERS, "server.share.persister.PersisterStateManager"),
    "StopReplica": (BROKERS, "controller.ControllerChannelManager of 3.9.2"),
    "UpdateMetadata": (BROKERS, "controller.ControllerChannelManager of 3.9.2"),
    "UpdateRaftVoter": (BROKERS, "raft.KafkaNetworkChannel"),
    "Vote": (BROKERS, "raft.KafkaNetworkChannel"),
    "WriteShareGroupState": (BROKERS, "server.share.persister.PersisterStateManager"),
}  # fmt: skip

# (API, field path without indexes) whose accessor none of those jars' clients and tools calls ->
# who reads it instead.
FIELDS: dict[tuple[str, str], str] = {
    ("AddPartitionsToTxn", "error_code"): BROKERS,
    # From version 4 on, above LAST_CLIENT_VERSION, brokers verify partitions with it (KIP-890).
    ("AddPartitionsToTxn", "results_by_transaction"): BROKERS,
    ("AlterPartitionReassignments", "allow_replication_factor_change"): NOBODY,
    ("AlterShareGroupOffsets", "responses.topic_id"): BROKERS,
    ("ApiVersions", "zk_migration_ready"): NOBODY,
    ("ConsumerGroupDescribe", "groups.members.subscribed_topic_names"): NOBODY,
    ("ConsumerGroupDescribe", "groups.members.subscribed_topic_regex"): NOBODY,
    ("ConsumerGroupDescribe", "groups.members.assignment.topic_partitions.topic_id"): NOBODY,
    ("ConsumerGroupDescribe", "groups.members.target_assignment.topic_partitions.topic_id"): NOBODY,
    ("ConsumerGroupHeartbeat", "member_id"): NOBODY,
    ("DeleteShareGroupOffsets", "responses.topic_id"): NOBODY,
    ("DescribeGroups", "groups.members.member_metadata"): NOBODY,
    ("DescribeShareGroupOffsets", "groups.topics.topic_id"): NOBODY,
    ("DescribeTopicPartitions", "topics.partitions.leader_epoch"): NOBODY,
    ("DescribeTopicPartitions", "topics.partitions.offline_replicas"): NOBODY,
    ("DescribeTopicPartitions", "topics.partitions.error_code"): NOBODY,
    ("DescribeTopicPartitions", "next_cursor.partition_index"): NOBODY,
    ("Fetch", "responses.partitions.diverging_epoch"): BROKERS,
    ("Fetch", "responses.partitions.snapshot_id"): BROKERS,
    ("GetTelemetrySubscriptions", "telemetry_max_bytes"): NOBODY,
    ("ListTransactions", "unknown_state_filters"): NOBODY,
    ("ShareGroupDescribe", "groups.assignor_name"): NOBODY,
    ("ShareGroupDescribe", "groups.members.subscribed_topic_names"): NOBODY,
    ("ShareGroupDescribe", "groups.members.assignment.topic_partitions.topic_id"): NOBODY,
    ("ShareGroupHeartbeat", "member_id"): NOBODY,
    ("StreamsGroupHeartbeat", "acceptable_recovery_lag"): NOBODY,
    ("StreamsGroupHeartbeat", "member_id"): NOBODY,
    ("StreamsGroupHeartbeat", "task_offset_interval_ms"): NOBODY,
}  # fmt: skip

# (API, field path without indexes) -> (the target's value at which its reader raises, who and why).
# A null in a field that may not be null, which no client of Kafka's decodes, is no row: it is an
# answer that cannot be parsed.
NULL, NO_NULL = "null", "no null"
RAISES: dict[tuple[str, str], tuple[str, str]] = {
    ("CreateTopics", "topics.configs"): (
        NULL, "KafkaAdminClient.createTopics streams over it where neither error code is set",
    ),
    ("DescribeClientQuotas", "entries"): (
        NULL, "DescribeClientQuotasResponse.complete iterates over it where the error is NONE",
    ),
    ("JoinGroup", "protocol_type"): (
        NO_NULL, "AbstractCoordinator raises INCONSISTENT_GROUP_PROTOCOL at any type but its own",
    ),
    ("SyncGroup", "protocol_type"): (
        NO_NULL, "AbstractCoordinator raises INCONSISTENT_GROUP_PROTOCOL at any type but its own",
    ),
    ("SyncGroup", "protocol_name"): (
        NO_NULL, "AbstractCoordinator raises INCONSISTENT_GROUP_PROTOCOL at any name but its own",
    ),
}  # fmt: skip

# (API, field) that clients read although an error code of the same element says that it failed.
BESIDE_ERRORS = {
    ("ApiVersions", "api_keys"),  # of UNSUPPORTED_VERSION: with what to ask again (KIP-511)
    ("Fetch", "current_leader"),  # of NOT_LEADER_OR_FOLLOWER: who leads (KIP-951)
    ("Fetch", "diverging_epoch"),  # where to truncate to (KIP-595)
    ("JoinGroup", "member_id"),  # of MEMBER_ID_REQUIRED: with which to come back (KIP-394)
    ("Metadata", "partitions"),  # of LEADER_NOT_AVAILABLE: those that have a leader
    ("Produce", "current_leader"),  # KIP-951
    ("Produce", "record_errors"),  # of INVALID_RECORD: which records (KIP-467)
    ("SaslHandshake", "mechanisms"),  # of UNSUPPORTED_SASL_MECHANISM: which there are
    ("ShareAcknowledge", "current_leader"),
    ("ShareFetch", "current_leader"),
}
_INDEX = re.compile(r"\[[^\]]*\]")


def who(api: str | None, path: str) -> str:
    """Return who reads this field of the API's answers; of raw bytes and of an API that the table
    does not know, a client.
    """
    if api is None or api not in SENDERS:
        return CLIENT
    around = ((api, place) for place in _around(path))
    return next((FIELDS[key] for key in around if key in FIELDS), SENDERS[api][0])


def raises(api: str | None, path: str, oracle: object, target: object) -> bool:
    """Return whether the reader of this field raises at the target's value, and not at Kafka's."""
    found = RAISES.get((api or "", _bare(path)))
    if found is None:
        return False
    return target is None if found[0] == NULL else oracle is None and target is not None


def is_read_beside_an_error(api: str | None, path: str) -> bool:
    return any((api, word) in BESIDE_ERRORS for word in _bare(path).split("."))


def _bare(path: str) -> str:
    return _INDEX.sub("", path)


def _around(path: str) -> Iterator[str]:
    """Yield the field's path and those of the structs that hold it."""
    place = _bare(path)
    while place:
        yield place
        place = place.rpartition(".")[0]
