"""Arrays whose order Kafka leaves to a hash map or to arrival, and what to sort them by.

A table of facts for `normalize`, apart from it because it grows with every API that suites speak
to. Keys are (API, path of the array without indexes).
"""

from __future__ import annotations

UNORDERED: dict[tuple[str, str], tuple[str, ...]] = {
    ("Metadata", "brokers"): ("node_id",),
    ("Metadata", "topics"): ("name", "topic_id"),
    ("Metadata", "topics.partitions"): ("partition_index",),
    ("CreateTopics", "topics"): ("name",),
    ("CreateTopics", "topics.configs"): ("name",),
    ("DeleteTopics", "responses"): ("name", "topic_id"),
    ("CreatePartitions", "results"): ("name",),
    ("Produce", "responses"): ("name", "topic_id"),
    ("Produce", "responses.partition_responses"): ("index",),
    ("ListOffsets", "topics"): ("name",),
    ("ListOffsets", "topics.partitions"): ("partition_index",),
    ("DeleteRecords", "topics"): ("name",),
    ("DeleteRecords", "topics.partitions"): ("partition_index",),
    ("OffsetForLeaderEpoch", "topics"): ("topic",),
    ("OffsetForLeaderEpoch", "topics.partitions"): ("partition",),
    ("DescribeConfigs", "results"): ("resource_type", "resource_name"),
    ("DescribeConfigs", "results.configs"): ("name",),
    ("AlterConfigs", "responses"): ("resource_type", "resource_name"),
    ("IncrementalAlterConfigs", "responses"): ("resource_type", "resource_name"),
    ("FindCoordinator", "coordinators"): ("key",),
    ("DescribeCluster", "brokers"): ("broker_id",),
    ("ElectLeaders", "replica_election_results"): ("topic",),
    ("ElectLeaders", "replica_election_results.partition_result"): ("partition_id",),
    ("AlterPartitionReassignments", "responses"): ("name",),
    ("AlterPartitionReassignments", "responses.partitions"): ("partition_index",),
    ("ListPartitionReassignments", "topics"): ("name",),
    ("ListPartitionReassignments", "topics.partitions"): ("partition_index",),
    ("AddPartitionsToTxn", "results_by_topic_v3_and_below"): ("name",),
    ("AddPartitionsToTxn", "results_by_topic_v3_and_below.results_by_partition"): (
        "partition_index",
    ),
    ("AddPartitionsToTxn", "results_by_transaction"): ("transactional_id",),
    ("AddPartitionsToTxn", "results_by_transaction.topic_results"): ("name",),
    ("AddPartitionsToTxn", "results_by_transaction.topic_results.results_by_partition"): (
        "partition_index",
    ),
    ("WriteTxnMarkers", "markers"): ("producer_id",),
    ("WriteTxnMarkers", "markers.topics"): ("name",),
    ("WriteTxnMarkers", "markers.topics.partitions"): ("partition_index",),
    ("TxnOffsetCommit", "topics"): ("name",),
    ("TxnOffsetCommit", "topics.partitions"): ("partition_index",),
    ("DescribeLogDirs", "results"): ("log_dir",),
    ("DescribeLogDirs", "results.topics"): ("name",),
    ("DescribeLogDirs", "results.topics.partitions"): ("partition_index",),
    ("AlterReplicaLogDirs", "results"): ("topic_name",),
    ("AlterReplicaLogDirs", "results.partitions"): ("partition_index",),
    ("DescribeProducers", "topics.partitions.active_producers"): ("producer_id",),
    ("DescribeTransactions", "transaction_states.topics"): ("topic",),
    ("DescribeTransactions", "transaction_states.topics.partitions"): (),
    ("ListTransactions", "transaction_states"): ("transactional_id",),
    ("ApiVersions", "supported_features"): ("name",),
    ("ApiVersions", "finalized_features"): ("name",),
}
