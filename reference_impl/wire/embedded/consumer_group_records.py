"""The records of __consumer_offsets that groups of the new consumer protocol write (KIP-848).

A record's type is the version number before its key; all values are version 0 and grow by tags.
"""

from ..schema import Field, Message

CONSUMER_GROUP_METADATA_KEY = Message("ConsumerGroupMetadataKey", "0", "", [
    Field("group_id", "0+", "string"),
])

CONSUMER_GROUP_METADATA_VALUE = Message("ConsumerGroupMetadataValue", "0", "0+", [
    Field("epoch", "0+", "int32"),
    Field("metadata_hash", "0+", "int64", tag=0),
])

CONSUMER_GROUP_PARTITION_METADATA_KEY = Message("ConsumerGroupPartitionMetadataKey", "0", "", [
    Field("group_id", "0+", "string"),
])

CONSUMER_GROUP_PARTITION_METADATA_VALUE = Message(
    "ConsumerGroupPartitionMetadataValue", "0", "0+", [
    Field("topics", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("topic_name", "0+", "string"),
        Field("num_partitions", "0+", "int32"),
        Field("partition_metadata", "0+", "[]struct", fields=[
            Field("partition", "0+", "int32"),
            Field("racks", "0+", "[]string"),
        ]),
    ]),
])

CONSUMER_GROUP_MEMBER_METADATA_KEY = Message("ConsumerGroupMemberMetadataKey", "0", "", [
    Field("group_id", "0+", "string"),
    Field("member_id", "0+", "string"),
])

CONSUMER_GROUP_MEMBER_METADATA_VALUE = Message("ConsumerGroupMemberMetadataValue", "0", "0+", [
    Field("instance_id", "0+", "string", nullable="0+"),
    Field("rack_id", "0+", "string", nullable="0+"),
    Field("client_id", "0+", "string"),
    Field("client_host", "0+", "string"),
    Field("subscribed_topic_names", "0+", "[]string"),
    Field("subscribed_topic_regex", "0+", "string", nullable="0+"),
    Field("rebalance_timeout_ms", "0+", "int32", default=-1),
    Field("server_assignor", "0+", "string", nullable="0+"),
    Field("classic_member_metadata", "0+", "struct", nullable="0+", tag=0, fields=[
        Field("session_timeout_ms", "0+", "int32"),
        Field("supported_protocols", "0+", "[]struct", fields=[
            Field("name", "0+", "string"),
            Field("metadata", "0+", "bytes"),
        ]),
    ]),
])

CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA_KEY = Message(
    "ConsumerGroupTargetAssignmentMetadataKey", "0", "", [
    Field("group_id", "0+", "string"),
])

CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE = Message(
    "ConsumerGroupTargetAssignmentMetadataValue", "0", "0+", [
    Field("assignment_epoch", "0+", "int32"),
    Field("assignment_timestamp", "0+", "int64", tag=0, ignorable=True),
])

CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY = Message(
    "ConsumerGroupTargetAssignmentMemberKey", "0", "", [
    Field("group_id", "0+", "string"),
    Field("member_id", "0+", "string"),
])

CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE = Message(
    "ConsumerGroupTargetAssignmentMemberValue", "0", "0+", [
    Field("topic_partitions", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("partitions", "0+", "[]int32"),
    ]),
])

CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY = Message(
    "ConsumerGroupCurrentMemberAssignmentKey", "0", "", [
    Field("group_id", "0+", "string"),
    Field("member_id", "0+", "string"),
])

CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE = Message(
    "ConsumerGroupCurrentMemberAssignmentValue", "0", "0+", [
    Field("member_epoch", "0+", "int32"),
    Field("previous_member_epoch", "0+", "int32"),
    Field("state", "0+", "int8"),
    Field("assigned_partitions", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("partitions", "0+", "[]int32"),
        Field("assignment_epochs", "0+", "[]int32", nullable="0+", tag=0),
    ]),
    Field("partitions_pending_revocation", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("partitions", "0+", "[]int32"),
        Field("assignment_epochs", "0+", "[]int32", nullable="0+", tag=0),
    ]),
])

CONSUMER_GROUP_REGULAR_EXPRESSION_KEY = Message("ConsumerGroupRegularExpressionKey", "0", "", [
    Field("group_id", "0+", "string"),
    Field("regular_expression", "0+", "string"),
])

CONSUMER_GROUP_REGULAR_EXPRESSION_VALUE = Message(
    "ConsumerGroupRegularExpressionValue", "0", "0+", [
    Field("topics", "0+", "[]string"),
    Field("version", "0+", "int64"),
    Field("timestamp", "0+", "int64"),
])

RECORDS = {  # by the int16 before the key
    3: (CONSUMER_GROUP_METADATA_KEY, CONSUMER_GROUP_METADATA_VALUE),
    4: (CONSUMER_GROUP_PARTITION_METADATA_KEY, CONSUMER_GROUP_PARTITION_METADATA_VALUE),
    5: (CONSUMER_GROUP_MEMBER_METADATA_KEY, CONSUMER_GROUP_MEMBER_METADATA_VALUE),
    6: (
        CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA_KEY,
        CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE,
    ),
    7: (CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY, CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE),
    8: (
        CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY,
        CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE,
    ),
    16: (CONSUMER_GROUP_REGULAR_EXPRESSION_KEY, CONSUMER_GROUP_REGULAR_EXPRESSION_VALUE),
}
