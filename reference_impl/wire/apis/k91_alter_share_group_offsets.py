"""AlterShareGroupOffsets: a share group's start offsets are changed

v0  the first version (KIP-932)
"""

from ..schema import Field, Message

REQUEST = Message("AlterShareGroupOffsetsRequest", "0", "0+", [
    Field("group_id", "0+", "string"),
    Field("topics", "0+", "[]struct", fields=[
        Field("topic_name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("start_offset", "0+", "int64"),
        ]),
    ]),
])

RESPONSE = Message("AlterShareGroupOffsetsResponse", "0", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("error_message", "0+", "string", nullable="0+", default=None),
    Field("responses", "0+", "[]struct", fields=[
        Field("topic_name", "0+", "string"),
        Field("topic_id", "0+", "uuid"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("error_code", "0+", "int16"),
            Field("error_message", "0+", "string", nullable="0+", default=None),
        ]),
    ]),
])
