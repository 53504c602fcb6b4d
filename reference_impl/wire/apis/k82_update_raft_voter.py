"""UpdateRaftVoter: a KRaft voter changes its endpoints

v0  the first version (KIP-853)
"""

from ..schema import Field, Message

REQUEST = Message("UpdateRaftVoterRequest", "0", "0+", [
    Field("cluster_id", "0+", "string", nullable="0+"),
    Field("current_leader_epoch", "0+", "int32"),
    Field("voter_id", "0+", "int32"),
    Field("voter_directory_id", "0+", "uuid"),
    Field("listeners", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("host", "0+", "string"),
        Field("port", "0+", "uint16"),
    ]),
    Field("kraft_version_feature", "0+", "struct", fields=[
        Field("min_supported_version", "0+", "int16"),
        Field("max_supported_version", "0+", "int16"),
    ]),
])

RESPONSE = Message("UpdateRaftVoterResponse", "0", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("current_leader", "0+", "struct", tag=0, fields=[
        Field("leader_id", "0+", "int32", default=-1),
        Field("leader_epoch", "0+", "int32", default=-1),
        Field("host", "0+", "string"),
        Field("port", "0+", "int32"),
    ]),
])
