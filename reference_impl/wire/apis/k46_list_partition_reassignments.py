"""ListPartitionReassignments: reassignments under way

v0  the first version (KIP-455)
"""

from ..schema import Field, Message

REQUEST = Message("ListPartitionReassignmentsRequest", "0", "0+", [
    Field("timeout_ms", "0+", "int32", default=60000),
    Field("topics", "0+", "[]struct", nullable="0+", default=None, fields=[
        Field("name", "0+", "string"),
        Field("partition_indexes", "0+", "[]int32"),
    ]),
])

RESPONSE = Message("ListPartitionReassignmentsResponse", "0", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("error_message", "0+", "string", nullable="0+"),
    Field("topics", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("replicas", "0+", "[]int32"),
            Field("adding_replicas", "0+", "[]int32"),
            Field("removing_replicas", "0+", "[]int32"),
        ]),
    ]),
])
