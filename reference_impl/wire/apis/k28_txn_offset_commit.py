"""TxnOffsetCommit: offsets are kept within a transaction

v0  the first version (KIP-98)
v1  the broker answers before it throttles (KIP-219)
v2  request adds committed_leader_epoch
v3  flexible (KIP-482); request adds generation_id, member_id, group_instance_id (KIP-890)
v4  may answer TRANSACTION_ABORTABLE (KIP-890)
v5  adds the group to the transaction itself, transactions v2 (KIP-890)
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
