"""ListGroups: groups a broker coordinates

v0  the first version
v1  response adds throttle_time_ms
v2  the broker answers before it throttles (KIP-219)
v3  flexible (KIP-482)
v4  request adds states_filter; response adds group_state (KIP-518)
v5  request adds types_filter; response adds group_type (KIP-848)
"""

from ..schema import Field, Message

REQUEST = Message("ListGroupsRequest", "0-5", "3+", [
    Field("states_filter", "4+", "[]string"),
    Field("types_filter", "5+", "[]string"),
])

RESPONSE = Message("ListGroupsResponse", "0-5", "3+", [
    Field("throttle_time_ms", "1+", "int32", ignorable=True),
    Field("error_code", "0+", "int16"),
    Field("groups", "0+", "[]struct", fields=[
        Field("group_id", "0+", "string"),
        Field("protocol_type", "0+", "string"),
        Field("group_state", "4+", "string", ignorable=True),
        Field("group_type", "5+", "string", ignorable=True),
    ]),
])
