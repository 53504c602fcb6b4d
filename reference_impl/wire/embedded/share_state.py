"""The records of __share_group_state: snapshots and updates of share partitions (KIP-932)."""

from ..schema import Field, Message

SHARE_SNAPSHOT_KEY = Message("ShareSnapshotKey", "0", "", [
    Field("group_id", "0+", "string"),
    Field("topic_id", "0+", "uuid"),
    Field("partition", "0+", "int32"),
])

SHARE_SNAPSHOT_VALUE = Message("ShareSnapshotValue", "0", "0+", [
    Field("snapshot_epoch", "0+", "int32"),
    Field("state_epoch", "0+", "int32"),
    Field("leader_epoch", "0+", "int32"),
    Field("start_offset", "0+", "int64"),
    Field("delivery_complete_count", "0+", "int32", tag=0, default=-1),
    Field("create_timestamp", "0+", "int64"),
    Field("write_timestamp", "0+", "int64"),
    Field("state_batches", "0+", "[]struct", fields=[
        Field("first_offset", "0+", "int64"),
        Field("last_offset", "0+", "int64"),
        Field("delivery_state", "0+", "int8"),
        Field("delivery_count", "0+", "int16"),
    ]),
])

SHARE_UPDATE_KEY = Message("ShareUpdateKey", "0", "", [
    Field("group_id", "0+", "string"),
    Field("topic_id", "0+", "uuid"),
    Field("partition", "0+", "int32"),
])

SHARE_UPDATE_VALUE = Message("ShareUpdateValue", "0", "0+", [
    Field("snapshot_epoch", "0+", "int32"),
    Field("leader_epoch", "0+", "int32"),
    Field("start_offset", "0+", "int64"),
    Field("delivery_complete_count", "0+", "int32", tag=0, default=-1),
    Field("state_batches", "0+", "[]struct", fields=[
        Field("first_offset", "0+", "int64"),
        Field("last_offset", "0+", "int64"),
        Field("delivery_state", "0+", "int8"),
        Field("delivery_count", "0+", "int16"),
    ]),
])

RECORDS = {  # by the int16 before the key
    0: (SHARE_SNAPSHOT_KEY, SHARE_SNAPSHOT_VALUE),
    1: (SHARE_UPDATE_KEY, SHARE_UPDATE_VALUE),
}
