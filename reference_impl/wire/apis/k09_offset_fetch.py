"""OffsetFetch: a group's offsets are asked for

v0  the first version; reads ZooKeeper
v1  reads what the group coordinator keeps
v2  request: topics may be null; response adds error_code; null asks for all topics (KIP-88)
v3  response adds throttle_time_ms
v4  the broker answers before it throttles (KIP-219)
v5  response adds committed_leader_epoch (KIP-320)
v6  flexible (KIP-482)
v7  request adds require_stable (KIP-447)
v8  request adds groups; request drops group_id, topics; response adds groups; response drops
     topics, error_code: many groups at once (KIP-709)
v9  request adds member_id, member_epoch (KIP-848)
v10 request: topic_id in place of name; response: topic_id in place of name (KIP-848)
"""

from ..schema import Field, Message

REQUEST = Message("OffsetFetchRequest", "0-10", "6+", [
    Field("groups", "8+", "[]struct", fields=[
        Field("group_id", "8+", "string"),
        Field("member_id", "9+", "string", nullable="9+", default=None, ignorable=True),
        Field("member_epoch", "9+", "int32", default=-1, ignorable=True),
        Field("topics", "8+", "[]struct", nullable="8+", fields=[
            Field("topic_id", "10+", "uuid", ignorable=True),
            Field("name", "8-9", "string", ignorable=True),
            Field("partition_indexes", "8+", "[]int32"),
        ]),
    ]),
    Field("group_id", "0-7", "string"),
    Field("topics", "0-7", "[]struct", nullable="2-7", fields=[
        Field("name", "0-7", "string"),
        Field("partition_indexes", "0-7", "[]int32"),
    ]),
    Field("require_stable", "7+", "bool"),
])

RESPONSE = Message("OffsetFetchResponse", "0-10", "6+", [
    Field("throttle_time_ms", "3+", "int32", ignorable=True),
    Field("groups", "8+", "[]struct", fields=[
        Field("group_id", "8+", "string"),
        Field("topics", "8+", "[]struct", fields=[
            Field("topic_id", "10+", "uuid", ignorable=True),
            Field("name", "8-9", "string", ignorable=True),
            Field("partitions", "8+", "[]struct", fields=[
                Field("partition_index", "8+", "int32"),
                Field("committed_offset", "8+", "int64"),
                Field("committed_leader_epoch", "8+", "int32", default=-1, ignorable=True),
                Field("metadata", "8+", "string", nullable="8+"),
                Field("error_code", "8+", "int16"),
            ]),
        ]),
        Field("error_code", "8+", "int16"),
    ]),
    Field("topics", "0-7", "[]struct", fields=[
        Field("name", "0-7", "string"),
        Field("partitions", "0-7", "[]struct", fields=[
            Field("partition_index", "0-7", "int32"),
            Field("committed_offset", "0-7", "int64"),
            Field("committed_leader_epoch", "5-7", "int32", default=-1, ignorable=True),
            Field("metadata", "0-7", "string", nullable="0-7"),
            Field("error_code", "0-7", "int16"),
        ]),
    ]),
    Field("error_code", "2-7", "int16", ignorable=True),
])
