"""UnregisterBroker: a broker is forgotten

v0  the first version (KIP-631)
"""

from ..schema import Field, Message

REQUEST = Message("UnregisterBrokerRequest", "0", "0+", [
    Field("broker_id", "0+", "int32"),
])

RESPONSE = Message("UnregisterBrokerResponse", "0", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("error_message", "0+", "string", nullable="0+"),
])
