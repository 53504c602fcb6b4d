"""ControllerRegistration: a controller registers

v0  the first version (KIP-919)
"""

from ..schema import Field, Message

REQUEST = Message("ControllerRegistrationRequest", "0", "0+", [
    Field("controller_id", "0+", "int32"),
    Field("incarnation_id", "0+", "uuid"),
    Field("zk_migration_ready", "0+", "bool"),
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
])

RESPONSE = Message("ControllerRegistrationResponse", "0", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("error_message", "0+", "string", nullable="0+"),
])
