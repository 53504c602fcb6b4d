"""The records of __consumer_offsets that share groups write (KIP-932).

Type 9 existed in the early access of 3.9 only. 3.9's types 10 and 11 had other fields under the
same numbers; what stands here is 4.3's.
"""

from ..schema import Field, Message

SHARE_GROUP_PARTITION_METADATA_KEY = Message("ShareGroupPartitionMetadataKey", "0", "", [
    Field("group_id", "0+", "string"),
])

SHARE_GROUP_PARTITION_METADATA_VALUE = Message("ShareGroupPartitionMetadataValue", "0", "0+", [
    Field("initialized_topics", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("topic_name", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
    ]),
    Field("deleting_topics", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("topic_name", "0+", "string"),
    ]),
])

SHARE_GROUP_MEMBER_METADATA_KEY = Message("ShareGroupMemberMetadataKey", "0", "", [
    Field("group_id", "0+", "string"),
    Field("member_id", "0+", "string"),
])

SHARE_GROUP_MEMBER_METADATA_VALUE = Message("ShareGroupMemberMetadataValue", "0", "0+", [
    Field("rack_id", "0+", "string", nullable="0+"),
    Field("client_id", "0+", "string"),
    Field("client_host", "0+", "string"),
    Field("subscribed_topic_names", "0+", "[]string"),
])

SHARE_GROUP_METADATA_KEY = Message("ShareGroupMetadataKey", "0", "", [
    Field("group_id", "0+", "string"),
])

SHARE_GROUP_METADATA_VALUE = Message("ShareGroupMetadataValue", "0", "0+", [
    Field("epoch", "0+", "int32"),
    Field("metadata_hash", "0+", "int64"),
])

SHARE_GROUP_TARGET_ASSIGNMENT_METADATA_KEY = Message(
    "ShareGroupTargetAssignmentMetadataKey", "0", "", [
    Field("group_id", "0+", "string"),
])

SHARE_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE = Message(
    "ShareGroupTargetAssignmentMetadataValue", "0", "0+", [
    Field("assignment_epoch", "0+", "int32"),
    Field("assignment_timestamp", "0+", "int64", tag=0, ignorable=True),
])

SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY = Message("ShareGroupTargetAssignmentMemberKey", "0", "", [
    Field("group_id", "0+", "string"),
    Field("member_id", "0+", "string"),
])

SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE = Message(
    "ShareGroupTargetAssignmentMemberValue", "0", "0+", [
    Field("topic_partitions", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("partitions", "0+", "[]int32"),
    ]),
])

SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY = Message(
    "ShareGroupCurrentMemberAssignmentKey", "0", "", [
    Field("group_id", "0+", "string"),
    Field("member_id", "0+", "string"),
])

SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE = Message(
    "ShareGroupCurrentMemberAssignmentValue", "0", "0+", [
    Field("member_epoch", "0+", "int32"),
    Field("previous_member_epoch", "0+", "int32"),
    Field("state", "0+", "int8"),
    Field("assigned_partitions", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("partitions", "0+", "[]int32"),
    ]),
])

SHARE_GROUP_STATE_PARTITION_METADATA_KEY = Message("ShareGroupStatePartitionMetadataKey", "0", "", [
    Field("group_id", "0+", "string"),
])

SHARE_GROUP_STATE_PARTITION_METADATA_VALUE = Message(
    "ShareGroupStatePartitionMetadataValue", "0", "0+", [
    Field("initializing_topics", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("topic_name", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
    ]),
    Field("initialized_topics", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("topic_name", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
    ]),
    Field("deleting_topics", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("topic_name", "0+", "string"),
    ]),
])

RECORDS = {  # by the int16 before the key
    9: (SHARE_GROUP_PARTITION_METADATA_KEY, SHARE_GROUP_PARTITION_METADATA_VALUE),
    10: (SHARE_GROUP_MEMBER_METADATA_KEY, SHARE_GROUP_MEMBER_METADATA_VALUE),
    11: (SHARE_GROUP_METADATA_KEY, SHARE_GROUP_METADATA_VALUE),
    12: (SHARE_GROUP_TARGET_ASSIGNMENT_METADATA_KEY, SHARE_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE),
    13: (SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY, SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE),
    14: (SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY, SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE),
    15: (SHARE_GROUP_STATE_PARTITION_METADATA_KEY, SHARE_GROUP_STATE_PARTITION_METADATA_VALUE),
}
