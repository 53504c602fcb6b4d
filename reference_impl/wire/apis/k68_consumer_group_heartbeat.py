"""ConsumerGroupHeartbeat: a member of the new consumer protocol is alive

v0  the first version (KIP-848)
v1  request adds subscribed_topic_regex
"""

from ..schema import Field, Message

REQUEST = Message("ConsumerGroupHeartbeatRequest", "0-1", "0+", [
    Field("group_id", "0+", "string"),
    Field("member_id", "0+", "string"),
    Field("member_epoch", "0+", "int32"),
    Field("instance_id", "0+", "string", nullable="0+", default=None),
    Field("rack_id", "0+", "string", nullable="0+", default=None),
    Field("rebalance_timeout_ms", "0+", "int32", default=-1),
    Field("subscribed_topic_names", "0+", "[]string", nullable="0+", default=None),
    Field("subscribed_topic_regex", "1+", "string", nullable="1+", default=None),
    Field("server_assignor", "0+", "string", nullable="0+", default=None),
    Field("topic_partitions", "0+", "[]struct", nullable="0+", default=None, fields=[
        Field("topic_id", "0+", "uuid"),
        Field("partitions", "0+", "[]int32"),
    ]),
])

RESPONSE = Message("ConsumerGroupHeartbeatResponse", "0-1", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("error_message", "0+", "string", nullable="0+", default=None),
    Field("member_id", "0+", "string", nullable="0+", default=None),
    Field("member_epoch", "0+", "int32"),
    Field("heartbeat_interval_ms", "0+", "int32"),
    Field("assignment", "0+", "struct", nullable="0+", default=None, fields=[
        Field("topic_partitions", "0+", "[]struct", fields=[
            Field("topic_id", "0+", "uuid"),
            Field("partitions", "0+", "[]int32"),
        ]),
    ]),
])
