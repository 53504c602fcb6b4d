"""Where each request of the admin client goes: one row for each API, and no walk of its own.

`CONTROLLER` is whoever Metadata names as the controller; since KRaft that is any broker, which
forwards. `BROKER` is the broker that the request is about, or any broker where it is about none.

The other APIs that a broker serves are somebody else's; `ELSEWHERE` says whose, and a test holds
both tables together to what the reference broker serves.

Source: the NodeProvider or AdminApiHandler of each method of KafkaAdminClient at 4.3.1.
"""

from __future__ import annotations

from enum import Enum


class Where(Enum):
    """Who answers; what a call's `target` has to say of an item for that."""

    ANY = "any broker"
    CONTROLLER = "the controller"
    BROKER = "a broker: its id, or `flow.ANY`"
    LEADER = "the leader of a partition: (topic, index)"
    GROUP = "the coordinator of a group: its id"
    TRANSACTION = "the coordinator of a transactional id"


ROUTES: dict[str, Where] = {
    "Metadata": Where.ANY,
    "ApiVersions": Where.BROKER,
    "DescribeTopicPartitions": Where.ANY,
    "CreateTopics": Where.CONTROLLER,
    "DeleteTopics": Where.CONTROLLER,
    "CreatePartitions": Where.CONTROLLER,
    "DeleteRecords": Where.LEADER,
    "ListOffsets": Where.LEADER,
    "DescribeConfigs": Where.BROKER,
    "AlterConfigs": Where.BROKER,
    "IncrementalAlterConfigs": Where.BROKER,
    "ListConfigResources": Where.ANY,
    "DescribeAcls": Where.ANY,
    "CreateAcls": Where.ANY,
    "DeleteAcls": Where.ANY,
    "DescribeClientQuotas": Where.ANY,
    "AlterClientQuotas": Where.ANY,
    "DescribeUserScramCredentials": Where.ANY,
    "AlterUserScramCredentials": Where.CONTROLLER,
    "CreateDelegationToken": Where.ANY,
    "RenewDelegationToken": Where.ANY,
    "ExpireDelegationToken": Where.ANY,
    "DescribeDelegationToken": Where.ANY,
    "ListGroups": Where.BROKER,
    "DescribeGroups": Where.GROUP,
    "ConsumerGroupDescribe": Where.GROUP,
    "ShareGroupDescribe": Where.GROUP,
    "StreamsGroupDescribe": Where.GROUP,
    "DeleteGroups": Where.GROUP,
    "LeaveGroup": Where.GROUP,
    "OffsetFetch": Where.GROUP,
    "OffsetCommit": Where.GROUP,
    "OffsetDelete": Where.GROUP,
    "DescribeShareGroupOffsets": Where.GROUP,
    "AlterShareGroupOffsets": Where.GROUP,
    "DeleteShareGroupOffsets": Where.GROUP,
    "DescribeLogDirs": Where.BROKER,
    "AlterReplicaLogDirs": Where.BROKER,
    "AlterPartitionReassignments": Where.CONTROLLER,
    "ListPartitionReassignments": Where.CONTROLLER,
    "ElectLeaders": Where.CONTROLLER,
    "UpdateFeatures": Where.CONTROLLER,
    "DescribeProducers": Where.LEADER,
    "WriteTxnMarkers": Where.LEADER,
    "DescribeTransactions": Where.TRANSACTION,
    "InitProducerId": Where.TRANSACTION,
    "ListTransactions": Where.BROKER,
    "DescribeCluster": Where.ANY,
    "DescribeQuorum": Where.ANY,
    "UnregisterBroker": Where.ANY,
    "AddRaftVoter": Where.ANY,
    "RemoveRaftVoter": Where.ANY,
}

_PRODUCER = "the producer's"
_CONSUMER = "the consumer's"
_SHARE = "the share consumer's"
_CONNECTION = "the connection's own"
_STREAMS = "Kafka Streams'"
_BROKERS = "between brokers"
ELSEWHERE: dict[str, str] = {
    "Produce": _PRODUCER,
    "AddPartitionsToTxn": _PRODUCER,
    "AddOffsetsToTxn": _PRODUCER,
    "EndTxn": _PRODUCER,
    "TxnOffsetCommit": _PRODUCER,
    "Fetch": _CONSUMER,
    "OffsetForLeaderEpoch": _CONSUMER,
    "FindCoordinator": "asked by every walk to a coordinator (`client/coordinator.py`)",
    "JoinGroup": _CONSUMER,
    "SyncGroup": _CONSUMER,
    "Heartbeat": _CONSUMER,
    "ConsumerGroupHeartbeat": _CONSUMER,
    "ShareGroupHeartbeat": _SHARE,
    "ShareFetch": _SHARE,
    "ShareAcknowledge": _SHARE,
    "StreamsGroupHeartbeat": _STREAMS,
    "SaslHandshake": _CONNECTION,
    "SaslAuthenticate": _CONNECTION,
    "LeaderAndIsr": _BROKERS,
    "StopReplica": _BROKERS,
    "UpdateMetadata": _BROKERS,
    "ControlledShutdown": _BROKERS,
    "AlterPartition": _BROKERS,
    "InitializeShareGroupState": _BROKERS,
    "ReadShareGroupState": _BROKERS,
    "WriteShareGroupState": _BROKERS,
    "DeleteShareGroupState": _BROKERS,
    "ReadShareGroupStateSummary": _BROKERS,
}
