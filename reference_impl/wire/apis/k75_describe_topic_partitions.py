"""DescribeTopicPartitions: topics and partitions, page by page

v0  the first version (KIP-966)
"""

from ..schema import Field, Message

REQUEST = Message("DescribeTopicPartitionsRequest", "0", "0+", [
    Field("topics", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
    ]),
    Field("response_partition_limit", "0+", "int32", default=2000),
    Field("cursor", "0+", "struct", nullable="0+", default=None, fields=[
        Field("topic_name", "0+", "string"),
        Field("partition_index", "0+", "int32"),
    ]),
])

RESPONSE = Message("DescribeTopicPartitionsResponse", "0", "0+", [
    Field("throttle_time_ms", "0+", "int32", ignorable=True),
    Field("topics", "0+", "[]struct", fields=[
        Field("error_code", "0+", "int16"),
        Field("name", "0+", "string", nullable="0+"),
        Field("topic_id", "0+", "uuid", ignorable=True),
        Field("is_internal", "0+", "bool", ignorable=True),
        Field("partitions", "0+", "[]struct", fields=[
            Field("error_code", "0+", "int16"),
            Field("partition_index", "0+", "int32"),
            Field("leader_id", "0+", "int32"),
            Field("leader_epoch", "0+", "int32", default=-1, ignorable=True),
            Field("replica_nodes", "0+", "[]int32"),
            Field("isr_nodes", "0+", "[]int32"),
            Field("eligible_leader_replicas", "0+", "[]int32", nullable="0+", default=None),
            Field("last_known_elr", "0+", "[]int32", nullable="0+", default=None),
            Field("offline_replicas", "0+", "[]int32", ignorable=True),
        ]),
        Field("topic_authorized_operations", "0+", "int32", default=-2147483648),
    ]),
    Field("next_cursor", "0+", "struct", nullable="0+", default=None, fields=[
        Field("topic_name", "0+", "string"),
        Field("partition_index", "0+", "int32"),
    ]),
])
