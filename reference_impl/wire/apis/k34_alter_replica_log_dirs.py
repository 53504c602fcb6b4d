"""AlterReplicaLogDirs: replicas move to another log directory

v0  the first version (KIP-113)
v1  the broker answers before it throttles (KIP-219)
v2  flexible (KIP-482)
"""

from ..schema import Field, Message

REQUEST = Message("AlterReplicaLogDirsRequest", "0-2", "2+", [
    Field("dirs", "0+", "[]struct", fields=[
        Field("path", "0+", "string"),
        Field("topics", "0+", "[]struct", fields=[
            Field("name", "0+", "string"),
            Field("partitions", "0+", "[]int32"),
        ]),
    ]),
])

RESPONSE = Message("AlterReplicaLogDirsResponse", "0-2", "2+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("results", "0+", "[]struct", fields=[
        Field("topic_name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("error_code", "0+", "int16"),
        ]),
    ]),
])
