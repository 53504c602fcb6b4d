"""FindCoordinator: who coordinates a group, transaction or share partition

v0  the first version
v1  request adds key_type; response adds throttle_time_ms, error_message; transaction coordinators
     can be found (KIP-98)
v2  the broker answers before it throttles (KIP-219)
v3  flexible (KIP-482)
v4  request: coordinator_keys in place of key; response adds coordinators; response drops
     error_code, error_message, node_id, host, port: many keys at once (KIP-699)
v5  may answer TRANSACTION_ABORTABLE (KIP-890)
v6  share coordinators can be found (KIP-932)
"""

from ..schema import Field, Message

REQUEST = Message("FindCoordinatorRequest", "0-6", "3+", [
    Field("key", "0-3", "string"),
    Field("key_type", "1+", "int8"),
    Field("coordinator_keys", "4+", "[]string"),
])

RESPONSE = Message("FindCoordinatorResponse", "0-6", "3+", [
    Field("throttle_time_ms", "1+", "int32", ignorable=True),
    Field("coordinators", "4+", "[]struct", fields=[
        Field("key", "4+", "string"),
        Field("node_id", "4+", "int32"),
        Field("host", "4+", "string"),
        Field("port", "4+", "int32"),
        Field("error_code", "4+", "int16"),
        Field("error_message", "4+", "string", nullable="4+", ignorable=True),
    ]),
    Field("error_code", "0-3", "int16"),
    Field("error_message", "1-3", "string", nullable="1-3", ignorable=True),
    Field("node_id", "0-3", "int32"),
    Field("host", "0-3", "string"),
    Field("port", "0-3", "int32"),
])
