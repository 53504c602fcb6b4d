"""AddRaftVoter: a KRaft voter is added

v0  the first version (KIP-853)
v1  request adds ack_when_committed
"""

from ..schema import Field, Message

REQUEST = Message("AddRaftVoterRequest", "0-1", "0+", [
    Field("cluster_id", "0+", "string", nullable="0+"),
    Field("timeout_ms", "0+", "int32"),
    Field("voter_id", "0+", "int32"),
    Field("voter_directory_id", "0+", "uuid"),
    Field("listeners", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("host", "0+", "string"),
        Field("port", "0+", "uint16"),
    ]),
    Field("ack_when_committed", "1+", "bool", default=True),
])

RESPONSE = Message("AddRaftVoterResponse", "0-1", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("error_message", "0+", "string", nullable="0+", ignorable=True),
])
