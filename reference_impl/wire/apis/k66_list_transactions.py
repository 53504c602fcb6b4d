"""ListTransactions: transactions are listed

v0  the first version (KIP-664)
v1  request adds duration_filter
v2  request adds transactional_id_pattern (KIP-1152)
"""

from ..schema import Field, Message

REQUEST = Message("ListTransactionsRequest", "0-2", "0+", [
    Field("state_filters", "0+", "[]string"),
    Field("producer_id_filters", "0+", "[]int64"),
    Field("duration_filter", "1+", "int64", default=-1),
    Field("transactional_id_pattern", "2+", "string", nullable="2+", default=None),
])

RESPONSE = Message("ListTransactionsResponse", "0-2", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("unknown_state_filters", "0+", "[]string"),
    Field("transaction_states", "0+", "[]struct", fields=[
        Field("transactional_id", "0+", "string"),
        Field("producer_id", "0+", "int64"),
        Field("transaction_state", "0+", "string"),
    ]),
])
