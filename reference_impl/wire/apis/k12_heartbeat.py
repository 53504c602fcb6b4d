"""Heartbeat: a member is alive

v0  the first version
v1  response adds throttle_time_ms
v2  the broker answers before it throttles (KIP-219)
v3  request adds group_instance_id (KIP-345)
v4  flexible (KIP-482)
"""

from ..schema import Field, Message

REQUEST = Message("HeartbeatRequest", "0-4", "4+", [
    Field("group_id", "0+", "string"),
    Field("generation_id", "0+", "int32"),
    Field("member_id", "0+", "string"),
    Field("group_instance_id", "3+", "string", nullable="3+", default=None),
])

RESPONSE = Message("HeartbeatResponse", "0-4", "4+", [
    Field("throttle_time_ms", "1+", "int32", ignorable=True),
    Field("error_code", "0+", "int16"),
])
