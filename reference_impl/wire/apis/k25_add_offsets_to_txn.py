"""AddOffsetsToTxn.

v0  the first version
v1  same shape
v2  same shape
v3  flexible (KIP-482)
v4  same shape
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
