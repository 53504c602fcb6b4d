"""DeleteRecords: the log's start is moved forward

v0  the first version (KIP-107)
v1  the broker answers before it throttles (KIP-219)
v2  flexible (KIP-482)
"""

from ..schema import Field, Message

REQUEST = Message("DeleteRecordsRequest", "0-2", "2+", [
    Field("topics", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("offset", "0+", "int64"),
        ]),
    ]),
    Field("timeout_ms", "0+", "int32"),
])

RESPONSE = Message("DeleteRecordsResponse", "0-2", "2+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("topics", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("low_watermark", "0+", "int64"),
            Field("error_code", "0+", "int16"),
        ]),
    ]),
])
