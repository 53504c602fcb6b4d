"""CreateAcls: ACLs are made

v0  the first version (KIP-140)
v1  request adds resource_pattern_type (KIP-290)
v2  flexible (KIP-482)
v3  the user resource type (KIP-373)
"""

from ..schema import Field, Message

REQUEST = Message("CreateAclsRequest", "0-3", "2+", [
    Field("creations", "0+", "[]struct", fields=[
        Field("resource_type", "0+", "int8"),
        Field("resource_name", "0+", "string"),
        Field("resource_pattern_type", "1+", "int8", default=3),
        Field("principal", "0+", "string"),
        Field("host", "0+", "string"),
        Field("operation", "0+", "int8"),
        Field("permission_type", "0+", "int8"),
    ]),
])

RESPONSE = Message("CreateAclsResponse", "0-3", "2+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("results", "0+", "[]struct", fields=[
        Field("error_code", "0+", "int16"),
        Field("error_message", "0+", "string", nullable="0+"),
    ]),
])
