"""ShareGroupHeartbeat: a member of a share group is alive

v0  early access in 3.9 and 4.0 only (KIP-932)
v1  the first stable version (KIP-932)
"""

from ..schema import Field, Message

REQUEST = Message("ShareGroupHeartbeatRequest", "0-1", "0+", [
    Field("group_id", "0+", "string"),
    Field("member_id", "0+", "string"),
    Field("member_epoch", "0+", "int32"),
    Field("rack_id", "0+", "string", nullable="0+", default=None),
    Field("subscribed_topic_names", "0+", "[]string", nullable="0+", default=None),
])

RESPONSE = Message("ShareGroupHeartbeatResponse", "0-1", "0+", [
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
