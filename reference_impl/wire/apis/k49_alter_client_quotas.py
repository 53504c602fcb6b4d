"""AlterClientQuotas: quotas are changed

v0  the first version (KIP-546)
v1  flexible (KIP-482)
"""

from ..schema import Field, Message

REQUEST = Message("AlterClientQuotasRequest", "0-1", "1+", [
    Field("entries", "0+", "[]struct", fields=[
        Field("entity", "0+", "[]struct", fields=[
            Field("entity_type", "0+", "string"),
            Field("entity_name", "0+", "string", nullable="0+"),
        ]),
        Field("ops", "0+", "[]struct", fields=[
            Field("key", "0+", "string"),
            Field("value", "0+", "float64"),
            Field("remove", "0+", "bool"),
        ]),
    ]),
    Field("validate_only", "0+", "bool"),
])

RESPONSE = Message("AlterClientQuotasResponse", "0-1", "1+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("entries", "0+", "[]struct", fields=[
        Field("error_code", "0+", "int16"),
        Field("error_message", "0+", "string", nullable="0+"),
        Field("entity", "0+", "[]struct", fields=[
            Field("entity_type", "0+", "string"),
            Field("entity_name", "0+", "string", nullable="0+"),
        ]),
    ]),
])
