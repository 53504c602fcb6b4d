"""OffsetForLeaderEpoch: where an epoch ended, for truncation

v0  the first version (KIP-101)
v1  response adds leader_epoch
v2  request adds current_leader_epoch; response adds throttle_time_ms
v3  request adds replica_id
v4  flexible (KIP-482)
"""

from ..schema import Field, Message

REQUEST = Message("OffsetForLeaderEpochRequest", "0-4", "4+", [
    Field("replica_id", "3+", "int32", default=-2, ignorable=True),
    Field("topics", "0+", "[]struct", fields=[
        Field("topic", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition", "0+", "int32"),
            Field("current_leader_epoch", "2+", "int32", default=-1, ignorable=True),
            Field("leader_epoch", "0+", "int32"),
        ]),
    ]),
])

RESPONSE = Message("OffsetForLeaderEpochResponse", "0-4", "4+", [
    Field("throttle_time_ms", "2+", "int32", ignorable=True),
    Field("topics", "0+", "[]struct", fields=[
        Field("topic", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("error_code", "0+", "int16"),
            Field("partition", "0+", "int32"),
            Field("leader_epoch", "1+", "int32", default=-1, ignorable=True),
            Field("end_offset", "0+", "int64", default=-1),
        ]),
    ]),
])
