"""LeaveGroup: members go

v0  the first version
v1  response adds throttle_time_ms
v2  the broker answers before it throttles (KIP-219)
v3  request: members in place of member_id; response adds members: many members at once (KIP-345)
v4  flexible (KIP-482)
v5  request adds reason (KIP-800)
"""

from ..schema import Field, Message

REQUEST = Message("LeaveGroupRequest", "0-5", "4+", [
    Field("group_id", "0+", "string"),
    Field("members", "3+", "[]struct", fields=[
        Field("member_id", "3+", "string"),
        Field("group_instance_id", "3+", "string", nullable="3+", default=None),
        Field("reason", "5+", "string", nullable="5+", default=None, ignorable=True),
    ]),
    Field("member_id", "0-2", "string"),
])

RESPONSE = Message("LeaveGroupResponse", "0-5", "4+", [
    Field("throttle_time_ms", "1+", "int32", ignorable=True),
    Field("error_code", "0+", "int16"),
    Field("members", "3+", "[]struct", fields=[
        Field("member_id", "3+", "string"),
        Field("group_instance_id", "3+", "string", nullable="3+"),
        Field("error_code", "3+", "int16"),
    ]),
])
