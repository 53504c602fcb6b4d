"""DescribeQuorum: the quorum's state

v0  the first version (KIP-595)
v1  response adds last_fetch_timestamp, last_caught_up_timestamp, last_fetch_timestamp,
     last_caught_up_timestamp (KIP-836)
v2  response adds error_message, error_message, replica_directory_id, replica_directory_id, nodes
     (KIP-853)
"""

from ..schema import Field, Message

REQUEST = Message("DescribeQuorumRequest", "0-2", "0+", [
    Field("topics", "0+", "[]struct", fields=[
        Field("topic_name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
        ]),
    ]),
])

RESPONSE = Message("DescribeQuorumResponse", "0-2", "0+", [
    Field("error_code", "0+", "int16"),
    Field("error_message", "2+", "string", nullable="2+", ignorable=True),
    Field("topics", "0+", "[]struct", fields=[
        Field("topic_name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("error_code", "0+", "int16"),
            Field("error_message", "2+", "string", nullable="2+", ignorable=True),
            Field("leader_id", "0+", "int32"),
            Field("leader_epoch", "0+", "int32"),
            Field("high_watermark", "0+", "int64"),
            Field("current_voters", "0+", "[]struct", fields=[
                Field("replica_id", "0+", "int32"),
                Field("replica_directory_id", "2+", "uuid"),
                Field("log_end_offset", "0+", "int64"),
                Field("last_fetch_timestamp", "1+", "int64", default=-1, ignorable=True),
                Field("last_caught_up_timestamp", "1+", "int64", default=-1, ignorable=True),
            ]),
            Field("observers", "0+", "[]struct", fields=[
                Field("replica_id", "0+", "int32"),
                Field("replica_directory_id", "2+", "uuid"),
                Field("log_end_offset", "0+", "int64"),
                Field("last_fetch_timestamp", "1+", "int64", default=-1, ignorable=True),
                Field("last_caught_up_timestamp", "1+", "int64", default=-1, ignorable=True),
            ]),
        ]),
    ]),
    Field("nodes", "2+", "[]struct", fields=[
        Field("node_id", "2+", "int32"),
        Field("listeners", "2+", "[]struct", fields=[
            Field("name", "2+", "string"),
            Field("host", "2+", "string"),
            Field("port", "2+", "uint16"),
        ]),
    ]),
])
