"""DeleteAcls: ACLs are removed

v0  the first version (KIP-140)
v1  request adds pattern_type_filter; response adds pattern_type (KIP-290)
v2  flexible (KIP-482)
v3  the user resource type (KIP-373)
"""

from ..schema import Field, Message

REQUEST = Message("DeleteAclsRequest", "0-3", "2+", [
    Field("filters", "0+", "[]struct", fields=[
        Field("resource_type_filter", "0+", "int8"),
        Field("resource_name_filter", "0+", "string", nullable="0+"),
        Field("pattern_type_filter", "1+", "int8", default=3),
        Field("principal_filter", "0+", "string", nullable="0+"),
        Field("host_filter", "0+", "string", nullable="0+"),
        Field("operation", "0+", "int8"),
        Field("permission_type", "0+", "int8"),
    ]),
])

RESPONSE = Message("DeleteAclsResponse", "0-3", "2+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("filter_results", "0+", "[]struct", fields=[
        Field("error_code", "0+", "int16"),
        Field("error_message", "0+", "string", nullable="0+"),
        Field("matching_acls", "0+", "[]struct", fields=[
            Field("error_code", "0+", "int16"),
            Field("error_message", "0+", "string", nullable="0+"),
            Field("resource_type", "0+", "int8"),
            Field("resource_name", "0+", "string"),
            Field("pattern_type", "1+", "int8", default=3),
            Field("principal", "0+", "string"),
            Field("host", "0+", "string"),
            Field("operation", "0+", "int8"),
            Field("permission_type", "0+", "int8"),
        ]),
    ]),
])
