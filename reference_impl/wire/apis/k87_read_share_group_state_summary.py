"""ReadShareGroupStateSummary: a share partition's start offset is read

v0  the first version (KIP-932)
v1  response adds delivery_complete_count (KIP-1226)
"""

from ..schema import Field, Message

REQUEST = Message("ReadShareGroupStateSummaryRequest", "0-1", "0+", [
    Field("group_id", "0+", "string"),
    Field("topics", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition", "0+", "int32"),
            Field("leader_epoch", "0+", "int32"),
        ]),
    ]),
])

RESPONSE = Message("ReadShareGroupStateSummaryResponse", "0-1", "0+", [
    Field("results", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition", "0+", "int32"),
            Field("error_code", "0+", "int16"),
            Field("error_message", "0+", "string", nullable="0+", default=None),
            Field("state_epoch", "0+", "int32"),
            Field("leader_epoch", "0+", "int32"),
            Field("start_offset", "0+", "int64"),
            Field("delivery_complete_count", "1+", "int32", default=-1, ignorable=True),
        ]),
    ]),
])
