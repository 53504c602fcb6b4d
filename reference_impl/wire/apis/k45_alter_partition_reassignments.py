"""AlterPartitionReassignments: replicas are reassigned

v0  the first version (KIP-455)
v1  request adds allow_replication_factor_change; response adds allow_replication_factor_change
     (KIP-860)
"""

from ..schema import Field, Message

REQUEST = Message("AlterPartitionReassignmentsRequest", "0-1", "0+", [
    Field("timeout_ms", "0+", "int32", default=60000),
    Field("allow_replication_factor_change", "1+", "bool", default=True),
    Field("topics", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("replicas", "0+", "[]int32", nullable="0+", default=None),
        ]),
    ]),
])

RESPONSE = Message("AlterPartitionReassignmentsResponse", "0-1", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("allow_replication_factor_change", "1+", "bool", default=True, ignorable=True),
    Field("error_code", "0+", "int16"),
    Field("error_message", "0+", "string", nullable="0+"),
    Field("responses", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("error_code", "0+", "int16"),
            Field("error_message", "0+", "string", nullable="0+"),
        ]),
    ]),
])
