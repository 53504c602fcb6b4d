"""Which API is guarded how: what KafkaApis and ControllerApis check, as a table.

A row is an API key and its guard. `UNGUARDED` are the APIs that Kafka lets everybody ask; a test
holds that every handler stands in one of the two tables. Where releases differ, a guard asks a
quirk (`personas/acl_path.py`).

Sources: KafkaApis@1.0.2, 2.2.1, 2.8.2, 3.9; ControllerApis@3.9; observed on 1.0.2, 2.8.2, 4.3.1.
"""

from __future__ import annotations

from collections.abc import Mapping

from touchstone.reference_impl.broker.security.acls import guards_of_configs as configs
from touchstone.reference_impl.broker.security.acls import guards_of_groups as groups
from touchstone.reference_impl.broker.security.acls import guards_of_topics as topics
from touchstone.reference_impl.broker.security.acls import guards_of_transactions as transactions
from touchstone.reference_impl.broker.security.acls.guarding import (
    CONSUMER,
    GROUP,
    SHARE,
    STREAMS,
    TOPIC,
    TRANSACTIONAL_ID,
    Guard,
    Rows,
    at_controller,
    chain,
    cluster,
    cluster_bits,
    left_out,
    named,
    of_field,
    of_topic,
    open_to_all,
    told_bits,
    while_on,
)
from touchstone.reference_impl.cluster.acls import Operation as Op

BROKERS_ONLY = cluster(Op.CLUSTER_ACTION)
_READS_GROUP = named(GROUP, Op.READ, "group_id")


GUARDS: Mapping[int, Guard] = {
    0: topics.produce,
    1: open_to_all,  # Fetch: its handler looks at each partition of a session
    2: Rows(TOPIC, Op.DESCRIBE, "topics", "topics", of_field("name")),
    3: chain(cluster_bits, told_bits(TOPIC, "topics", "name", "topic_authorized_operations"),
             topics.metadata),
    4: BROKERS_ONLY,  # LeaderAndIsr
    5: BROKERS_ONLY,  # StopReplica
    6: BROKERS_ONLY,  # UpdateMetadata
    7: BROKERS_ONLY,  # ControlledShutdown
    8: chain(_READS_GROUP, Rows(TOPIC, Op.READ, "topics", "topics", of_topic(), first=True)),
    9: groups.offset_fetch,
    10: groups.find_coordinator,
    11: _READS_GROUP,  # JoinGroup
    12: _READS_GROUP,  # Heartbeat
    13: _READS_GROUP,  # LeaveGroup
    14: _READS_GROUP,  # SyncGroup
    15: chain(told_bits(GROUP, "groups", "group_id", "authorized_operations"),
              Rows(GROUP, Op.DESCRIBE, "groups", "groups", of_field(None), first=True)),
    16: groups.list_groups,
    19: at_controller(topics.create_topics),
    20: at_controller(topics.delete_topics),
    21: Rows(TOPIC, Op.DELETE, "topics", "topics", of_field("name")),
    22: transactions.init_producer_id,
    23: topics.offset_for_leader_epoch,
    24: transactions.add_partitions,
    25: chain(named(TRANSACTIONAL_ID, Op.WRITE, "transactional_id"), _READS_GROUP),
    26: named(TRANSACTIONAL_ID, Op.WRITE, "transactional_id"),
    27: transactions.write_markers,
    28: chain(named(TRANSACTIONAL_ID, Op.WRITE, "transactional_id"), _READS_GROUP,
              Rows(TOPIC, Op.READ, "topics", "topics", of_field("name"), first=True)),
    29: cluster(Op.DESCRIBE),  # DescribeAcls
    30: cluster(Op.ALTER),  # CreateAcls
    31: cluster(Op.ALTER),  # DeleteAcls
    32: configs.describe_configs,
    33: configs.alter_configs,
    34: cluster(Op.ALTER),  # AlterReplicaLogDirs
    35: cluster(Op.DESCRIBE),  # DescribeLogDirs
    37: at_controller(Rows(TOPIC, Op.ALTER, "topics", "results", of_field("name"))),
    38: open_to_all,  # CreateDelegationToken: its handler looks at the owner
    41: open_to_all,  # DescribeDelegationToken: its handler looks at each token
    42: Rows(GROUP, Op.DELETE, "groups_names", "results", of_field(None)),
    43: cluster(Op.ALTER),  # ElectLeaders
    44: configs.alter_configs,
    45: cluster(Op.ALTER),  # AlterPartitionReassignments
    46: cluster(Op.DESCRIBE),  # ListPartitionReassignments
    47: chain(named(GROUP, Op.DELETE, "group_id"), groups.offset_delete),
    48: cluster(Op.DESCRIBE_CONFIGS),  # DescribeClientQuotas
    49: cluster(Op.ALTER_CONFIGS),  # AlterClientQuotas
    50: configs.describe_scram_credentials,
    51: cluster(Op.ALTER),  # AlterUserScramCredentials
    55: cluster(Op.DESCRIBE),  # DescribeQuorum
    56: BROKERS_ONLY,  # AlterPartition
    57: cluster(Op.ALTER),  # UpdateFeatures
    60: cluster_bits,  # DescribeCluster
    61: transactions.describe_producers,
    64: cluster(Op.ALTER),  # UnregisterBroker
    65: transactions.describe_transactions,
    66: left_out(TRANSACTIONAL_ID, Op.DESCRIBE, "transaction_states", "transactional_id"),
    68: while_on(CONSUMER, groups.member_heartbeat),
    69: while_on(CONSUMER, groups.describe_members),
    74: cluster(Op.DESCRIBE_CONFIGS),  # ListConfigResources
    75: told_bits(TOPIC, "topics", "name", "topic_authorized_operations"),  # its handler looks
    76: while_on(SHARE, groups.member_heartbeat),
    77: while_on(SHARE, groups.describe_members),
    78: while_on(SHARE, _READS_GROUP),  # ShareFetch: its handler looks at topics
    79: while_on(SHARE, _READS_GROUP),  # ShareAcknowledge, too
    80: cluster(Op.ALTER),  # AddRaftVoter
    81: cluster(Op.ALTER),  # RemoveRaftVoter
    83: BROKERS_ONLY,  # InitializeShareGroupState
    84: BROKERS_ONLY,  # ReadShareGroupState
    85: BROKERS_ONLY,  # WriteShareGroupState
    86: BROKERS_ONLY,  # DeleteShareGroupState
    87: BROKERS_ONLY,  # ReadShareGroupStateSummary
    88: while_on(STREAMS, _READS_GROUP),  # StreamsGroupHeartbeat: its handler looks at topics
    89: while_on(STREAMS, groups.describe_streams),
    90: while_on(SHARE, groups.describe_share_offsets),
    91: while_on(SHARE, chain(_READS_GROUP, groups.alter_share_offsets)),  # AlterShareGroupOffsets
    92: while_on(SHARE, chain(named(GROUP, Op.DELETE, "group_id"),
                                groups.delete_share_offsets)),
}  # fmt: skip

UNGUARDED: Mapping[int, str] = {
    17: "SaslHandshake says who somebody is",
    18: "ApiVersions comes before everything",
    36: "SaslAuthenticate says who somebody is",
    39: "whoever renews a token is known by it",
    40: "whoever expires a token is known by it",
    71: "everybody is asked for telemetry",
    72: "everybody may push what was asked for",
}
