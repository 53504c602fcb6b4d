"""OffsetDelete: a group's offsets are removed

v0  the first version (KIP-496)
"""

from ..schema import Field, Message

REQUEST = Message("OffsetDeleteRequest", "0", "", [
    Field("group_id", "0+", "string"),
    Field("topics", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
        ]),
    ]),
])

RESPONSE = Message("OffsetDeleteResponse", "0", "", [
    Field("error_code", "0+", "int16"),
    Field("throttle_time_ms", "0+", "int32", ignorable=True),
    Field("topics", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("error_code", "0+", "int16"),
        ]),
    ]),
])
