"""ConsumerGroupDescribe: groups of the new consumer protocol

v0  the first version (KIP-848)
v1  response adds member_type (KIP-1099)
"""

from ..schema import Field, Message

REQUEST = Message("ConsumerGroupDescribeRequest", "0-1", "0+", [
    Field("group_ids", "0+", "[]string"),
    Field("include_authorized_operations", "0+", "bool"),
])

RESPONSE = Message("ConsumerGroupDescribeResponse", "0-1", "0+", [
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
            Field("instance_id", "0+", "string", nullable="0+", default=None),
            Field("rack_id", "0+", "string", nullable="0+", default=None),
            Field("member_epoch", "0+", "int32"),
            Field("client_id", "0+", "string"),
            Field("client_host", "0+", "string"),
            Field("subscribed_topic_names", "0+", "[]string"),
            Field("subscribed_topic_regex", "0+", "string", nullable="0+", default=None),
            Field("assignment", "0+", "struct", fields=[
                Field("topic_partitions", "0+", "[]struct", fields=[
                    Field("topic_id", "0+", "uuid"),
                    Field("topic_name", "0+", "string"),
                    Field("partitions", "0+", "[]int32"),
                ]),
            ]),
            Field("target_assignment", "0+", "struct", fields=[
                Field("topic_partitions", "0+", "[]struct", fields=[
                    Field("topic_id", "0+", "uuid"),
                    Field("topic_name", "0+", "string"),
                    Field("partitions", "0+", "[]int32"),
                ]),
            ]),
            Field("member_type", "1+", "int8", default=-1, ignorable=True),
        ]),
        Field("authorized_operations", "0+", "int32", default=-2147483648),
    ]),
])
