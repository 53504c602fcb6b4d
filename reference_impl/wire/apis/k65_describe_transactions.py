"""DescribeTransactions: transactions are described

v0  the first version (KIP-664)
"""

from ..schema import Field, Message

REQUEST = Message("DescribeTransactionsRequest", "0", "0+", [
    Field("transactional_ids", "0+", "[]string"),
])

RESPONSE = Message("DescribeTransactionsResponse", "0", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("transaction_states", "0+", "[]struct", fields=[
        Field("error_code", "0+", "int16"),
        Field("transactional_id", "0+", "string"),
        Field("transaction_state", "0+", "string"),
        Field("transaction_timeout_ms", "0+", "int32"),
        Field("transaction_start_time_ms", "0+", "int64"),
        Field("producer_id", "0+", "int64"),
        Field("producer_epoch", "0+", "int16"),
        Field("topics", "0+", "[]struct", fields=[
            Field("topic", "0+", "string"),
            Field("partitions", "0+", "[]int32"),
        ]),
    ]),
])
