"""StopReplica: the ZooKeeper controller stops replicas

v0  the first version
v1  request adds broker_epoch, topics; request drops ungrouped_partitions; grouped by topic,
     fenced by broker epoch (KIP-380)
v2  flexible (KIP-482)
v3  request adds topic_states; request drops delete_partitions, topics (KIP-570)
v4  request adds is_kraft_controller (KIP-866)
"""

from ..schema import Field, Message

REQUEST = Message("StopReplicaRequest", "0-4", "2+", [
    Field("controller_id", "0+", "int32"),
    Field("is_kraft_controller", "4+", "bool"),
    Field("controller_epoch", "0+", "int32"),
    Field("broker_epoch", "1+", "int64", default=-1, ignorable=True),
    Field("topic_states", "3+", "[]struct", fields=[
        Field("topic_name", "3+", "string"),
        Field("partition_states", "3+", "[]struct", fields=[
            Field("partition_index", "3+", "int32"),
            Field("leader_epoch", "3+", "int32", default=-1),
            Field("delete_partition", "3+", "bool"),
        ]),
    ]),
    Field("delete_partitions", "0-2", "bool"),
    Field("topics", "1-2", "[]struct", fields=[
        Field("name", "1-2", "string"),
        Field("partition_indexes", "1-2", "[]int32"),
    ]),
    Field("ungrouped_partitions", "0", "[]struct", fields=[
        Field("topic_name", "0", "string"),
        Field("partition_index", "0", "int32"),
    ]),
])

RESPONSE = Message("StopReplicaResponse", "0-4", "2+", [
    Field("error_code", "0+", "int16"),
    Field("partition_errors", "0+", "[]struct", fields=[
        Field("topic_name", "0+", "string"),
        Field("partition_index", "0+", "int32"),
        Field("error_code", "0+", "int16"),
    ]),
])
