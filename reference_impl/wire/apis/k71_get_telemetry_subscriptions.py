"""GetTelemetrySubscriptions: which client metrics are wanted

v0  the first version (KIP-714)
"""

from ..schema import Field, Message

REQUEST = Message("GetTelemetrySubscriptionsRequest", "0", "0+", [
    Field("client_instance_id", "0+", "uuid"),
])

RESPONSE = Message("GetTelemetrySubscriptionsResponse", "0", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("client_instance_id", "0+", "uuid"),
    Field("subscription_id", "0+", "int32"),
    Field("accepted_compression_types", "0+", "[]int8"),
    Field("push_interval_ms", "0+", "int32"),
    Field("telemetry_max_bytes", "0+", "int32"),
    Field("delta_temporality", "0+", "bool"),
    Field("requested_metrics", "0+", "[]string"),
])
