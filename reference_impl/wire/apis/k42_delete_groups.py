"""DeleteGroups: groups are removed

v0  the first version (KIP-229)
v1  the broker answers before it throttles (KIP-219)
v2  flexible (KIP-482)
"""

from ..schema import Field, Message

REQUEST = Message("DeleteGroupsRequest", "0-2", "2+", [
    Field("groups_names", "0+", "[]string"),
])

RESPONSE = Message("DeleteGroupsResponse", "0-2", "2+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("results", "0+", "[]struct", fields=[
        Field("group_id", "0+", "string"),
        Field("error_code", "0+", "int16"),
    ]),
])
