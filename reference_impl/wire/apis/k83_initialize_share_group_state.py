"""InitializeShareGroupState: a share partition's state begins

v0  the first version (KIP-932)
"""

from ..schema import Field, Message

REQUEST = Message("InitializeShareGroupStateRequest", "0", "0+", [
    Field("group_id", "0+", "string"),
    Field("topics", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition", "0+", "int32"),
            Field("state_epoch", "0+", "int32"),
            Field("start_offset", "0+", "int64"),
        ]),
    ]),
])

RESPONSE = Message("InitializeShareGroupStateResponse", "0", "0+", [
    Field("results", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition", "0+", "int32"),
            Field("error_code", "0+", "int16"),
            Field("error_message", "0+", "string", nullable="0+", default=None),
        ]),
    ]),
])
