"""DescribeShareGroupOffsets: a share group's start offsets

v0  the first version (KIP-932)
v1  response adds lag (KIP-1226)
"""

from ..schema import Field, Message

REQUEST = Message("DescribeShareGroupOffsetsRequest", "0-1", "0+", [
    Field("groups", "0+", "[]struct", fields=[
        Field("group_id", "0+", "string"),
        Field("topics", "0+", "[]struct", nullable="0+", fields=[
            Field("topic_name", "0+", "string"),
            Field("partitions", "0+", "[]int32"),
        ]),
    ]),
])

RESPONSE = Message("DescribeShareGroupOffsetsResponse", "0-1", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("groups", "0+", "[]struct", fields=[
        Field("group_id", "0+", "string"),
        Field("topics", "0+", "[]struct", fields=[
            Field("topic_name", "0+", "string"),
            Field("topic_id", "0+", "uuid"),
            Field("partitions", "0+", "[]struct", fields=[
                Field("partition_index", "0+", "int32"),
                Field("start_offset", "0+", "int64"),
                Field("leader_epoch", "0+", "int32"),
                Field("lag", "1+", "int64", default=-1, ignorable=True),
                Field("error_code", "0+", "int16"),
                Field("error_message", "0+", "string", nullable="0+", default=None),
            ]),
        ]),
        Field("error_code", "0+", "int16"),
        Field("error_message", "0+", "string", nullable="0+", default=None),
    ]),
])
