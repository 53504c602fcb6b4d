"""Fetch: records, for consumers and followers alike

v0  the first version
v1  response adds throttle_time_ms (KIP-13)
v2  message sets may be of magic 1 (KIP-32)
v3  request adds max_bytes (KIP-74); partitions are served in the order asked
v4  request adds isolation_level; response adds last_stable_offset, aborted_transactions (KIP-98);
     record batches of magic 2 come as they are
v5  request adds log_start_offset; response adds log_start_offset (KIP-107)
v6  may answer KAFKA_STORAGE_ERROR (KIP-112)
v7  request adds session_id, session_epoch, forgotten_topics_data; response adds error_code,
     session_id; incremental fetch sessions (KIP-227)
v8  the broker answers before it throttles (KIP-219)
v9  request adds current_leader_epoch (KIP-320)
v10 zstd batches may come (KIP-110)
v11 request adds rack_id; response adds preferred_read_replica; read from the closest replica
     (KIP-392)
v12 flexible (KIP-482); request adds cluster_id, last_fetched_epoch; response adds
     diverging_epoch, current_leader, snapshot_id: epochs of the last fetch (KIP-595)
v13 request adds topic_id, topic_id; request drops topic, topic; response: topic_id in place of
     topic (KIP-516)
v14 may answer OFFSET_MOVED_TO_TIERED_STORAGE (KIP-405)
v15 request: replica_state in place of replica_id (KIP-903)
v16 response adds node_endpoints (KIP-951)
v17 request adds replica_directory_id (KIP-853)
v18 request adds high_watermark (KIP-1166)
"""

from ..schema import Field, Message

REQUEST = Message("FetchRequest", "0-18", "12+", [
    Field("cluster_id", "12+", "string", nullable="12+", tag=0, default=None, ignorable=True),
    Field("replica_state", "15+", "struct", tag=1, fields=[
        Field("replica_id", "15+", "int32", default=-1),
        Field("replica_epoch", "15+", "int64", default=-1),
    ]),
    Field("replica_id", "0-14", "int32", default=-1),
    Field("max_wait_ms", "0+", "int32"),
    Field("min_bytes", "0+", "int32"),
    Field("max_bytes", "3+", "int32", default=2147483647, ignorable=True),
    Field("isolation_level", "4+", "int8", ignorable=True),
    Field("session_id", "7+", "int32", ignorable=True),
    Field("session_epoch", "7+", "int32", default=-1, ignorable=True),
    Field("topics", "0+", "[]struct", fields=[
        Field("topic_id", "13+", "uuid", ignorable=True),
        Field("topic", "0-12", "string", ignorable=True),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition", "0+", "int32"),
            Field("current_leader_epoch", "9+", "int32", default=-1, ignorable=True),
            Field("fetch_offset", "0+", "int64"),
            Field("last_fetched_epoch", "12+", "int32", default=-1),
            Field("log_start_offset", "5+", "int64", default=-1, ignorable=True),
            Field("partition_max_bytes", "0+", "int32"),
            Field("replica_directory_id", "17+", "uuid", tag=0, ignorable=True),
            Field(
                "high_watermark", "18+", "int64", tag=1, default=9223372036854775807, ignorable=True
            ),
        ]),
    ]),
    Field("forgotten_topics_data", "7+", "[]struct", fields=[
        Field("topic_id", "13+", "uuid", ignorable=True),
        Field("topic", "7-12", "string", ignorable=True),
        Field("partitions", "7+", "[]int32"),
    ]),
    Field("rack_id", "11+", "string", ignorable=True),
])

RESPONSE = Message("FetchResponse", "0-18", "12+", [
    Field("throttle_time_ms", "1+", "int32", ignorable=True),
    Field("error_code", "7+", "int16", ignorable=True),
    Field("session_id", "7+", "int32"),
    Field("responses", "0+", "[]struct", fields=[
        Field("topic_id", "13+", "uuid", ignorable=True),
        Field("topic", "0-12", "string", ignorable=True),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("error_code", "0+", "int16"),
            Field("high_watermark", "0+", "int64"),
            Field("last_stable_offset", "4+", "int64", default=-1, ignorable=True),
            Field("log_start_offset", "5+", "int64", default=-1, ignorable=True),
            Field("diverging_epoch", "12+", "struct", tag=0, fields=[
                Field("epoch", "12+", "int32", default=-1),
                Field("end_offset", "12+", "int64", default=-1),
            ]),
            Field("current_leader", "12+", "struct", tag=1, fields=[
                Field("leader_id", "12+", "int32", default=-1),
                Field("leader_epoch", "12+", "int32", default=-1),
            ]),
            Field("snapshot_id", "12+", "struct", tag=2, fields=[
                Field("end_offset", "12+", "int64", default=-1),
                Field("epoch", "12+", "int32", default=-1),
            ]),
            Field("aborted_transactions", "4+", "[]struct", nullable="4+", ignorable=True, fields=[
                Field("producer_id", "4+", "int64"),
                Field("first_offset", "4+", "int64"),
            ]),
            Field("preferred_read_replica", "11+", "int32", default=-1),
            Field("records", "0+", "records", nullable="0+"),
        ]),
    ]),
    Field("node_endpoints", "16+", "[]struct", tag=0, fields=[
        Field("node_id", "16+", "int32"),
        Field("host", "16+", "string"),
        Field("port", "16+", "int32"),
        Field("rack", "16+", "string", nullable="16+", default=None),
    ]),
])
