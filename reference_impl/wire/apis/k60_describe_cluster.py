"""DescribeCluster: the cluster's brokers and controller

v0  the first version (KIP-700)
v1  request adds endpoint_type; response adds endpoint_type (KIP-919)
v2  request adds include_fenced_brokers; response adds is_fenced (KIP-1073)
"""

from ..schema import Field, Message

REQUEST = Message("DescribeClusterRequest", "0-2", "0+", [
    Field("include_cluster_authorized_operations", "0+", "bool"),
    Field("endpoint_type", "1+", "int8", default=1),
    Field("include_fenced_brokers", "2+", "bool"),
])

RESPONSE = Message("DescribeClusterResponse", "0-2", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("error_message", "0+", "string", nullable="0+", default=None),
    Field("endpoint_type", "1+", "int8", default=1),
    Field("cluster_id", "0+", "string"),
    Field("controller_id", "0+", "int32", default=-1),
    Field("brokers", "0+", "[]struct", fields=[
        Field("broker_id", "0+", "int32"),
        Field("host", "0+", "string"),
        Field("port", "0+", "int32"),
        Field("rack", "0+", "string", nullable="0+", default=None),
        Field("is_fenced", "2+", "bool"),
    ]),
    Field("cluster_authorized_operations", "0+", "int32", default=-2147483648),
])
