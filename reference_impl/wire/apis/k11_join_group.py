"""JoinGroup: a member enters a rebalance

v0  the first version
v1  request adds rebalance_timeout_ms (KIP-62)
v2  response adds throttle_time_ms
v3  the broker answers before it throttles (KIP-219)
v4  a new member first gets its id with MEMBER_ID_REQUIRED (KIP-394)
v5  request adds group_instance_id; response adds group_instance_id (KIP-345)
v6  flexible (KIP-482)
v7  response adds protocol_type; response: protocol_name may be null (KIP-559)
v8  request adds reason (KIP-800)
v9  response adds skip_assignment (KIP-814)
"""

from ..schema import Field, Message

REQUEST = Message("JoinGroupRequest", "0-9", "6+", [
    Field("group_id", "0+", "string"),
    Field("session_timeout_ms", "0+", "int32"),
    Field("rebalance_timeout_ms", "1+", "int32", default=-1, ignorable=True),
    Field("member_id", "0+", "string"),
    Field("group_instance_id", "5+", "string", nullable="5+", default=None),
    Field("protocol_type", "0+", "string"),
    Field("protocols", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("metadata", "0+", "bytes"),
    ]),
    Field("reason", "8+", "string", nullable="8+", default=None, ignorable=True),
])

RESPONSE = Message("JoinGroupResponse", "0-9", "6+", [
    Field("throttle_time_ms", "2+", "int32", ignorable=True),
    Field("error_code", "0+", "int16"),
    Field("generation_id", "0+", "int32", default=-1),
    Field("protocol_type", "7+", "string", nullable="7+", default=None, ignorable=True),
    Field("protocol_name", "0+", "string", nullable="7+"),
    Field("leader", "0+", "string"),
    Field("skip_assignment", "9+", "bool"),
    Field("member_id", "0+", "string"),
    Field("members", "0+", "[]struct", fields=[
        Field("member_id", "0+", "string"),
        Field("group_instance_id", "5+", "string", nullable="5+", default=None, ignorable=True),
        Field("metadata", "0+", "bytes"),
    ]),
])
