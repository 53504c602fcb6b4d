"""OffsetCommit: a group's offsets are kept

v0  the first version; offsets were kept in ZooKeeper
v1  request adds generation_id_or_member_epoch, member_id, commit_timestamp; offsets are kept by
     the group coordinator
v2  request: retention_time_ms in place of commit_timestamp; one retention for all
v3  response adds throttle_time_ms
v4  the broker answers before it throttles (KIP-219)
v5  request drops retention_time_ms; retention is the broker's business (KIP-211)
v6  request adds committed_leader_epoch (KIP-320)
v7  request adds group_instance_id (KIP-345)
v8  flexible (KIP-482)
v9  groups of the new consumer protocol may use it (KIP-848)
v10 request: topic_id in place of name; response: topic_id in place of name (KIP-848)
"""

from ..schema import Field, Message

REQUEST = Message("OffsetCommitRequest", "0-10", "8+", [
    Field("group_id", "0+", "string"),
    Field("generation_id_or_member_epoch", "1+", "int32", default=-1, ignorable=True),
    Field("member_id", "1+", "string", ignorable=True),
    Field("group_instance_id", "7+", "string", nullable="7+", default=None),
    Field("retention_time_ms", "2-4", "int64", default=-1, ignorable=True),
    Field("topics", "0+", "[]struct", fields=[
        Field("topic_id", "10+", "uuid", ignorable=True),
        Field("name", "0-9", "string", ignorable=True),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("committed_offset", "0+", "int64"),
            Field("committed_leader_epoch", "6+", "int32", default=-1, ignorable=True),
            Field("commit_timestamp", "1", "int64", default=-1),
            Field("committed_metadata", "0+", "string", nullable="0+"),
        ]),
    ]),
])

RESPONSE = Message("OffsetCommitResponse", "0-10", "8+", [
    Field("throttle_time_ms", "3+", "int32", ignorable=True),
    Field("topics", "0+", "[]struct", fields=[
        Field("topic_id", "10+", "uuid", ignorable=True),
        Field("name", "0-9", "string", ignorable=True),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("error_code", "0+", "int16"),
        ]),
    ]),
])
