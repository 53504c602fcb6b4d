"""PushTelemetry: client metrics are pushed

v0  the first version (KIP-714)
"""

from ..schema import Field, Message

REQUEST = Message("PushTelemetryRequest", "0", "0+", [
    Field("client_instance_id", "0+", "uuid"),
    Field("subscription_id", "0+", "int32"),
    Field("terminating", "0+", "bool"),
    Field("compression_type", "0+", "int8"),
    Field("metrics", "0+", "bytes"),
])

RESPONSE = Message("PushTelemetryResponse", "0", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
])
