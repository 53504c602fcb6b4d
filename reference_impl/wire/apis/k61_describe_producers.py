"""DescribeProducers: producers a partition knows

v0  the first version (KIP-664)
"""

from ..schema import Field, Message

REQUEST = Message("DescribeProducersRequest", "0", "0+", [
    Field("topics", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("partition_indexes", "0+", "[]int32"),
    ]),
])

RESPONSE = Message("DescribeProducersResponse", "0", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("topics", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("error_code", "0+", "int16"),
            Field("error_message", "0+", "string", nullable="0+", default=None),
            Field("active_producers", "0+", "[]struct", fields=[
                Field("producer_id", "0+", "int64"),
                Field("producer_epoch", "0+", "int32"),
                Field("last_sequence", "0+", "int32", default=-1),
                Field("last_timestamp", "0+", "int64", default=-1),
                Field("coordinator_epoch", "0+", "int32"),
                Field("current_txn_start_offset", "0+", "int64", default=-1),
            ]),
        ]),
    ]),
])
