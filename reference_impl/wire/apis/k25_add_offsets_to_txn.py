"""AddOffsetsToTxn: a group's offsets enter a transaction

v0  the first version (KIP-98)
v1  the broker answers before it throttles (KIP-219)
v2  may answer PRODUCER_FENCED (KIP-588)
v3  flexible (KIP-482)
v4  may answer TRANSACTION_ABORTABLE (KIP-890)
"""

from ..schema import Field, Message

REQUEST = Message("AddOffsetsToTxnRequest", "0-4", "3+", [
    Field("transactional_id", "0+", "string"),
    Field("producer_id", "0+", "int64"),
    Field("producer_epoch", "0+", "int16"),
    Field("group_id", "0+", "string"),
])

RESPONSE = Message("AddOffsetsToTxnResponse", "0-4", "3+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
])
