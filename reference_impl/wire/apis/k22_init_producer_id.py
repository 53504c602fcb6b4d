"""InitProducerId: a producer gets its id and epoch

v0  the first version (KIP-98)
v1  the broker answers before it throttles (KIP-219)
v2  flexible (KIP-482)
v3  request adds producer_id, producer_epoch (KIP-360)
v4  may answer PRODUCER_FENCED (KIP-588)
v5  may answer TRANSACTION_ABORTABLE (KIP-890)
v6  request adds enable2_pc, keep_prepared_txn; response adds ongoing_txn_producer_id,
     ongoing_txn_producer_epoch (KIP-939)
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
