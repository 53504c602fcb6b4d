"""CreatePartitions: topics grow

v0  the first version (KIP-195)
v1  the broker answers before it throttles (KIP-219)
v2  flexible (KIP-482) (KIP-599)
v3  may answer THROTTLING_QUOTA_EXCEEDED (KIP-599)
"""

from ..schema import Field, Message

REQUEST = Message("CreatePartitionsRequest", "0-3", "2+", [
    Field("topics", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("count", "0+", "int32"),
        Field("assignments", "0+", "[]struct", nullable="0+", fields=[
            Field("broker_ids", "0+", "[]int32"),
        ]),
    ]),
    Field("timeout_ms", "0+", "int32"),
    Field("validate_only", "0+", "bool"),
])

RESPONSE = Message("CreatePartitionsResponse", "0-3", "2+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("results", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("error_code", "0+", "int16"),
        Field("error_message", "0+", "string", nullable="0+", default=None),
    ]),
])
