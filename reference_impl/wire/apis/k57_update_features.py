"""UpdateFeatures: finalized features are changed

v0  the first version (KIP-584)
v1  request adds upgrade_type, validate_only; request drops allow_downgrade (KIP-778)
v2  response drops results
"""

from ..schema import Field, Message

REQUEST = Message("UpdateFeaturesRequest", "0-2", "0+", [
    Field("timeout_ms", "0+", "int32", default=60000),
    Field("feature_updates", "0+", "[]struct", fields=[
        Field("feature", "0+", "string"),
        Field("max_version_level", "0+", "int16"),
        Field("upgrade_type", "1+", "int8", default=1),
        Field("allow_downgrade", "0", "bool"),
    ]),
    Field("validate_only", "1+", "bool"),
])

RESPONSE = Message("UpdateFeaturesResponse", "0-2", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("error_message", "0+", "string", nullable="0+"),
    Field("results", "0-1", "[]struct", ignorable=True, fields=[
        Field("feature", "0-1", "string"),
        Field("error_code", "0-1", "int16"),
        Field("error_message", "0-1", "string", nullable="0-1"),
    ]),
])
