"""Produce: records go to the leader of a partition

v0  the first version; message sets of magic 0
v1  response adds throttle_time_ms (KIP-13)
v2  response adds log_append_time_ms; message sets of magic 1 (KIP-32)
v3  request adds transactional_id (KIP-98); record batches of magic 2 only
v4  may answer KAFKA_STORAGE_ERROR (KIP-112)
v5  response adds log_start_offset (KIP-192)
v6  the broker answers before it throttles (KIP-219)
v7  zstd is allowed (KIP-110)
v8  response adds record_errors, error_message (KIP-467)
v9  flexible (KIP-482) (KIP-951)
v10 response adds current_leader, node_endpoints (KIP-951)
v11 may answer TRANSACTION_ABORTABLE (KIP-890)
v12 adds its partitions to the transaction itself, transactions v2 (KIP-890)
v13 request: topic_id in place of name; response: topic_id in place of name (KIP-516)
"""

from ..schema import Field, Message

REQUEST = Message("ProduceRequest", "0-13", "9+", [
    Field("transactional_id", "3+", "string", nullable="3+", default=None),
    Field("acks", "0+", "int16"),
    Field("timeout_ms", "0+", "int32"),
    Field("topic_data", "0+", "[]struct", fields=[
        Field("topic_id", "13+", "uuid", ignorable=True),
        Field("name", "0-12", "string", ignorable=True),
        Field("partition_data", "0+", "[]struct", fields=[
            Field("index", "0+", "int32"),
            Field("records", "0+", "records", nullable="0+"),
        ]),
    ]),
])

RESPONSE = Message("ProduceResponse", "0-13", "9+", [
    Field("responses", "0+", "[]struct", fields=[
        Field("topic_id", "13+", "uuid", ignorable=True),
        Field("name", "0-12", "string", ignorable=True),
        Field("partition_responses", "0+", "[]struct", fields=[
            Field("index", "0+", "int32"),
            Field("error_code", "0+", "int16"),
            Field("base_offset", "0+", "int64"),
            Field("log_append_time_ms", "2+", "int64", default=-1, ignorable=True),
            Field("log_start_offset", "5+", "int64", default=-1, ignorable=True),
            Field("record_errors", "8+", "[]struct", ignorable=True, fields=[
                Field("batch_index", "8+", "int32"),
                Field("batch_index_error_message", "8+", "string", nullable="8+", default=None),
            ]),
            Field("error_message", "8+", "string", nullable="8+", default=None, ignorable=True),
            Field("current_leader", "10+", "struct", tag=0, fields=[
                Field("leader_id", "10+", "int32", default=-1),
                Field("leader_epoch", "10+", "int32", default=-1),
            ]),
        ]),
    ]),
    Field("throttle_time_ms", "1+", "int32", ignorable=True),
    Field("node_endpoints", "10+", "[]struct", tag=0, fields=[
        Field("node_id", "10+", "int32"),
        Field("host", "10+", "string"),
        Field("port", "10+", "int32"),
        Field("rack", "10+", "string", nullable="10+", default=None),
    ]),
])
