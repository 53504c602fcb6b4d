"""ListOffsets: which offset belongs to a timestamp

v0  the first version
v1  request drops max_num_offsets; response adds timestamp, offset; response drops
     old_style_offsets: one offset with its timestamp (KIP-79)
v2  request adds isolation_level; response adds throttle_time_ms (KIP-98)
v3  the broker answers before it throttles (KIP-219)
v4  request adds current_leader_epoch; response adds leader_epoch (KIP-320)
v5  may answer OFFSET_NOT_AVAILABLE (KIP-207)
v6  flexible (KIP-482) (KIP-734)
v7  timestamp -3 finds the record with the largest timestamp (KIP-734)
v8  timestamp -4 finds the first local offset (KIP-405)
v9  timestamp -5 finds the last tiered offset (KIP-1005)
v10 request adds timeout_ms (KIP-1075)
v11 timestamp -6 finds the first offset not yet tiered (KIP-1023)
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
