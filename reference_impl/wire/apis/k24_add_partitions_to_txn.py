"""AddPartitionsToTxn: partitions enter a transaction

v0  the first version (KIP-98)
v1  the broker answers before it throttles (KIP-219)
v2  may answer PRODUCER_FENCED (KIP-588)
v3  flexible (KIP-482)
v4  request adds transactions; request drops v3_and_below_transactional_id,
     v3_and_below_producer_id, v3_and_below_producer_epoch, v3_and_below_topics; response adds
     error_code, results_by_transaction; response drops results_by_topic_v3_and_below: many
     transactions at once, for brokers (KIP-890)
v5  may answer TRANSACTION_ABORTABLE (KIP-890)
"""

from ..schema import Field, Message

REQUEST = Message("AddPartitionsToTxnRequest", "0-5", "3+", [
    Field("transactions", "4+", "[]struct", fields=[
        Field("transactional_id", "4+", "string"),
        Field("producer_id", "4+", "int64"),
        Field("producer_epoch", "4+", "int16"),
        Field("verify_only", "4+", "bool"),
        Field("topics", "4+", "[]struct", fields=[
            Field("name", "4+", "string"),
            Field("partitions", "4+", "[]int32"),
        ]),
    ]),
    Field("v3_and_below_transactional_id", "0-3", "string"),
    Field("v3_and_below_producer_id", "0-3", "int64"),
    Field("v3_and_below_producer_epoch", "0-3", "int16"),
    Field("v3_and_below_topics", "0-3", "[]struct", fields=[
        Field("name", "0-3", "string"),
        Field("partitions", "0-3", "[]int32"),
    ]),
])

RESPONSE = Message("AddPartitionsToTxnResponse", "0-5", "3+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "4+", "int16", ignorable=True),
    Field("results_by_transaction", "4+", "[]struct", fields=[
        Field("transactional_id", "4+", "string"),
        Field("topic_results", "4+", "[]struct", fields=[
            Field("name", "4+", "string"),
            Field("results_by_partition", "4+", "[]struct", fields=[
                Field("partition_index", "4+", "int32"),
                Field("partition_error_code", "4+", "int16"),
            ]),
        ]),
    ]),
    Field("results_by_topic_v3_and_below", "0-3", "[]struct", fields=[
        Field("name", "0-3", "string"),
        Field("results_by_partition", "0-3", "[]struct", fields=[
            Field("partition_index", "0-3", "int32"),
            Field("partition_error_code", "0-3", "int16"),
        ]),
    ]),
])
