"""AlterConfigs: configs are replaced as a whole

v0  the first version (KIP-133)
v1  the broker answers before it throttles (KIP-219)
v2  flexible (KIP-482)
"""

from ..schema import Field, Message

REQUEST = Message("AlterConfigsRequest", "0-2", "2+", [
    Field("resources", "0+", "[]struct", fields=[
        Field("resource_type", "0+", "int8"),
        Field("resource_name", "0+", "string"),
        Field("configs", "0+", "[]struct", fields=[
            Field("name", "0+", "string"),
            Field("value", "0+", "string", nullable="0+"),
        ]),
    ]),
    Field("validate_only", "0+", "bool"),
])

RESPONSE = Message("AlterConfigsResponse", "0-2", "2+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("responses", "0+", "[]struct", fields=[
        Field("error_code", "0+", "int16"),
        Field("error_message", "0+", "string", nullable="0+"),
        Field("resource_type", "0+", "int8"),
        Field("resource_name", "0+", "string"),
    ]),
])
