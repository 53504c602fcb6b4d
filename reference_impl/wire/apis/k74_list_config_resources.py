"""ListConfigResources: config resources are listed

v0  the first version (KIP-714)
v1  request adds resource_types; response adds resource_type (KIP-1142)
"""

from ..schema import Field, Message

REQUEST = Message("ListConfigResourcesRequest", "0-1", "0+", [
    Field("resource_types", "1+", "[]int8"),
])

RESPONSE = Message("ListConfigResourcesResponse", "0-1", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("config_resources", "0+", "[]struct", fields=[
        Field("resource_name", "0+", "string"),
        Field("resource_type", "1+", "int8", default=16, ignorable=True),
    ]),
])
