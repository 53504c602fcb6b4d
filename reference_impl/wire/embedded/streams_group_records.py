"""The records of __consumer_offsets that streams groups write (KIP-1071)."""

from ..schema import Field, Message

STREAMS_GROUP_METADATA_KEY = Message("StreamsGroupMetadataKey", "0", "", [
    Field("group_id", "0+", "string"),
])

STREAMS_GROUP_METADATA_VALUE = Message("StreamsGroupMetadataValue", "0", "0+", [
    Field("epoch", "0+", "int32"),
    Field("metadata_hash", "0+", "int64"),
    Field("validated_topology_epoch", "0+", "int32", tag=0, default=-1),
    Field("last_assignment_configs", "0+", "[]struct", nullable="0+", tag=1, fields=[
        Field("key", "0+", "string"),
        Field("value", "0+", "string"),
    ]),
])

STREAMS_GROUP_MEMBER_METADATA_KEY = Message("StreamsGroupMemberMetadataKey", "0", "", [
    Field("group_id", "0+", "string"),
    Field("member_id", "0+", "string"),
])

STREAMS_GROUP_MEMBER_METADATA_VALUE = Message("StreamsGroupMemberMetadataValue", "0", "0+", [
    Field("instance_id", "0+", "string", nullable="0+"),
    Field("rack_id", "0+", "string", nullable="0+"),
    Field("client_id", "0+", "string"),
    Field("client_host", "0+", "string"),
    Field("rebalance_timeout_ms", "0+", "int32", default=-1),
    Field("topology_epoch", "0+", "int32"),
    Field("process_id", "0+", "string"),
    Field("user_endpoint", "0+", "struct", nullable="0+", default=None, fields=[
        Field("host", "0+", "string"),
        Field("port", "0+", "uint16"),
    ]),
    Field("client_tags", "0+", "[]struct", fields=[
        Field("key", "0+", "string"),
        Field("value", "0+", "string"),
    ]),
])

STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA_KEY = Message(
    "StreamsGroupTargetAssignmentMetadataKey", "0", "", [
    Field("group_id", "0+", "string"),
])

STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE = Message(
    "StreamsGroupTargetAssignmentMetadataValue", "0", "0+", [
    Field("assignment_epoch", "0+", "int32"),
    Field("assignment_timestamp", "0+", "int64", tag=0, ignorable=True),
])

STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY = Message(
    "StreamsGroupTargetAssignmentMemberKey", "0", "", [
    Field("group_id", "0+", "string"),
    Field("member_id", "0+", "string"),
])

STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE = Message(
    "StreamsGroupTargetAssignmentMemberValue", "0", "0+", [
    Field("active_tasks", "0+", "[]struct", fields=[
        Field("subtopology_id", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
    ]),
    Field("standby_tasks", "0+", "[]struct", fields=[
        Field("subtopology_id", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
    ]),
    Field("warmup_tasks", "0+", "[]struct", fields=[
        Field("subtopology_id", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
    ]),
])

STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY = Message(
    "StreamsGroupCurrentMemberAssignmentKey", "0", "", [
    Field("group_id", "0+", "string"),
    Field("member_id", "0+", "string"),
])

STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE = Message(
    "StreamsGroupCurrentMemberAssignmentValue", "0", "0+", [
    Field("member_epoch", "0+", "int32"),
    Field("previous_member_epoch", "0+", "int32"),
    Field("state", "0+", "int8"),
    Field("active_tasks", "0+", "[]struct", fields=[
        Field("subtopology_id", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
        Field("assignment_epochs", "0+", "[]int32", nullable="0+", tag=0),
    ]),
    Field("standby_tasks", "0+", "[]struct", fields=[
        Field("subtopology_id", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
        Field("assignment_epochs", "0+", "[]int32", nullable="0+", tag=0),
    ]),
    Field("warmup_tasks", "0+", "[]struct", fields=[
        Field("subtopology_id", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
        Field("assignment_epochs", "0+", "[]int32", nullable="0+", tag=0),
    ]),
    Field("active_tasks_pending_revocation", "0+", "[]struct", fields=[
        Field("subtopology_id", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
        Field("assignment_epochs", "0+", "[]int32", nullable="0+", tag=0),
    ]),
    Field("standby_tasks_pending_revocation", "0+", "[]struct", fields=[
        Field("subtopology_id", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
        Field("assignment_epochs", "0+", "[]int32", nullable="0+", tag=0),
    ]),
    Field("warmup_tasks_pending_revocation", "0+", "[]struct", fields=[
        Field("subtopology_id", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
        Field("assignment_epochs", "0+", "[]int32", nullable="0+", tag=0),
    ]),
])

STREAMS_GROUP_TOPOLOGY_KEY = Message("StreamsGroupTopologyKey", "0", "", [
    Field("group_id", "0+", "string"),
])

STREAMS_GROUP_TOPOLOGY_VALUE = Message("StreamsGroupTopologyValue", "0", "0+", [
    Field("epoch", "0+", "int32"),
    Field("subtopologies", "0+", "[]struct", fields=[
        Field("subtopology_id", "0+", "string"),
        Field("source_topics", "0+", "[]string"),
        Field("source_topic_regex", "0+", "[]string"),
        Field("state_changelog_topics", "0+", "[]struct", fields=[
            Field("name", "0+", "string"),
            Field("partitions", "0+", "int32"),
            Field("replication_factor", "0+", "int16"),
            Field("topic_configs", "0+", "[]struct", fields=[
                Field("key", "0+", "string"),
                Field("value", "0+", "string"),
            ]),
        ]),
        Field("repartition_sink_topics", "0+", "[]string"),
        Field("repartition_source_topics", "0+", "[]struct", fields=[
            Field("name", "0+", "string"),
            Field("partitions", "0+", "int32"),
            Field("replication_factor", "0+", "int16"),
            Field("topic_configs", "0+", "[]struct", fields=[
                Field("key", "0+", "string"),
                Field("value", "0+", "string"),
            ]),
        ]),
        Field("copartition_groups", "0+", "[]struct", fields=[
            Field("source_topics", "0+", "[]int16"),
            Field("source_topic_regex", "0+", "[]int16"),
            Field("repartition_source_topics", "0+", "[]int16"),
        ]),
    ]),
])

RECORDS = {  # by the int16 before the key
    17: (STREAMS_GROUP_METADATA_KEY, STREAMS_GROUP_METADATA_VALUE),
    19: (STREAMS_GROUP_MEMBER_METADATA_KEY, STREAMS_GROUP_MEMBER_METADATA_VALUE),
    20: (
        STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA_KEY,
        STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE,
    ),
    21: (STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY, STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE),
    22: (
        STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY,
        STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE,
    ),
    23: (STREAMS_GROUP_TOPOLOGY_KEY, STREAMS_GROUP_TOPOLOGY_VALUE),
}
