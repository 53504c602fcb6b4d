"""ShareAcknowledge: records of a share group are acknowledged

v0  early access in 3.9 and 4.0 only (KIP-932)
v1  the first stable version (KIP-932)
v2  request adds is_renew_ack; response adds acquisition_lock_timeout_ms (KIP-1222)
"""

from ..schema import Field, Message

REQUEST = Message("ShareAcknowledgeRequest", "0-2", "0+", [
    Field("group_id", "0+", "string", nullable="0+", default=None),
    Field("member_id", "0+", "string", nullable="0+"),
    Field("share_session_epoch", "0+", "int32"),
    Field("is_renew_ack", "2+", "bool"),
    Field("topics", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("acknowledgement_batches", "0+", "[]struct", fields=[
                Field("first_offset", "0+", "int64"),
                Field("last_offset", "0+", "int64"),
                Field("acknowledge_types", "0+", "[]int8"),
            ]),
        ]),
    ]),
])

RESPONSE = Message("ShareAcknowledgeResponse", "0-2", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("error_message", "0+", "string", nullable="0+", default=None),
    Field("acquisition_lock_timeout_ms", "2+", "int32", ignorable=True),
    Field("responses", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("error_code", "0+", "int16"),
            Field("error_message", "0+", "string", nullable="0+", default=None),
            Field("current_leader", "0+", "struct", fields=[
                Field("leader_id", "0+", "int32"),
                Field("leader_epoch", "0+", "int32"),
            ]),
        ]),
    ]),
    Field("node_endpoints", "0+", "[]struct", fields=[
        Field("node_id", "0+", "int32"),
        Field("host", "0+", "string"),
        Field("port", "0+", "int32"),
        Field("rack", "0+", "string", nullable="0+", default=None),
    ]),
])
