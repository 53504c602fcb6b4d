"""The records of __consumer_offsets that classic groups write: offsets, and the group itself.

Types 0 and 1 have the same key; 4.3.1 calls type 0 legacy and reads it with value v0 only.

v0  OffsetCommitValue: offset, metadata, one timestamp; GroupMetadataValue: the first version
v1  OffsetCommitValue adds expire_timestamp; GroupMetadataValue: members have a rebalance_timeout
v2  OffsetCommitValue drops expire_timestamp (KIP-211); GroupMetadataValue adds
     current_state_timestamp
v3  OffsetCommitValue adds leader_epoch (KIP-320); GroupMetadataValue: members have a
     group_instance_id (KIP-345)
v4  both are flexible (KIP-915), OffsetCommitValue with topic_id as a tagged field
"""

from ..schema import Field, Message

OFFSET_COMMIT_KEY = Message("OffsetCommitKey", "0", "", [
    Field("group", "0+", "string"),
    Field("topic", "0+", "string"),
    Field("partition", "0+", "int32"),
])

OFFSET_COMMIT_VALUE = Message("OffsetCommitValue", "0-4", "4+", [
    Field("offset", "0+", "int64"),
    Field("leader_epoch", "3+", "int32", default=-1, ignorable=True),
    Field("metadata", "0+", "string"),
    Field("commit_timestamp", "0+", "int64"),
    Field("topic_id", "4+", "uuid", tag=0, ignorable=True),
    Field("expire_timestamp", "1", "int64", default=-1, ignorable=True),
])

GROUP_METADATA_KEY = Message("GroupMetadataKey", "0", "", [
    Field("group", "0+", "string"),
])

GROUP_METADATA_VALUE = Message("GroupMetadataValue", "0-4", "4+", [
    Field("protocol_type", "0+", "string"),
    Field("generation", "0+", "int32"),
    Field("protocol", "0+", "string", nullable="0+"),
    Field("leader", "0+", "string", nullable="0+"),
    Field("current_state_timestamp", "2+", "int64", default=-1, ignorable=True),
    Field("members", "0+", "[]struct", fields=[
        Field("member_id", "0+", "string"),
        Field("group_instance_id", "3+", "string", nullable="3+", default=None, ignorable=True),
        Field("client_id", "0+", "string"),
        Field("client_host", "0+", "string"),
        Field("rebalance_timeout", "1+", "int32", default=-1, ignorable=True),
        Field("session_timeout", "0+", "int32"),
        Field("subscription", "0+", "bytes"),
        Field("assignment", "0+", "bytes"),
    ]),
])

RECORDS = {  # by the int16 before the key
    0: (OFFSET_COMMIT_KEY, OFFSET_COMMIT_VALUE),
    1: (OFFSET_COMMIT_KEY, OFFSET_COMMIT_VALUE),
    2: (GROUP_METADATA_KEY, GROUP_METADATA_VALUE),
}
