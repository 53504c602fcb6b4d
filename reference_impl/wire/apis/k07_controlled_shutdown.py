"""ControlledShutdown: a broker asks the ZooKeeper controller to move its leaders away

v0  the first version; its request header has no client id
v1  the usual request header
v2  request adds broker_epoch (KIP-380)
v3  flexible (KIP-482)
"""

from ..schema import Field, Message

REQUEST = Message("ControlledShutdownRequest", "0-3", "3+", [
    Field("broker_id", "0+", "int32"),
    Field("broker_epoch", "2+", "int64", default=-1, ignorable=True),
])

RESPONSE = Message("ControlledShutdownResponse", "0-3", "3+", [
    Field("error_code", "0+", "int16"),
    Field("remaining_partitions", "0+", "[]struct", fields=[
        Field("topic_name", "0+", "string"),
        Field("partition_index", "0+", "int32"),
    ]),
])
