"""AssignReplicasToDirs: replicas are in these directories now

v0  the first version (KIP-858)
"""

from ..schema import Field, Message

REQUEST = Message("AssignReplicasToDirsRequest", "0", "0+", [
    Field("broker_id", "0+", "int32"),
    Field("broker_epoch", "0+", "int64", default=-1),
    Field("directories", "0+", "[]struct", fields=[
        Field("id", "0+", "uuid"),
        Field("topics", "0+", "[]struct", fields=[
            Field("topic_id", "0+", "uuid"),
            Field("partitions", "0+", "[]struct", fields=[
                Field("partition_index", "0+", "int32"),
            ]),
        ]),
    ]),
])

RESPONSE = Message("AssignReplicasToDirsResponse", "0", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("directories", "0+", "[]struct", fields=[
        Field("id", "0+", "uuid"),
        Field("topics", "0+", "[]struct", fields=[
            Field("topic_id", "0+", "uuid"),
            Field("partitions", "0+", "[]struct", fields=[
                Field("partition_index", "0+", "int32"),
                Field("error_code", "0+", "int16"),
            ]),
        ]),
    ]),
])
