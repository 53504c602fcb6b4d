"""StreamsGroupHeartbeat: a member of a streams group is alive

v0  the first version (KIP-1071)
"""

from ..schema import Field, Message

REQUEST = Message("StreamsGroupHeartbeatRequest", "0", "0+", [
    Field("group_id", "0+", "string"),
    Field("member_id", "0+", "string"),
    Field("member_epoch", "0+", "int32"),
    Field("endpoint_information_epoch", "0+", "int32"),
    Field("instance_id", "0+", "string", nullable="0+", default=None),
    Field("rack_id", "0+", "string", nullable="0+", default=None),
    Field("rebalance_timeout_ms", "0+", "int32", default=-1),
    Field("topology", "0+", "struct", nullable="0+", default=None, fields=[
        Field("epoch", "0+", "int32"),
        Field("subtopologies", "0+", "[]struct", fields=[
            Field("subtopology_id", "0+", "string"),
            Field("source_topics", "0+", "[]string"),
            Field("source_topic_regex", "0+", "[]string"),
            Field("state_changelog_topics", "0+", "[]struct", fields=[
                Field("name", "0+", "string"),
                Field("partitions", "0+", "int32"),
                Field("replication_factor", "0+", "int16"),
                Field("topic_configs", "0+", "[]struct", fields=[
                    Field("key", "0+", "string"),
                    Field("value", "0+", "string"),
                ]),
            ]),
            Field("repartition_sink_topics", "0+", "[]string"),
            Field("repartition_source_topics", "0+", "[]struct", fields=[
                Field("name", "0+", "string"),
                Field("partitions", "0+", "int32"),
                Field("replication_factor", "0+", "int16"),
                Field("topic_configs", "0+", "[]struct", fields=[
                    Field("key", "0+", "string"),
                    Field("value", "0+", "string"),
                ]),
            ]),
            Field("copartition_groups", "0+", "[]struct", fields=[
                Field("source_topics", "0+", "[]int16"),
                Field("source_topic_regex", "0+", "[]int16"),
                Field("repartition_source_topics", "0+", "[]int16"),
            ]),
        ]),
    ]),
    Field("active_tasks", "0+", "[]struct", nullable="0+", default=None, fields=[
        Field("subtopology_id", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
    ]),
    Field("standby_tasks", "0+", "[]struct", nullable="0+", default=None, fields=[
        Field("subtopology_id", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
    ]),
    Field("warmup_tasks", "0+", "[]struct", nullable="0+", default=None, fields=[
        Field("subtopology_id", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
    ]),
    Field("process_id", "0+", "string", nullable="0+", default=None),
    Field("user_endpoint", "0+", "struct", nullable="0+", default=None, fields=[
        Field("host", "0+", "string"),
        Field("port", "0+", "uint16"),
    ]),
    Field("client_tags", "0+", "[]struct", nullable="0+", default=None, fields=[
        Field("key", "0+", "string"),
        Field("value", "0+", "string"),
    ]),
    Field("task_offsets", "0+", "[]struct", nullable="0+", default=None, fields=[
        Field("subtopology_id", "0+", "string"),
        Field("partition", "0+", "int32"),
        Field("offset", "0+", "int64"),
    ]),
    Field("task_end_offsets", "0+", "[]struct", nullable="0+", default=None, fields=[
        Field("subtopology_id", "0+", "string"),
        Field("partition", "0+", "int32"),
        Field("offset", "0+", "int64"),
    ]),
    Field("shutdown_application", "0+", "bool"),
])

RESPONSE = Message("StreamsGroupHeartbeatResponse", "0", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("error_message", "0+", "string", nullable="0+", default=None),
    Field("member_id", "0+", "string"),
    Field("member_epoch", "0+", "int32"),
    Field("heartbeat_interval_ms", "0+", "int32"),
    Field("acceptable_recovery_lag", "0+", "int32"),
    Field("task_offset_interval_ms", "0+", "int32"),
    Field("status", "0+", "[]struct", nullable="0+", fields=[
        Field("status_code", "0+", "int8"),
        Field("status_detail", "0+", "string"),
    ]),
    Field("active_tasks", "0+", "[]struct", nullable="0+", default=None, fields=[
        Field("subtopology_id", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
    ]),
    Field("standby_tasks", "0+", "[]struct", nullable="0+", default=None, fields=[
        Field("subtopology_id", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
    ]),
    Field("warmup_tasks", "0+", "[]struct", nullable="0+", default=None, fields=[
        Field("subtopology_id", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
    ]),
    Field("endpoint_information_epoch", "0+", "int32"),
    Field("partitions_by_user_endpoint", "0+", "[]struct", nullable="0+", default=None, fields=[
        Field("user_endpoint", "0+", "struct", fields=[
            Field("host", "0+", "string"),
            Field("port", "0+", "uint16"),
        ]),
        Field("active_partitions", "0+", "[]struct", fields=[
            Field("topic", "0+", "string"),
            Field("partitions", "0+", "[]int32"),
        ]),
        Field("standby_partitions", "0+", "[]struct", fields=[
            Field("topic", "0+", "string"),
            Field("partitions", "0+", "[]int32"),
        ]),
    ]),
])
