"""BrokerRegistration: a broker registers with the controller

v0  the first version (KIP-631)
v1  request adds is_migrating_zk_broker (KIP-866)
v2  request adds log_dirs (KIP-858)
v3  request adds previous_broker_epoch (KIP-966)
v4  a supported feature's minimum may be 0 (KAFKA-17011)
"""

from ..schema import Field, Message

REQUEST = Message("BrokerRegistrationRequest", "0-4", "0+", [
    Field("broker_id", "0+", "int32"),
    Field("cluster_id", "0+", "string"),
    Field("incarnation_id", "0+", "uuid"),
    Field("listeners", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("host", "0+", "string"),
        Field("port", "0+", "uint16"),
        Field("security_protocol", "0+", "int16"),
    ]),
    Field("features", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("min_supported_version", "0+", "int16"),
        Field("max_supported_version", "0+", "int16"),
    ]),
    Field("rack", "0+", "string", nullable="0+"),
    Field("is_migrating_zk_broker", "1+", "bool"),
    Field("log_dirs", "2+", "[]uuid", ignorable=True),
    Field("previous_broker_epoch", "3+", "int64", default=-1, ignorable=True),
])

RESPONSE = Message("BrokerRegistrationResponse", "0-4", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("broker_epoch", "0+", "int64", default=-1),
])
