"""ApiVersions: which versions the broker speaks

v0  the first version (KIP-35)
v1  response adds throttle_time_ms
v2  the broker answers before it throttles (KIP-219)
v3  flexible (KIP-482); request adds client_software_name, client_software_version; response adds
     supported_features, finalized_features_epoch, finalized_features, zk_migration_ready; the
     header of the response stays v0 (KIP-511, KIP-584)
v4  a supported feature's minimum may be 0 (KAFKA-17011)
"""

from ..schema import Field, Message

REQUEST = Message("ApiVersionsRequest", "0-4", "3+", [
    Field("client_software_name", "3+", "string", ignorable=True),
    Field("client_software_version", "3+", "string", ignorable=True),
])

RESPONSE = Message("ApiVersionsResponse", "0-4", "3+", [
    Field("error_code", "0+", "int16"),
    Field("api_keys", "0+", "[]struct", fields=[
        Field("api_key", "0+", "int16"),
        Field("min_version", "0+", "int16"),
        Field("max_version", "0+", "int16"),
    ]),
    Field("throttle_time_ms", "1+", "int32", ignorable=True),
    Field("supported_features", "3+", "[]struct", tag=0, ignorable=True, fields=[
        Field("name", "3+", "string"),
        Field("min_version", "3+", "int16"),
        Field("max_version", "3+", "int16"),
    ]),
    Field("finalized_features_epoch", "3+", "int64", tag=1, default=-1, ignorable=True),
    Field("finalized_features", "3+", "[]struct", tag=2, ignorable=True, fields=[
        Field("name", "3+", "string"),
        Field("max_version_level", "3+", "int16"),
        Field("min_version_level", "3+", "int16"),
    ]),
    Field("zk_migration_ready", "3+", "bool", tag=3, ignorable=True),
])
