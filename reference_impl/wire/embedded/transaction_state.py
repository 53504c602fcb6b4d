"""The records of __transaction_state: one transactional id and where its transaction stands.

v0  the first version (KIP-98)
v1  flexible (KIP-915): producer ids around an epoch overflow and the client's transaction
     version are tagged fields (KIP-890)
"""

from ..schema import Field, Message

TRANSACTION_LOG_KEY = Message("TransactionLogKey", "0", "", [
    Field("transactional_id", "0+", "string"),
])

TRANSACTION_LOG_VALUE = Message("TransactionLogValue", "0-1", "1+", [
    Field("producer_id", "0+", "int64"),
    Field("previous_producer_id", "1+", "int64", tag=0, default=-1),
    Field("next_producer_id", "1+", "int64", tag=1, default=-1),
    Field("producer_epoch", "0+", "int16"),
    Field("next_producer_epoch", "1+", "int16", tag=3, default=-1),
    Field("transaction_timeout_ms", "0+", "int32"),
    Field("transaction_status", "0+", "int8"),
    Field("transaction_partitions", "0+", "[]struct", nullable="0+", fields=[
        Field("topic", "0+", "string"),
        Field("partition_ids", "0+", "[]int32"),
    ]),
    Field("transaction_last_update_timestamp_ms", "0+", "int64"),
    Field("transaction_start_timestamp_ms", "0+", "int64"),
    Field("client_transaction_version", "1+", "int16", tag=2),
])

RECORDS = {  # by the int16 before the key
    0: (TRANSACTION_LOG_KEY, TRANSACTION_LOG_VALUE),
}
