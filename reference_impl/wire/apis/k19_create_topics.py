"""CreateTopics: topics are made

v0  the first version (KIP-4)
v1  request adds validate_only; response adds error_message
v2  response adds throttle_time_ms
v3  the broker answers before it throttles (KIP-219)
v4  -1 asks for the default partitions and replication (KIP-464)
v5  flexible (KIP-482); the response adds configs and counts (KIP-525)
v6  may answer THROTTLING_QUOTA_EXCEEDED (KIP-599)
v7  response adds topic_id
"""

from ..schema import Field, Message

REQUEST = Message("CreateTopicsRequest", "0-7", "5+", [
    Field("topics", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("num_partitions", "0+", "int32"),
        Field("replication_factor", "0+", "int16"),
        Field("assignments", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("broker_ids", "0+", "[]int32"),
        ]),
        Field("configs", "0+", "[]struct", fields=[
            Field("name", "0+", "string"),
            Field("value", "0+", "string", nullable="0+"),
        ]),
    ]),
    Field("timeout_ms", "0+", "int32", default=60000),
    Field("validate_only", "1+", "bool"),
])

RESPONSE = Message("CreateTopicsResponse", "0-7", "5+", [
    Field("throttle_time_ms", "2+", "int32", ignorable=True),
    Field("topics", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("topic_id", "7+", "uuid", ignorable=True),
        Field("error_code", "0+", "int16"),
        Field("error_message", "1+", "string", nullable="1+", ignorable=True),
        Field("topic_config_error_code", "5+", "int16", tag=0, ignorable=True),
        Field("num_partitions", "5+", "int32", default=-1, ignorable=True),
        Field("replication_factor", "5+", "int16", default=-1, ignorable=True),
        Field("configs", "5+", "[]struct", nullable="5+", ignorable=True, fields=[
            Field("name", "5+", "string"),
            Field("value", "5+", "string", nullable="5+"),
            Field("read_only", "5+", "bool"),
            Field("config_source", "5+", "int8", default=-1, ignorable=True),
            Field("is_sensitive", "5+", "bool"),
        ]),
    ]),
])
