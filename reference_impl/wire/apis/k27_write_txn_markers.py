"""WriteTxnMarkers: the coordinator has markers written

v0  the first version (KIP-98)
v1  flexible (KIP-482)
v2  request adds transaction_version (KIP-1228)
"""

from ..schema import Field, Message

REQUEST = Message("WriteTxnMarkersRequest", "0-2", "1+", [
    Field("markers", "0+", "[]struct", fields=[
        Field("producer_id", "0+", "int64"),
        Field("producer_epoch", "0+", "int16"),
        Field("transaction_result", "0+", "bool"),
        Field("topics", "0+", "[]struct", fields=[
            Field("name", "0+", "string"),
            Field("partition_indexes", "0+", "[]int32"),
        ]),
        Field("coordinator_epoch", "0+", "int32"),
        Field("transaction_version", "2+", "int8", ignorable=True),
    ]),
])

RESPONSE = Message("WriteTxnMarkersResponse", "0-2", "1+", [
    Field("markers", "0+", "[]struct", fields=[
        Field("producer_id", "0+", "int64"),
        Field("topics", "0+", "[]struct", fields=[
            Field("name", "0+", "string"),
            Field("partitions", "0+", "[]struct", fields=[
                Field("partition_index", "0+", "int32"),
                Field("error_code", "0+", "int16"),
            ]),
        ]),
    ]),
])
