"""InitProducerId.

v0  the first version
v1  same shape
v2  flexible (KIP-482)
v3  request adds producer_id, producer_epoch
v4  same shape
v5  same shape
v6  request adds enable2_pc, keep_prepared_txn; response adds ongoing_txn_producer_id,
     ongoing_txn_producer_epoch
"""

from ..schema import Field, Message

REQUEST = Message("InitProducerIdRequest", "0-6", "2+", [
    Field("transactional_id", "0+", "string", nullable="0+"),
    Field("transaction_timeout_ms", "0+", "int32"),
    Field("producer_id", "3+", "int64", default=-1),
    Field("producer_epoch", "3+", "int16", default=-1),
    Field("enable2_pc", "6+", "bool"),
    Field("keep_prepared_txn", "6+", "bool"),
])

RESPONSE = Message("InitProducerIdResponse", "0-6", "2+", [
    Field("throttle_time_ms", "0+", "int32", ignorable=True),
    Field("error_code", "0+", "int16"),
    Field("producer_id", "0+", "int64", default=-1),
    Field("producer_epoch", "0+", "int16"),
    Field("ongoing_txn_producer_id", "6+", "int64", default=-1),
    Field("ongoing_txn_producer_epoch", "6+", "int16", default=-1),
])
