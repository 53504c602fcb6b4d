"""EndQuorumEpoch: a KRaft leader resigns

v0  the first version (KIP-595)
v1  flexible (KIP-482); request adds preferred_candidates, leader_endpoints; request drops
     preferred_successors; response adds node_endpoints (KIP-853)
"""

from ..schema import Field, Message

REQUEST = Message("EndQuorumEpochRequest", "0-1", "1+", [
    Field("cluster_id", "0+", "string", nullable="0+", default=None),
    Field("topics", "0+", "[]struct", fields=[
        Field("topic_name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("leader_id", "0+", "int32"),
            Field("leader_epoch", "0+", "int32"),
            Field("preferred_candidates", "1+", "[]struct", ignorable=True, fields=[
                Field("candidate_id", "1+", "int32"),
                Field("candidate_directory_id", "1+", "uuid"),
            ]),
            Field("preferred_successors", "0", "[]int32", ignorable=True),
        ]),
    ]),
    Field("leader_endpoints", "1+", "[]struct", ignorable=True, fields=[
        Field("name", "1+", "string"),
        Field("host", "1+", "string"),
        Field("port", "1+", "uint16"),
    ]),
])

RESPONSE = Message("EndQuorumEpochResponse", "0-1", "1+", [
    Field("error_code", "0+", "int16"),
    Field("topics", "0+", "[]struct", fields=[
        Field("topic_name", "0+", "string"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition_index", "0+", "int32"),
            Field("error_code", "0+", "int16"),
            Field("leader_id", "0+", "int32"),
            Field("leader_epoch", "0+", "int32"),
        ]),
    ]),
    Field("node_endpoints", "1+", "[]struct", tag=0, fields=[
        Field("node_id", "1+", "int32"),
        Field("host", "1+", "string"),
        Field("port", "1+", "uint16"),
    ]),
])
