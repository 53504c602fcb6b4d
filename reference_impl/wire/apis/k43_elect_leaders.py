"""ElectLeaders: leaders are elected now

v0  the first version (KIP-183)
v1  request adds election_type; response adds error_code (KIP-460)
v2  flexible (KIP-482)
"""

from ..schema import Field, Message

REQUEST = Message("ElectLeadersRequest", "0-2", "2+", [
    Field("election_type", "1+", "int8"),
    Field("topic_partitions", "0+", "[]struct", nullable="0+", fields=[
        Field("topic", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
    ]),
    Field("timeout_ms", "0+", "int32", default=60000),
])

RESPONSE = Message("ElectLeadersResponse", "0-2", "2+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "1+", "int16"),
    Field("replica_election_results", "0+", "[]struct", fields=[
        Field("topic", "0+", "string"),
        Field("partition_result", "0+", "[]struct", fields=[
            Field("partition_id", "0+", "int32"),
            Field("error_code", "0+", "int16"),
            Field("error_message", "0+", "string", nullable="0+"),
        ]),
    ]),
])
