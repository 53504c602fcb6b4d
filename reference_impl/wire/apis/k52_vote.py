"""Vote: a KRaft candidate asks for votes

v0  the first version (KIP-595)
v1  request adds voter_id, replica_directory_id, voter_directory_id; response adds node_endpoints
     (KIP-853)
v2  request adds pre_vote
"""

from ..schema import Field, Message

REQUEST = Message("VoteRequest", "0-2", "0+", [
    Field("cluster_id", "0+", "string", nullable="0+", default=None),
    Field("voter_id", "1+", "int32", default=-1, ignorable=True),
    Field("topics", "0+", "[]struct", fields=[
        Field("topic_name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("replica_epoch", "0+", "int32"),
            Field("replica_id", "0+", "int32"),
            Field("replica_directory_id", "1+", "uuid", ignorable=True),
            Field("voter_directory_id", "1+", "uuid", ignorable=True),
            Field("last_offset_epoch", "0+", "int32"),
            Field("last_offset", "0+", "int64"),
            Field("pre_vote", "2+", "bool"),
        ]),
    ]),
])

RESPONSE = Message("VoteResponse", "0-2", "0+", [
    Field("error_code", "0+", "int16"),
    Field("topics", "0+", "[]struct", fields=[
        Field("topic_name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("error_code", "0+", "int16"),
            Field("leader_id", "0+", "int32"),
            Field("leader_epoch", "0+", "int32"),
            Field("vote_granted", "0+", "bool"),
        ]),
    ]),
    Field("node_endpoints", "1+", "[]struct", tag=0, fields=[
        Field("node_id", "1+", "int32"),
        Field("host", "1+", "string"),
        Field("port", "1+", "uint16"),
    ]),
])
