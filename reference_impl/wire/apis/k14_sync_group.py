"""SyncGroup: the leader's assignment is handed out

v0  the first version
v1  response adds throttle_time_ms
v2  the broker answers before it throttles (KIP-219)
v3  request adds group_instance_id (KIP-345)
v4  flexible (KIP-482)
v5  request adds protocol_type, protocol_name; response adds protocol_type, protocol_name
     (KIP-559)
"""

from ..schema import Field, Message

REQUEST = Message("SyncGroupRequest", "0-5", "4+", [
    Field("group_id", "0+", "string"),
    Field("generation_id", "0+", "int32"),
    Field("member_id", "0+", "string"),
    Field("group_instance_id", "3+", "string", nullable="3+", default=None),
    Field("protocol_type", "5+", "string", nullable="5+", default=None, ignorable=True),
    Field("protocol_name", "5+", "string", nullable="5+", default=None, ignorable=True),
    Field("assignments", "0+", "[]struct", fields=[
        Field("member_id", "0+", "string"),
        Field("assignment", "0+", "bytes"),
    ]),
])

RESPONSE = Message("SyncGroupResponse", "0-5", "4+", [
    Field("throttle_time_ms", "1+", "int32", ignorable=True),
    Field("error_code", "0+", "int16"),
    Field("protocol_type", "5+", "string", nullable="5+", default=None, ignorable=True),
    Field("protocol_name", "5+", "string", nullable="5+", default=None, ignorable=True),
    Field("assignment", "0+", "bytes"),
])
