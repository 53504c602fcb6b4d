"""DescribeClientQuotas: quotas are asked for

v0  the first version (KIP-546)
v1  flexible (KIP-482)
"""

from ..schema import Field, Message

REQUEST = Message("DescribeClientQuotasRequest", "0-1", "1+", [
    Field("components", "0+", "[]struct", fields=[
        Field("entity_type", "0+", "string"),
        Field("match_type", "0+", "int8"),
        Field("match", "0+", "string", nullable="0+"),
    ]),
    Field("strict", "0+", "bool"),
])

RESPONSE = Message("DescribeClientQuotasResponse", "0-1", "1+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("error_message", "0+", "string", nullable="0+"),
    Field("entries", "0+", "[]struct", nullable="0+", fields=[
        Field("entity", "0+", "[]struct", fields=[
            Field("entity_type", "0+", "string"),
            Field("entity_name", "0+", "string", nullable="0+"),
        ]),
        Field("values", "0+", "[]struct", fields=[
            Field("key", "0+", "string"),
            Field("value", "0+", "float64"),
        ]),
    ]),
])
