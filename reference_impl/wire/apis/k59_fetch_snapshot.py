"""FetchSnapshot: a piece of a metadata snapshot

v0  the first version (KIP-630)
v1  request adds replica_directory_id; response adds node_endpoints (KIP-853)
"""

from ..schema import Field, Message

REQUEST = Message("FetchSnapshotRequest", "0-1", "0+", [
    Field("cluster_id", "0+", "string", nullable="0+", tag=0, default=None),
    Field("replica_id", "0+", "int32", default=-1),
    Field("max_bytes", "0+", "int32", default=2147483647),
    Field("topics", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition", "0+", "int32"),
            Field("current_leader_epoch", "0+", "int32"),
            Field("snapshot_id", "0+", "struct", fields=[
                Field("end_offset", "0+", "int64"),
                Field("epoch", "0+", "int32"),
            ]),
            Field("position", "0+", "int64"),
            Field("replica_directory_id", "1+", "uuid", tag=0, ignorable=True),
        ]),
    ]),
])

RESPONSE = Message("FetchSnapshotResponse", "0-1", "0+", [
    Field("throttle_time_ms", "0+", "int32", ignorable=True),
    Field("error_code", "0+", "int16"),
    Field("topics", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("index", "0+", "int32"),
            Field("error_code", "0+", "int16"),
            Field("snapshot_id", "0+", "struct", fields=[
                Field("end_offset", "0+", "int64"),
                Field("epoch", "0+", "int32"),
            ]),
            Field("current_leader", "0+", "struct", tag=0, fields=[
                Field("leader_id", "0+", "int32"),
                Field("leader_epoch", "0+", "int32"),
            ]),
            Field("size", "0+", "int64"),
            Field("position", "0+", "int64"),
            Field("unaligned_records", "0+", "records"),
        ]),
    ]),
    Field("node_endpoints", "1+", "[]struct", tag=0, fields=[
        Field("node_id", "1+", "int32"),
        Field("host", "1+", "string"),
        Field("port", "1+", "uint16"),
    ]),
])
