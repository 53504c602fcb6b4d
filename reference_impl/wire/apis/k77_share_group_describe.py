"""ShareGroupDescribe: share groups are described

v0  early access in 3.9 and 4.0 only (KIP-932)
v1  the first stable version (KIP-932)
"""

from ..schema import Field, Message

REQUEST = Message("ShareGroupDescribeRequest", "0-1", "0+", [
    Field("group_ids", "0+", "[]string"),
    Field("include_authorized_operations", "0+", "bool"),
])

RESPONSE = Message("ShareGroupDescribeResponse", "0-1", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("groups", "0+", "[]struct", fields=[
        Field("error_code", "0+", "int16"),
        Field("error_message", "0+", "string", nullable="0+", default=None),
        Field("group_id", "0+", "string"),
        Field("group_state", "0+", "string"),
        Field("group_epoch", "0+", "int32"),
        Field("assignment_epoch", "0+", "int32"),
        Field("assignor_name", "0+", "string"),
        Field("members", "0+", "[]struct", fields=[
            Field("member_id", "0+", "string"),
            Field("rack_id", "0+", "string", nullable="0+", default=None),
            Field("member_epoch", "0+", "int32"),
            Field("client_id", "0+", "string"),
            Field("client_host", "0+", "string"),
            Field("subscribed_topic_names", "0+", "[]string"),
            Field("assignment", "0+", "struct", fields=[
                Field("topic_partitions", "0+", "[]struct", fields=[
                    Field("topic_id", "0+", "uuid"),
                    Field("topic_name", "0+", "string"),
                    Field("partitions", "0+", "[]int32"),
                ]),
            ]),
        ]),
        Field("authorized_operations", "0+", "int32", default=-2147483648),
    ]),
])
