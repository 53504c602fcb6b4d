"""UpdateMetadata: the ZooKeeper controller spreads metadata

v0  the first version
v1  request adds endpoints; request drops v0_host, v0_port (KIP-2)
v2  request adds rack (KIP-36)
v3  request adds listener (KIP-103)
v4  request adds offline_replicas (KIP-112)
v5  request adds broker_epoch, topic_states; request drops ungrouped_partition_states; grouped by
     topic, fenced by broker epoch (KIP-380)
v6  flexible (KIP-482)
v7  request adds topic_id (KIP-516)
v8  request adds is_kraft_controller, type (KIP-866)
"""

from ..schema import Field, Message

REQUEST = Message("UpdateMetadataRequest", "0-8", "6+", [
    Field("controller_id", "0+", "int32"),
    Field("is_kraft_controller", "8+", "bool"),
    Field("type", "8+", "int8", tag=0),
    Field("controller_epoch", "0+", "int32"),
    Field("broker_epoch", "5+", "int64", default=-1, ignorable=True),
    Field("topic_states", "5+", "[]struct", fields=[
        Field("topic_name", "5+", "string"),
        Field("topic_id", "7+", "uuid", ignorable=True),
        Field("partition_states", "5+", "[]struct", fields=[
            Field("partition_index", "5+", "int32"),
            Field("controller_epoch", "5+", "int32"),
            Field("leader", "5+", "int32"),
            Field("leader_epoch", "5+", "int32"),
            Field("isr", "5+", "[]int32"),
            Field("zk_version", "5+", "int32"),
            Field("replicas", "5+", "[]int32"),
            Field("offline_replicas", "5+", "[]int32", ignorable=True),
        ]),
    ]),
    Field("ungrouped_partition_states", "0-4", "[]struct", fields=[
        Field("topic_name", "0-4", "string", ignorable=True),
        Field("partition_index", "0-4", "int32"),
        Field("controller_epoch", "0-4", "int32"),
        Field("leader", "0-4", "int32"),
        Field("leader_epoch", "0-4", "int32"),
        Field("isr", "0-4", "[]int32"),
        Field("zk_version", "0-4", "int32"),
        Field("replicas", "0-4", "[]int32"),
        Field("offline_replicas", "4", "[]int32", ignorable=True),
    ]),
    Field("live_brokers", "0+", "[]struct", fields=[
        Field("id", "0+", "int32"),
        Field("endpoints", "1+", "[]struct", ignorable=True, fields=[
            Field("port", "1+", "int32"),
            Field("host", "1+", "string"),
            Field("listener", "3+", "string", ignorable=True),
            Field("security_protocol", "1+", "int16"),
        ]),
        Field("rack", "2+", "string", nullable="2+", ignorable=True),
        Field("v0_host", "0", "string", ignorable=True),
        Field("v0_port", "0", "int32", ignorable=True),
    ]),
])

RESPONSE = Message("UpdateMetadataResponse", "0-8", "6+", [
    Field("error_code", "0+", "int16"),
])
