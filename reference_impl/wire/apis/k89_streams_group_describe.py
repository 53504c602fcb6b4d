"""StreamsGroupDescribe: streams groups are described

v0  the first version (KIP-1071)
"""

from ..schema import Field, Message

REQUEST = Message("StreamsGroupDescribeRequest", "0", "0+", [
    Field("group_ids", "0+", "[]string"),
    Field("include_authorized_operations", "0+", "bool"),
])

RESPONSE = Message("StreamsGroupDescribeResponse", "0", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("groups", "0+", "[]struct", fields=[
        Field("error_code", "0+", "int16"),
        Field("error_message", "0+", "string", nullable="0+", default=None),
        Field("group_id", "0+", "string"),
        Field("group_state", "0+", "string"),
        Field("group_epoch", "0+", "int32"),
        Field("assignment_epoch", "0+", "int32"),
        Field("topology", "0+", "struct", nullable="0+", default=None, fields=[
            Field("epoch", "0+", "int32"),
            Field("subtopologies", "0+", "[]struct", nullable="0+", default=None, fields=[
                Field("subtopology_id", "0+", "string"),
                Field("source_topics", "0+", "[]string"),
                Field("repartition_sink_topics", "0+", "[]string"),
                Field("state_changelog_topics", "0+", "[]struct", fields=[
                    Field("name", "0+", "string"),
                    Field("partitions", "0+", "int32"),
                    Field("replication_factor", "0+", "int16"),
                    Field("topic_configs", "0+", "[]struct", fields=[
                        Field("key", "0+", "string"),
                        Field("value", "0+", "string"),
                    ]),
                ]),
                Field("repartition_source_topics", "0+", "[]struct", fields=[
                    Field("name", "0+", "string"),
                    Field("partitions", "0+", "int32"),
                    Field("replication_factor", "0+", "int16"),
                    Field("topic_configs", "0+", "[]struct", fields=[
                        Field("key", "0+", "string"),
                        Field("value", "0+", "string"),
                    ]),
                ]),
            ]),
        ]),
        Field("members", "0+", "[]struct", fields=[
            Field("member_id", "0+", "string"),
            Field("member_epoch", "0+", "int32"),
            Field("instance_id", "0+", "string", nullable="0+", default=None),
            Field("rack_id", "0+", "string", nullable="0+", default=None),
            Field("client_id", "0+", "string"),
            Field("client_host", "0+", "string"),
            Field("topology_epoch", "0+", "int32"),
            Field("process_id", "0+", "string"),
            Field("user_endpoint", "0+", "struct", nullable="0+", default=None, fields=[
                Field("host", "0+", "string"),
                Field("port", "0+", "uint16"),
            ]),
            Field("client_tags", "0+", "[]struct", fields=[
                Field("key", "0+", "string"),
                Field("value", "0+", "string"),
            ]),
            Field("task_offsets", "0+", "[]struct", fields=[
                Field("subtopology_id", "0+", "string"),
                Field("partition", "0+", "int32"),
                Field("offset", "0+", "int64"),
            ]),
            Field("task_end_offsets", "0+", "[]struct", fields=[
                Field("subtopology_id", "0+", "string"),
                Field("partition", "0+", "int32"),
                Field("offset", "0+", "int64"),
            ]),
            Field("assignment", "0+", "struct", fields=[
                Field("active_tasks", "0+", "[]struct", fields=[
                    Field("subtopology_id", "0+", "string"),
                    Field("partitions", "0+", "[]int32"),
                ]),
                Field("standby_tasks", "0+", "[]struct", fields=[
                    Field("subtopology_id", "0+", "string"),
                    Field("partitions", "0+", "[]int32"),
                ]),
                Field("warmup_tasks", "0+", "[]struct", fields=[
                    Field("subtopology_id", "0+", "string"),
                    Field("partitions", "0+", "[]int32"),
                ]),
            ]),
            Field("target_assignment", "0+", "struct", fields=[
                Field("active_tasks", "0+", "[]struct", fields=[
                    Field("subtopology_id", "0+", "string"),
                    Field("partitions", "0+", "[]int32"),
                ]),
                Field("standby_tasks", "0+", "[]struct", fields=[
                    Field("subtopology_id", "0+", "string"),
                    Field("partitions", "0+", "[]int32"),
                ]),
                Field("warmup_tasks", "0+", "[]struct", fields=[
                    Field("subtopology_id", "0+", "string"),
                    Field("partitions", "0+", "[]int32"),
                ]),
            ]),
            Field("is_classic", "0+", "bool"),
        ]),
        Field("authorized_operations", "0+", "int32", default=-2147483648),
    ]),
])
