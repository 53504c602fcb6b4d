"""Metadata: brokers, controller, topics and who leads their partitions

v0  the first version
v1  request: topics may be null; response adds rack, controller_id, is_internal; null means all
     topics, empty none (KIP-4)
v2  response adds cluster_id (KIP-78)
v3  response adds throttle_time_ms
v4  request adds allow_auto_topic_creation (KIP-4)
v5  response adds offline_replicas (KIP-112)
v6  the broker answers before it throttles (KIP-219)
v7  response adds leader_epoch (KIP-320)
v8  request adds include_cluster_authorized_operations, include_topic_authorized_operations;
     response adds topic_authorized_operations, cluster_authorized_operations (KIP-430)
v9  flexible (KIP-482)
v10 request adds topic_id; request: name may be null; response adds topic_id (KIP-516)
v11 request drops include_cluster_authorized_operations; response drops
     cluster_authorized_operations; DescribeCluster has them now (KIP-700)
v12 response: name may be null: a topic may be asked for by its id alone (KIP-516)
v13 response adds error_code
"""

from ..schema import Field, Message

REQUEST = Message("MetadataRequest", "0-13", "9+", [
    Field("topics", "0+", "[]struct", nullable="1+", fields=[
        Field("topic_id", "10+", "uuid", ignorable=True),
        Field("name", "0+", "string", nullable="10+"),
    ]),
    Field("allow_auto_topic_creation", "4+", "bool", default=True),
    Field("include_cluster_authorized_operations", "8-10", "bool"),
    Field("include_topic_authorized_operations", "8+", "bool"),
])

RESPONSE = Message("MetadataResponse", "0-13", "9+", [
    Field("throttle_time_ms", "3+", "int32", ignorable=True),
    Field("brokers", "0+", "[]struct", fields=[
        Field("node_id", "0+", "int32"),
        Field("host", "0+", "string"),
        Field("port", "0+", "int32"),
        Field("rack", "1+", "string", nullable="1+", default=None, ignorable=True),
    ]),
    Field("cluster_id", "2+", "string", nullable="2+", default=None, ignorable=True),
    Field("controller_id", "1+", "int32", default=-1, ignorable=True),
    Field("topics", "0+", "[]struct", fields=[
        Field("error_code", "0+", "int16"),
        Field("name", "0+", "string", nullable="12+"),
        Field("topic_id", "10+", "uuid", ignorable=True),
        Field("is_internal", "1+", "bool", ignorable=True),
        Field("partitions", "0+", "[]struct", fields=[
            Field("error_code", "0+", "int16"),
            Field("partition_index", "0+", "int32"),
            Field("leader_id", "0+", "int32"),
            Field("leader_epoch", "7+", "int32", default=-1, ignorable=True),
            Field("replica_nodes", "0+", "[]int32"),
            Field("isr_nodes", "0+", "[]int32"),
            Field("offline_replicas", "5+", "[]int32", ignorable=True),
        ]),
        Field("topic_authorized_operations", "8+", "int32", default=-2147483648),
    ]),
    Field("error_code", "13+", "int16", ignorable=True),
    Field("cluster_authorized_operations", "8-10", "int32", default=-2147483648),
])
