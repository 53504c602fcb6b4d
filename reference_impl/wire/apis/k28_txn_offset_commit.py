"""TxnOffsetCommit.

v0  the first version
v1  same shape
v2  request adds committed_leader_epoch
v3  flexible (KIP-482); request adds generation_id, member_id, group_instance_id
v4  same shape
v5  same shape
"""

from ..schema import Field, Message

REQUEST = Message("TxnOffsetCommitRequest", "0-5", "3+", [
    Field("transactional_id", "0+", "string"),
    Field("group_id", "0+", "string"),
    Field("producer_id", "0+", "int64"),
    Field("producer_epoch", "0+", "int16"),
    Field("generation_id", "3+", "int32", default=-1),
    Field("member_id", "3+", "string"),
    Field("group_instance_id", "3+", "string", nullable="3+", default=None),
    Field("topics", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("committed_offset", "0+", "int64"),
            Field("committed_leader_epoch", "2+", "int32", default=-1, ignorable=True),
            Field("committed_metadata", "0+", "string", nullable="0+"),
        ]),
    ]),
])

RESPONSE = Message("TxnOffsetCommitResponse", "0-5", "3+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("topics", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("error_code", "0+", "int16"),
        ]),
    ]),
])
