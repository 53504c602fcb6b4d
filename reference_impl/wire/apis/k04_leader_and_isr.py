"""LeaderAndIsr: the ZooKeeper controller tells replicas who leads

v0  the first version
v1  request adds is_new
v2  request adds broker_epoch, topic_states; request drops ungrouped_partition_states; grouped by
     topic, fenced by broker epoch (KIP-380)
v3  request adds adding_replicas, removing_replicas (KIP-455)
v4  flexible (KIP-482)
v5  request adds type, topic_id; response: topics in place of partition_errors (KIP-516)
v6  request adds leader_recovery_state (KIP-704)
v7  request adds is_kraft_controller (KIP-866)
"""

from ..schema import Field, Message

REQUEST = Message("LeaderAndIsrRequest", "0-7", "4+", [
    Field("controller_id", "0+", "int32"),
    Field("is_kraft_controller", "7+", "bool"),
    Field("controller_epoch", "0+", "int32"),
    Field("broker_epoch", "2+", "int64", default=-1, ignorable=True),
    Field("type", "5+", "int8"),
    Field("topic_states", "2+", "[]struct", fields=[
        Field("topic_name", "2+", "string"),
        Field("topic_id", "5+", "uuid", ignorable=True),
        Field("partition_states", "2+", "[]struct", fields=[
            Field("partition_index", "2+", "int32"),
            Field("controller_epoch", "2+", "int32"),
            Field("leader", "2+", "int32"),
            Field("leader_epoch", "2+", "int32"),
            Field("isr", "2+", "[]int32"),
            Field("partition_epoch", "2+", "int32"),
            Field("replicas", "2+", "[]int32"),
            Field("adding_replicas", "3+", "[]int32", ignorable=True),
            Field("removing_replicas", "3+", "[]int32", ignorable=True),
            Field("is_new", "2+", "bool", ignorable=True),
            Field("leader_recovery_state", "6+", "int8"),
        ]),
    ]),
    Field("ungrouped_partition_states", "0-1", "[]struct", fields=[
        Field("topic_name", "0-1", "string", ignorable=True),
        Field("partition_index", "0-1", "int32"),
        Field("controller_epoch", "0-1", "int32"),
        Field("leader", "0-1", "int32"),
        Field("leader_epoch", "0-1", "int32"),
        Field("isr", "0-1", "[]int32"),
        Field("partition_epoch", "0-1", "int32"),
        Field("replicas", "0-1", "[]int32"),
        Field("is_new", "1", "bool", ignorable=True),
    ]),
    Field("live_leaders", "0+", "[]struct", fields=[
        Field("broker_id", "0+", "int32"),
        Field("host_name", "0+", "string"),
        Field("port", "0+", "int32"),
    ]),
])

RESPONSE = Message("LeaderAndIsrResponse", "0-7", "4+", [
    Field("error_code", "0+", "int16"),
    Field("topics", "5+", "[]struct", fields=[
        Field("topic_id", "5+", "uuid"),
        Field("partition_errors", "5+", "[]struct", fields=[
            Field("partition_index", "5+", "int32"),
            Field("error_code", "5+", "int16"),
        ]),
    ]),
    Field("partition_errors", "0-4", "[]struct", fields=[
        Field("topic_name", "0-4", "string", ignorable=True),
        Field("partition_index", "0-4", "int32"),
        Field("error_code", "0-4", "int16"),
    ]),
])
