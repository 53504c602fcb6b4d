"""AllocateProducerIds: a broker gets a block of producer ids

v0  the first version (KIP-730)
"""

from ..schema import Field, Message

REQUEST = Message("AllocateProducerIdsRequest", "0", "0+", [
    Field("broker_id", "0+", "int32"),
    Field("broker_epoch", "0+", "int64", default=-1),
])

RESPONSE = Message("AllocateProducerIdsResponse", "0", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("producer_id_start", "0+", "int64"),
    Field("producer_id_len", "0+", "int32"),
])
