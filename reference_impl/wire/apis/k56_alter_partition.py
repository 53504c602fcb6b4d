"""AlterPartition: a leader changes its in-sync replicas

v0  the first version (KIP-497)
v1  request adds leader_recovery_state; response adds leader_recovery_state (KIP-704)
v2  request: topic_id in place of topic_name; response: topic_id in place of topic_name
v3  request: new_isr_with_epochs in place of new_isr (KIP-903)
"""

from ..schema import Field, Message

REQUEST = Message("AlterPartitionRequest", "0-3", "0+", [
    Field("broker_id", "0+", "int32"),
    Field("broker_epoch", "0+", "int64", default=-1),
    Field("topics", "0+", "[]struct", fields=[
        Field("topic_id", "2+", "uuid", ignorable=True),
        Field("topic_name", "0-1", "string", ignorable=True),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("leader_epoch", "0+", "int32"),
            Field("new_isr_with_epochs", "3+", "[]struct", fields=[
                Field("broker_id", "3+", "int32"),
                Field("broker_epoch", "3+", "int64", default=-1),
            ]),
            Field("new_isr", "0-2", "[]int32"),
            Field("leader_recovery_state", "1+", "int8"),
            Field("partition_epoch", "0+", "int32"),
        ]),
    ]),
])

RESPONSE = Message("AlterPartitionResponse", "0-3", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("topics", "0+", "[]struct", fields=[
        Field("topic_id", "2+", "uuid", ignorable=True),
        Field("topic_name", "0-1", "string", ignorable=True),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("error_code", "0+", "int16"),
            Field("leader_id", "0+", "int32"),
            Field("leader_epoch", "0+", "int32"),
            Field("isr", "0+", "[]int32"),
            Field("leader_recovery_state", "1+", "int8", ignorable=True),
            Field("partition_epoch", "0+", "int32"),
        ]),
    ]),
])
