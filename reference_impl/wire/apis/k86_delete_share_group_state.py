"""DeleteShareGroupState: a share partition's state is removed

v0  the first version (KIP-932)
"""

from ..schema import Field, Message

REQUEST = Message("DeleteShareGroupStateRequest", "0", "0+", [
    Field("group_id", "0+", "string"),
    Field("topics", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition", "0+", "int32"),
        ]),
    ]),
])

RESPONSE = Message("DeleteShareGroupStateResponse", "0", "0+", [
    Field("results", "0+", "[]struct", fields=[
        Field("topic_id", "0+", "uuid"),
        Field("partitions", "0+", "[]struct", fields=[
            Field("partition", "0+", "int32"),
            Field("error_code", "0+", "int16"),
            Field("error_message", "0+", "string", nullable="0+", default=None),
        ]),
    ]),
])
