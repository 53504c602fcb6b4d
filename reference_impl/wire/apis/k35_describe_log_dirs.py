"""DescribeLogDirs: log directories and what they hold

v0  the first version (KIP-113)
v1  the broker answers before it throttles (KIP-219)
v2  flexible (KIP-482)
v3  response adds error_code
v4  response adds total_bytes, usable_bytes (KIP-827)
v5  response adds is_cordoned
"""

from ..schema import Field, Message

REQUEST = Message("DescribeLogDirsRequest", "0-5", "2+", [
    Field("topics", "0+", "[]struct", nullable="0+", fields=[
        Field("topic", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
    ]),
])

RESPONSE = Message("DescribeLogDirsResponse", "0-5", "2+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "3+", "int16", ignorable=True),
    Field("results", "0+", "[]struct", fields=[
        Field("error_code", "0+", "int16"),
        Field("log_dir", "0+", "string"),
        Field("topics", "0+", "[]struct", fields=[
            Field("name", "0+", "string"),
            Field("partitions", "0+", "[]struct", fields=[
                Field("partition_index", "0+", "int32"),
                Field("partition_size", "0+", "int64"),
                Field("offset_lag", "0+", "int64"),
                Field("is_future_key", "0+", "bool"),
            ]),
        ]),
        Field("total_bytes", "4+", "int64", default=-1, ignorable=True),
        Field("usable_bytes", "4+", "int64", default=-1, ignorable=True),
        Field("is_cordoned", "5+", "bool", ignorable=True),
    ]),
])
