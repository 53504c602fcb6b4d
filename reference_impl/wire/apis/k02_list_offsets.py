"""ListOffsets.

v0  the first version
v1  request drops max_num_offsets; response adds timestamp, offset; response drops
     old_style_offsets
v2  request adds isolation_level; response adds throttle_time_ms
v3  same shape
v4  request adds current_leader_epoch; response adds leader_epoch
v5  same shape
v6  flexible (KIP-482)
v7  same shape
v8  same shape
v9  same shape
v10 request adds timeout_ms
v11 same shape
"""

from ..schema import Field, Message

REQUEST = Message("ListOffsetsRequest", "0-11", "6+", [
    Field("replica_id", "0+", "int32"),
    Field("isolation_level", "2+", "int8"),
    Field("topics", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("current_leader_epoch", "4+", "int32", default=-1, ignorable=True),
            Field("timestamp", "0+", "int64"),
            Field("max_num_offsets", "0", "int32", default=1),
        ]),
    ]),
    Field("timeout_ms", "10+", "int32", ignorable=True),
])

RESPONSE = Message("ListOffsetsResponse", "0-11", "6+", [
    Field("throttle_time_ms", "2+", "int32", ignorable=True),
    Field("topics", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("error_code", "0+", "int16"),
            Field("timestamp", "1+", "int64", default=-1),
            Field("offset", "1+", "int64", default=-1),
            Field("leader_epoch", "4+", "int32", default=-1),
            Field("old_style_offsets", "0", "[]int64"),
        ]),
    ]),
])
