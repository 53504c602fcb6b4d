"""ShareFetch: records for a share group

v0  early access in 3.9 and 4.0 only (KIP-932)
v1  request adds max_records, batch_size; request drops partition_max_bytes; response adds
     acquisition_lock_timeout_ms; response: records may no longer be null (KIP-932); the first
     stable version
v2  request adds share_acquire_mode, is_renew_ack (KIP-1206, KIP-1222)
"""

from ..schema import Field, Message

REQUEST = Message("ShareFetchRequest", "0-2", "0+", [
    Field("group_id", "0+", "string", nullable="0+", default=None),
    Field("member_id", "0+", "string", nullable="0+"),
    Field("share_session_epoch", "0+", "int32"),
    Field("max_wait_ms", "0+", "int32"),
    Field("min_bytes", "0+", "int32"),
    Field("max_bytes", "0+", "int32", default=2147483647),
    Field("max_records", "1+", "int32"),
    Field("batch_size", "1+", "int32"),
    Field("share_acquire_mode", "2+", "int8", ignorable=True),
    Field("is_renew_ack", "2+", "bool"),
    Field("topics", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("partition_max_bytes", "0", "int32"),
            Field("acknowledgement_batches", "0+", "[]struct", fields=[
                Field("first_offset", "0+", "int64"),
                Field("last_offset", "0+", "int64"),
                Field("acknowledge_types", "0+", "[]int8"),
            ]),
        ]),
    ]),
    Field("forgotten_topics_data", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("partitions", "0+", "[]int32"),
    ]),
])

RESPONSE = Message("ShareFetchResponse", "0-2", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("error_message", "0+", "string", nullable="0+", default=None),
    Field("acquisition_lock_timeout_ms", "1+", "int32"),
    Field("responses", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("error_code", "0+", "int16"),
            Field("error_message", "0+", "string", nullable="0+", default=None),
            Field("acknowledge_error_code", "0+", "int16"),
            Field("acknowledge_error_message", "0+", "string", nullable="0+", default=None),
            Field("current_leader", "0+", "struct", fields=[
                Field("leader_id", "0+", "int32"),
                Field("leader_epoch", "0+", "int32"),
            ]),
            Field("records", "0+", "records", nullable="0"),
            Field("acquired_records", "0+", "[]struct", fields=[
                Field("first_offset", "0+", "int64"),
                Field("last_offset", "0+", "int64"),
                Field("delivery_count", "0+", "int16"),
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
