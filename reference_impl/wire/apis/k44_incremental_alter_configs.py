"""IncrementalAlterConfigs: configs are changed one by one

v0  the first version (KIP-339)
v1  flexible (KIP-482)
"""

from ..schema import Field, Message

REQUEST = Message("IncrementalAlterConfigsRequest", "0-1", "1+", [
    Field("resources", "0+", "[]struct", fields=[
        Field("resource_type", "0+", "int8"),
        Field("resource_name", "0+", "string"),
        Field("configs", "0+", "[]struct", fields=[
            Field("name", "0+", "string"),
            Field("config_operation", "0+", "int8"),
            Field("value", "0+", "string", nullable="0+"),
        ]),
    ]),
    Field("validate_only", "0+", "bool"),
])

RESPONSE = Message("IncrementalAlterConfigsResponse", "0-1", "1+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("responses", "0+", "[]struct", fields=[
        Field("error_code", "0+", "int16"),
        Field("error_message", "0+", "string", nullable="0+"),
        Field("resource_type", "0+", "int8"),
        Field("resource_name", "0+", "string"),
    ]),
])
