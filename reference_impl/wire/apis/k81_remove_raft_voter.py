"""RemoveRaftVoter: a KRaft voter is removed

v0  the first version (KIP-853)
"""

from ..schema import Field, Message

REQUEST = Message("RemoveRaftVoterRequest", "0", "0+", [
    Field("cluster_id", "0+", "string", nullable="0+"),
    Field("voter_id", "0+", "int32"),
    Field("voter_directory_id", "0+", "uuid"),
])

RESPONSE = Message("RemoveRaftVoterResponse", "0", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("error_message", "0+", "string", nullable="0+", ignorable=True),
])
