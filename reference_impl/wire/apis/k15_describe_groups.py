"""DescribeGroups: groups and their members

v0  the first version
v1  response adds throttle_time_ms
v2  the broker answers before it throttles (KIP-219)
v3  request adds include_authorized_operations; response adds authorized_operations (KIP-430)
v4  response adds group_instance_id (KIP-345)
v5  flexible (KIP-482)
v6  response adds error_message; an unknown group answers GROUP_ID_NOT_FOUND (KIP-1043)
"""

from ..schema import Field, Message

REQUEST = Message("DescribeGroupsRequest", "0-6", "5+", [
    Field("groups", "0+", "[]string"),
    Field("include_authorized_operations", "3+", "bool"),
])

RESPONSE = Message("DescribeGroupsResponse", "0-6", "5+", [
    Field("throttle_time_ms", "1+", "int32", ignorable=True),
    Field("groups", "0+", "[]struct", fields=[
        Field("error_code", "0+", "int16"),
        Field("error_message", "6+", "string", nullable="6+", default=None),
        Field("group_id", "0+", "string"),
        Field("group_state", "0+", "string"),
        Field("protocol_type", "0+", "string"),
        Field("protocol_data", "0+", "string"),
        Field("members", "0+", "[]struct", fields=[
            Field("member_id", "0+", "string"),
            Field("group_instance_id", "4+", "string", nullable="4+", default=None, ignorable=True),
            Field("client_id", "0+", "string"),
            Field("client_host", "0+", "string"),
            Field("member_metadata", "0+", "bytes"),
            Field("member_assignment", "0+", "bytes"),
        ]),
        Field("authorized_operations", "3+", "int32", default=-2147483648),
    ]),
])
