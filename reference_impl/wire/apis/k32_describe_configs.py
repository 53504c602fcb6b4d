"""DescribeConfigs: configs are asked for

v0  the first version (KIP-133)
v1  request adds include_synonyms; response adds config_source, synonyms; response drops
     is_default (KIP-226)
v2  the broker answers before it throttles (KIP-219)
v3  request adds include_documentation; response adds config_type, documentation (KIP-569)
v4  flexible (KIP-482)
"""

from ..schema import Field, Message

REQUEST = Message("DescribeConfigsRequest", "0-4", "4+", [
    Field("resources", "0+", "[]struct", fields=[
        Field("resource_type", "0+", "int8"),
        Field("resource_name", "0+", "string"),
        Field("configuration_keys", "0+", "[]string", nullable="0+"),
    ]),
    Field("include_synonyms", "1+", "bool"),
    Field("include_documentation", "3+", "bool"),
])

RESPONSE = Message("DescribeConfigsResponse", "0-4", "4+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("results", "0+", "[]struct", fields=[
        Field("error_code", "0+", "int16"),
        Field("error_message", "0+", "string", nullable="0+"),
        Field("resource_type", "0+", "int8"),
        Field("resource_name", "0+", "string"),
        Field("configs", "0+", "[]struct", fields=[
            Field("name", "0+", "string"),
            Field("value", "0+", "string", nullable="0+"),
            Field("read_only", "0+", "bool"),
            Field("config_source", "1+", "int8", default=-1, ignorable=True),
            Field("is_default", "0", "bool"),
            Field("is_sensitive", "0+", "bool"),
            Field("synonyms", "1+", "[]struct", ignorable=True, fields=[
                Field("name", "1+", "string"),
                Field("value", "1+", "string", nullable="1+"),
                Field("source", "1+", "int8"),
            ]),
            Field("config_type", "3+", "int8", ignorable=True),
            Field("documentation", "3+", "string", nullable="3+", ignorable=True),
        ]),
    ]),
])
